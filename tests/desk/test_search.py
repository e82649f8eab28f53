"""One search finds orders, decisions, accounts and keys, by what somebody types: of the own broker alone."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.dealing import Dealing
from tests.support.desk import Office
from tests.support.node import until
from tests.support.orders import Trader, refused

GROUPS = ("orders", "decisions", "accounts", "keys")


def search(office: Office, text: str) -> Any:
    answer = office.desk.get("/search", params={"q": text})
    assert answer.status_code == 200, answer.text
    return answer.json()


def found(office: Office, text: str) -> dict[str, int]:
    """How many there are of each kind, without those of which there is none."""
    answer = search(office, text)
    return {kind: len(answer[kind]) for kind in GROUPS if answer[kind]}


def test_a_deal_is_found_by_its_number(dealing: Dealing) -> None:
    first, order = dealing.placed(), dealing.placed(client_order_id="PO-1", quantity="3")
    number = order["deal_no"]
    for text in (str(number), f"deal {number}", f"Deal #{number}", f"#{number}", f" deal  no. {number} "):
        answer = search(dealing.office, text)
        assert answer["opens"] == {"kind": "orders", "id": order["id"]}, text
        exact = [(each["id"], each["matched"]) for each in answer["orders"] if each["exact"]]
        assert exact == [(order["id"], "deal number")]  # An Idempotency-Key may begin with the number.
    assert search(dealing.office, f"deal {first['deal_no']}")["opens"]["id"] == first["id"]
    assert found(dealing.office, "deal 999999") == {}


def test_an_order_is_found_by_each_of_its_ids_and_by_their_beginnings(office: Office, trader: Trader) -> None:
    answer = trader.place("key-4711", client_order_id="PO-2291/a")
    order, request_id = answer.json(), answer.headers["x-request-id"]
    trader.place("key-4712", client_order_id="PO-2291/b")
    for text, matched in {
        order["id"]: "order id",
        order["id"].upper(): "order id",
        request_id: "request id",
        "key-4711": "Idempotency-Key",
        "PO-2291/a": "client order id",
        "T-1": "test label",
        "t-1": "test label",
    }.items():
        answer = search(office, text)
        assert answer["opens"] == {"kind": "orders", "id": order["id"]}, text
        assert (answer["orders"][0]["matched"], answer["orders"][0]["exact"]) == (matched, True)
    for text in ("key-47", "PO-2291", order["id"][:8], request_id[:9]):
        several = search(office, text)
        assert {each["id"] for each in several["orders"]} >= {order["id"]}, text
        assert several["opens"] is None
    assert found(office, "key-47") == found(office, "PO-2291") == {"orders": 2}
    assert found(office, "O-2291") == found(office, "po-2291") == {}


def test_a_whole_text_comes_before_longer_ones(office: Office, trader: Trader) -> None:
    for number in range(25):
        trader.place(f"k{number}", client_order_id=f"ABC-{number:02}")
    order = trader.place("last", client_order_id="ABC").json()
    answer = search(office, "ABC")
    assert answer["opens"] == {"kind": "orders", "id": order["id"]}
    assert len(answer["orders"]) == 20
    assert [each["client_order_id"] for each in answer["orders"] if each["exact"]] == ["ABC"]
    assert answer["orders"][0]["client_order_id"] == "ABC"


def test_test_orders_of_several_accounts_have_one_label(
    office: Office, trader_of: Callable[..., Trader]
) -> None:
    orders = [trader_of(office, login).place().json() for login in ("asha", "bela")]
    answer = search(office, "T-1")
    assert [each["id"] for each in answer["orders"]] == [each["id"] for each in reversed(orders)]
    assert answer["opens"] is None


def test_an_account_is_found_by_a_part_of_login_or_firm_in_any_case(office: Office) -> None:
    office.desk.account("Raja", firm_name="Raja Jewellers")
    office.desk.account("maharaja", firm_name="Other")
    office.desk.account("suvarna", firm_name="RAJA")
    answer = search(office, "raja")
    assert [each["login_id"] for each in answer["accounts"]] == ["Raja", "suvarna", "maharaja"]
    assert [each["exact"] for each in answer["accounts"]] == [True, True, False]
    assert answer["opens"] is None
    assert search(office, "MAHARAJA")["opens"] == {"kind": "accounts", "id": "maharaja"}
    assert search(office, "raja jewellers")["opens"] == {"kind": "accounts", "id": "Raja"}
    assert found(office, "jewel") == {"accounts": 1}


def test_a_key_is_found_by_its_id_and_without_its_secret(office: Office) -> None:
    office.desk.account("raja")
    made = office.desk.key("raja")
    for text in (made["key_id"], made["key_id"].upper(), made["key"]):
        answer = search(office, text)
        assert answer["opens"] == {"kind": "keys", "id": made["key_id"]}
        assert answer["query"].lower() == made["key_id"]
        assert made["key"].rpartition(".")[2] not in str(answer)
    assert found(office, made["key_id"][:6])["keys"] == 1


def test_a_refused_order_is_found(office: Office, trader: Trader) -> None:
    answer = trader.place("key-big", quantity=5000, client_order_id="PO-big")
    refused(answer, "limit_exceeded")
    request_id = answer.headers["x-request-id"]
    until(lambda: found(office, request_id) == {"decisions": 1}, within_s=5)
    for text in (request_id, "key-big", "PO-big"):
        answer = search(office, text)
        assert answer["opens"] == {"kind": "decisions", "id": request_id}
        assert answer["decisions"][0]["outcome"] == "limit_exceeded"
    for text in (request_id[:15], "key-b", "PO-b"):
        assert found(office, text) == {"decisions": 1}
        assert search(office, text)["opens"] is None


def test_a_booked_order_is_no_decision_beside_itself(office: Office, trader: Trader) -> None:
    answer = trader.place("once")
    request_id = answer.headers["x-request-id"]
    until(lambda: office.desk.get(f"/traces/{request_id}").status_code == 200, within_s=5)
    assert found(office, "once") == {"orders": 1}
    again = trader.place("once")
    replay_id = again.headers["x-request-id"]
    until(lambda: found(office, replay_id) == {"decisions": 1}, within_s=5)
    assert search(office, replay_id)["decisions"][0]["order_id"] == answer.json()["id"]


def test_nothing_of_another_broker_is_found(
    office: Office, other: Office, trader: Trader, trader_of: Callable[..., Trader]
) -> None:
    answer = trader.place("key-4711", client_order_id="PO-1")
    bad = trader.place("key-big", quantity=5000)
    refused_id = bad.headers["x-request-id"]
    until(lambda: found(office, refused_id) == {"decisions": 1}, within_s=5)
    trader_of(other, "theirs")
    texts = [
        *(answer.json()["id"], answer.json()["id"][:9], answer.headers["x-request-id"], "key-4711", "PO-1"),
        *("T-1", "client", trader.key_id, trader.key_id[:5], refused_id, refused_id[:10], "key-big"),
    ]
    for text in texts:
        assert found(office, text), text
        assert found(other, text) == {}, text


def test_another_brokers_deal_with_the_same_number_is_not_found(dealing: Dealing, other: Office) -> None:
    order = dealing.placed()
    assert found(dealing.office, f"deal {order['deal_no']}") == {"orders": 1}
    assert found(other, f"deal {order['deal_no']}") == {}


@pytest.mark.parametrize("text", ["", "   ", "x" * 201])
def test_a_text_that_cannot_be_searched_for_is_refused(standing: Office, text: str) -> None:
    answer = standing.desk.get("/search", params={"q": text})
    assert answer.status_code == 422
    assert "q: must have 1 to 200 characters" in answer.json()["detail"]["message"]


@pytest.mark.parametrize("text", ["\0", "a\0b", "%", "_", "'", '"', "\\", "🥇", "T-999999999999", "9" * 200])
def test_any_text_is_answered(standing: Office, text: str) -> None:
    answer = standing.desk.get("/search", params={"q": text})
    assert answer.status_code in (200, 422)
    if answer.status_code == 200:
        assert answer.json()["orders"] == []
