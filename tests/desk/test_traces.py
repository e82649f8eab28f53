"""Decision traces: why an order was taken or refused, in words and in the numbers that were compared."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.desk import Office
from tests.support.node import until
from tests.support.orders import Trader


def trace_of(office: Office, request_id: str) -> Any:
    """Traces are written every half a second."""
    until(lambda: office.desk.get(f"/traces/{request_id}").status_code == 200, within_s=5)
    return office.desk.do("GET", f"/traces/{request_id}")


def test_an_order_that_was_taken(office: Office, trader: Trader) -> None:
    answer = trader.place("first", quantity=1.5, expected_price=71240.1, client_order_id="mine")
    order = answer.json()
    trace = trace_of(office, answer.headers["x-request-id"])
    assert trace == {
        "request_id": answer.headers["x-request-id"],
        "at": trace["at"],
        "login_id": "client",
        "environment": "test",
        "key_id": trader.key_id,
        "outcome": "filled",
        "message": None,
        "order_id": order["id"],
        "idempotency_key": "first",
        "asked": {
            "symbol_code": "GOLD",
            "trade_type": "buy",
            "quantity": "1.5000",
            "expected_price": "71240.1",
            "client_order_id": "mine",
        },
        "compared": trace["compared"],
    }
    compared = trace["compared"]
    assert (compared["net_before"], compared["change"], compared["limit"]) == (
        "0.0000",
        "1.5000",
        "1000.0000",
    )
    assert compared["price"] == order["price"]
    assert not any(name.endswith(("_e4", "_paise", "_us")) for name in compared)


def test_an_order_that_was_refused(office: Office, trader: Trader) -> None:
    trader.buy(999)
    answer = trader.place(quantity=2)
    detail = answer.json()["detail"]
    trace = trace_of(office, answer.headers["x-request-id"])
    assert (trace["outcome"], trace["message"]) == (detail["code"], detail["message"])
    assert trace["outcome"] == "limit_exceeded"
    assert trace["order_id"] is None
    assert trace["asked"]["quantity"] == "2.0000"
    compared = trace["compared"]
    assert (compared["net_before"], compared["change"], compared["limit"]) == (
        "999.0000",
        "2.0000",
        "1000.0000",
    )


def test_a_call_that_was_not_understood(office: Office, trader: Trader) -> None:
    answer = trader.place(quantity="a lot")
    trace = trace_of(office, answer.headers["x-request-id"])
    assert (trace["outcome"], trace["asked"], trace["order_id"]) == ("invalid_request", None, None)


def test_a_replay_names_its_order(office: Office, trader: Trader) -> None:
    first = trader.place("again").json()
    answer = trader.place("again")
    trace = trace_of(office, answer.headers["x-request-id"])
    assert (trace["outcome"], trace["order_id"]) == ("replayed", first["id"])


def test_the_newest_first_by_account_and_outcome(
    office: Office, trader: Trader, trader_of: Callable[..., Trader]
) -> None:
    neighbour = trader_of(office, "neighbour")
    said = []
    for _ in range(2):
        for client in (trader, neighbour):
            said.append(client.place("same").headers["x-request-id"])
            said.append(client.place(quantity=5000).headers["x-request-id"])
    trace_of(office, said[-1])

    def found(query: str = "") -> list[str]:
        answer = office.desk.do("GET", f"/traces?{query}")
        assert answer.keys() == {"items"}
        return [trace["request_id"] for trace in answer["items"]]

    newest = said[::-1]
    assert found() == newest
    assert found("limit=3") == newest[:3]
    assert found("login_id=client") == [newest[2], newest[3], newest[6], newest[7]]
    assert found("outcome=limit_exceeded") == newest[::2]
    assert found("outcome=limit_exceeded&login_id=neighbour") == [newest[0], newest[4]]
    assert found("outcome=filled") == [newest[5], newest[7]]
    assert found("outcome=replayed") == [newest[1], newest[3]]
    assert found("outcome=stale_rate") == []
    assert found("login_id=nobody") == []
    assert found("login_id=%00") == []


def test_brokers_do_not_see_each_others_decisions(office: Office, other: Office, trader: Trader) -> None:
    request_id = trader.place().headers["x-request-id"]
    trace_of(office, request_id)
    other.desk.refused("GET", f"/traces/{request_id}", status=404, code="not_found")
    assert other.desk.do("GET", "/traces") == {"items": []}


@pytest.mark.parametrize("request_id", ["x", "0" * 24, "0" * 23, "-00000000001" + "0" * 12, "%00", "F" * 24])
def test_a_call_that_never_was_is_not_found(standing: Office, request_id: str) -> None:
    standing.desk.refused("GET", f"/traces/{request_id}", status=404, code="not_found")


@pytest.mark.parametrize(
    ("query", "named"),
    [("outcome=nonsense", "outcome"), ("outcome=", "outcome"), ("limit=0", "limit"), ("limit=201", "limit")],
)
def test_a_question_that_makes_no_sense_is_refused(standing: Office, query: str, named: str) -> None:
    assert named in standing.desk.refused("GET", f"/traces?{query}")
