"""Contracts and covers at the desk: made by hand, dealt by telephone, and counted once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.support.dealing import Dealing
from tests.support.desk import Office, nothing_changed

GOLDM = {"metal": "gold", "instrument": "GOLD", "lot": "100", "fineness": "995", "price_weight": "10"}
NEVER = "01a1de14-d0ac-74ff-b60f-dff545fade43"


@pytest.fixture
def covering(dealing: Dealing) -> Dealing:
    """A house that is short of 199.8 g, with a contract to cover it in."""
    dealing.desk.do("PATCH", "/hedge/book/gold", {"policy": "book", "limit": "1000"})
    dealing.desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM)
    dealing.placed(quantity="200")
    return dealing


def cover(dealing: Dealing, quantity: str = "2", key: str = "k1", **fields: Any) -> Any:
    body = {"contract": "GOLDM", "side": "buy", "quantity": quantity, "idempotency_key": key, **fields}
    return dealing.desk.do("POST", "/hedge/covers", body)


def residual(dealing: Dealing) -> str:
    return str(dealing.desk.do("GET", "/hedge/book")["items"][0]["residual"])


def deal(quantity: str = "2", reference: str = "LM-1", **fields: Any) -> dict[str, Any]:
    return {"quantity": quantity, "price": "71250.5", "reference": reference, **fields}


def test_a_cover_that_is_made_several_times_at_once_is_one(covering: Dealing) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = [each.result() for each in [threads.submit(cover, covering) for _ in range(8)]]
    assert {each["id"] for each in made} == {made[0]["id"]}
    assert covering.desk.do("GET", "/hedge/covers")["total"] == 1


def test_a_contract_comes_back_as_it_was_put(office: Office, other: Office) -> None:
    put = office.desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM)
    assert put == {
        "code": "GOLDM",
        "metal": "gold",
        "venue": "desk",
        "venue_symbol": "",
        "security_id": "",
        "instrument": "GOLD",
        "lot": "100.000000000",
        "fineness": "995.0",
        "step": "1.00000000",
        "price_weight": "10.000000000",
        "currency": "INR",
        "tick": "1.000000",
        "expires_on": None,
        "hold_until": None,
        "mode": "suggest",
        "active": True,
    }
    assert office.desk.do("GET", "/hedge/contracts") == {"items": [put], "total": 1}
    assert other.desk.do("GET", "/hedge/contracts") == {"items": [], "total": 0}
    changed = office.desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM | {"expires_on": "2027-02-05"})
    assert changed == put | {"expires_on": "2027-02-05"}
    office.hire("dealer").refused("PUT", "/hedge/contracts/GOLDM", GOLDM, status=403, code="role_too_low")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"lot": "0"}, "lot"),
        ({"lot": "100.0000000001"}, "lot"),
        ({"metal": "copper"}, "metal"),
        ({"currency": "EUR"}, "currency"),
        ({"venue": "lmax"}, "venue_symbol"),
        ({"hold_until": "2027-01-01"}, "hold_until"),
        ({"step": "0.00000001", "lot": "0.000001"}, "step"),
    ],
    ids=str,
)
def test_a_contract_that_makes_no_sense_is_refused(standing: Office, change: Any, named: str) -> None:
    with nothing_changed(standing.desk):
        assert named in standing.desk.refused("PUT", "/hedge/contracts/GOLDM", GOLDM | change)


def test_contracts_that_follow_one_rate_have_their_price_for_the_same_weight(office: Office) -> None:
    desk = office.desk
    desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM)
    petal = GOLDM | {"lot": "1", "fineness": "999", "price_weight": "1"}
    words = desk.refused("PUT", "/hedge/contracts/GOLDPETAL", petal)
    assert "instrument" in words
    assert "GOLDM follows GOLD too, and its price is in INR for 10 g" in words
    dollars = GOLDM | {"currency": "USD"}
    assert "instrument" in desk.refused("PUT", "/hedge/contracts/GOLDUSD", dollars)
    desk.do("PUT", "/hedge/contracts/GOLDPETAL", petal | {"active": False})
    desk.do("PUT", "/hedge/contracts/GOLDPETAL", petal | {"instrument": "GOLDPETAL"})
    desk.do("PUT", "/hedge/contracts/GOLDTEN", petal | {"lot": "10", "price_weight": "10"})
    desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM | {"instrument": "GOLDM", "price_weight": "100"})


def test_a_cover_dealt_by_telephone_moves_the_book(covering: Dealing) -> None:
    assert residual(covering) == "-199.800"
    made = cover(covering)
    assert (made["state"], made["fine"], made["rule"], made["deals"]) == (
        "suggested",
        "199.000",
        "by_hand",
        [],
    )
    assert residual(covering) == "-199.800"
    dealt = covering.desk.do("POST", f"/hedge/covers/{made['id']}/fill", deal(fee="12.5"))
    assert dealt["state"] == "filled"
    (own,) = dealt["deals"]
    assert (own["reference"], own["price"], own["fee"], own["fine"]) == (
        "LM-1",
        "71250.500000",
        "12.50",
        "199.000",
    )
    assert residual(covering) == "-0.800"
    assert covering.desk.do("GET", "/hedge/covers") == {"items": [dealt], "total": 1}
    entry, earlier = covering.desk.do("GET", "/audit?limit=2")["items"]
    assert (entry["action"], entry["subject"]) == ("fill_cover", made["id"])
    assert entry["text"] == "cover dealt: buy 2 GOLDM at 71,250.5 INR, LM-1"
    assert earlier["text"] == "cover made: buy 2 GOLDM"


def test_a_sale_and_a_smaller_deal(covering: Dealing) -> None:
    made = cover(covering, "3", side="sell")
    dealt = covering.desk.do("POST", f"/hedge/covers/{made['id']}/fill", deal("1"))
    assert (dealt["state"], dealt["deals"][0]["fine"]) == ("partly", "99.500")
    assert residual(covering) == "-299.300"
    (entry,) = covering.desk.do("GET", "/audit?limit=1")["items"]
    assert entry["text"] == "cover dealt: sell 3 GOLDM, 1 of it at 71,250.5 INR, LM-1"
    again = f"/hedge/covers/{made['id']}/fill"
    covering.desk.refused("POST", again, deal("1", "LM-2"), status=409, code="conflict")


def test_a_reference_counts_once(covering: Dealing) -> None:
    first, second = cover(covering), cover(covering, key="k2")
    covering.desk.do("POST", f"/hedge/covers/{first['id']}/fill", deal())
    before = residual(covering)
    with nothing_changed(covering.desk):
        told = covering.desk.refused(
            "POST", f"/hedge/covers/{second['id']}/fill", deal(), status=409, code="conflict"
        )
    assert "LM-1" in told
    assert residual(covering) == before


@pytest.mark.both_stacks
def test_a_reference_counts_once_for_covers_that_are_dealt_at_once(covering: Dealing) -> None:
    paths = [f"/hedge/covers/{cover(covering, key=f'k{number}')['id']}/fill" for number in range(6)]
    with ThreadPoolExecutor(len(paths)) as threads:
        answers = list(threads.map(lambda path: covering.desk.post(path, json=deal()), paths))
    assert sorted(each.status_code for each in answers) == [200, *[409] * 5], [each.text for each in answers]
    assert residual(covering) == "-0.800"


def test_a_repeated_key_is_the_same_cover_and_another_cover_needs_another_key(covering: Dealing) -> None:
    made = cover(covering)
    assert cover(covering) == made
    body = {"contract": "GOLDM", "side": "sell", "quantity": "2", "idempotency_key": "k1"}
    covering.desk.refused("POST", "/hedge/covers", body, status=409, code="conflict")
    assert covering.desk.do("GET", "/hedge/covers")["total"] == 1


def test_a_repeated_key_is_the_same_cover_after_its_contract_was_switched_off(covering: Dealing) -> None:
    made = cover(covering)
    covering.desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM | {"active": False})
    assert cover(covering)["id"] == made["id"]
    body = {"contract": "GOLDM", "side": "buy", "quantity": "3", "idempotency_key": "k1"}
    covering.desk.refused("POST", "/hedge/covers", body, status=409, code="conflict")


def test_a_dropped_cover_is_not_dealt(covering: Dealing) -> None:
    made = cover(covering)
    dropped = covering.desk.do("POST", f"/hedge/covers/{made['id']}/drop", {"reason": "too dear"})
    assert (dropped["state"], dropped["words"]) == ("dropped", "too dear")
    covering.desk.refused("POST", f"/hedge/covers/{made['id']}/fill", deal(), status=409, code="conflict")
    covering.desk.refused("POST", f"/hedge/covers/{NEVER}/drop", {}, status=404, code="not_found")
    assert residual(covering) == "-199.800"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"contract": "OTHER"}, "contract"),
        ({"quantity": "1.5"}, "quantity"),
        ({"quantity": "0"}, "quantity"),
        ({"quantity": "-1"}, "quantity"),
        ({"side": "hold"}, "side"),
    ],
    ids=str,
)
def test_a_cover_that_makes_no_sense_is_refused(covering: Dealing, fields: Any, named: str) -> None:
    body = {"contract": "GOLDM", "side": "buy", "quantity": "2", "idempotency_key": "k1", **fields}
    with nothing_changed(covering.desk):
        assert named in covering.desk.refused("POST", "/hedge/covers", body)
    made = cover(covering)
    for wrong in (deal("3"), deal("0.5"), deal(dollar="83"), deal(price="0")):
        with nothing_changed(covering.desk):
            covering.desk.refused("POST", f"/hedge/covers/{made['id']}/fill", wrong)


def test_covers_need_an_open_book_an_active_contract_and_a_dealer(office: Office) -> None:
    office.desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM)
    body = {"contract": "GOLDM", "side": "buy", "quantity": "2", "idempotency_key": "k1"}
    assert "not open" in office.desk.refused("POST", "/hedge/covers", body, status=409, code="conflict")
    office.desk.do("PATCH", "/hedge/book/gold", {"limit": "5"})
    office.hire("viewer").refused("POST", "/hedge/covers", body, status=403, code="role_too_low")
    assert office.hire("dealer").do("POST", "/hedge/covers", body)["state"] == "suggested"
    office.desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM | {"active": False})
    assert "contract" in office.desk.refused("POST", "/hedge/covers", body | {"idempotency_key": "k2"})


def test_a_contract_that_is_held_is_told_before_its_last_day(covering: Dealing) -> None:
    desk = covering.desk
    today = datetime.now(tz=ZoneInfo("Asia/Kolkata")).date()

    def told(last: date) -> tuple[list[str], list[tuple[str, str]]]:
        desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM | {"expires_on": last.isoformat(), "active": False})
        lights = desk.do("GET", "/health")["items"]
        gold, silver = (each["warnings"] for each in desk.do("GET", "/hedge/book")["items"])
        assert silver == []
        return (
            [each for each in gold if "GOLDM" in each],
            [(each["state"], each["text"]) for each in lights if each["part"] == "contract"],
        )

    soon, passed = today + timedelta(days=4), today - timedelta(days=2)
    made, back = cover(covering), cover(covering, side="sell", key="k2")
    assert told(soon) == ([], [])
    desk.do("POST", f"/hedge/covers/{made['id']}/fill", deal())
    text = f"GOLDM is held. Move the position to a later contract until {soon}."
    assert told(soon) == ([text], [("warn", text)])
    text = f"GOLDM is still held, and its last day to hold was {passed}."
    assert told(passed) == ([text], [("bad", text)])
    assert told(today + timedelta(days=7)) == ([], [])
    desk.do("POST", f"/hedge/covers/{back['id']}/fill", deal(reference="LM-2"))
    assert told(soon) == ([], [])


def test_covers_are_listed_by_state(covering: Dealing) -> None:
    desk = covering.desk
    old, dealt, dropped = (cover(covering, key=key)["id"] for key in ("k1", "k2", "k3"))
    desk.do("POST", f"/hedge/covers/{dealt}/fill", deal())
    desk.do("POST", f"/hedge/covers/{dropped}/drop", {"reason": "too dear"})

    def listed(state: str, more: str = "") -> tuple[list[str], int]:
        found = desk.do("GET", f"/hedge/covers?state={state}{more}")
        return [each["id"] for each in found["items"]], found["total"]

    assert listed("open", "&limit=1") == listed("suggested", "&limit=1") == ([old], 1)
    assert listed("filled") == ([dealt], 1)
    assert listed("dropped") == ([dropped], 1)
    assert listed("sent") == listed("partly") == listed("refused") == ([], 0)
    newer = cover(covering, key="k4")["id"]
    assert listed("open") == listed("suggested") == ([newer, old], 2)
    assert listed("suggested", "&limit=1&offset=1") == ([old], 2)
    for wrong in ("past", "OPEN", "", "open&state=sent"):
        assert "state" in desk.refused("GET", f"/hedge/covers?state={wrong}")
