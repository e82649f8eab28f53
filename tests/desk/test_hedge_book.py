"""The hedge book at the desk: its policy and limit, orders that it confirms, and orders that wait."""

from typing import Any

import pytest

from bullion.hedge.contracts_seed import seed_contracts
from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office, nothing_changed
from tests.support.node import until

PARTS = ("premium", "duty", "slippage", "realised", "unrealised", "currency", "fees", "total")
CLOSED = {
    "metal": "gold",
    "open": False,
    "policy": "each",
    "limit": "0.000",
    "volatility_percent": "0.0000",
    "client": "0.000",
    "cover": "0.000",
    "residual": "0.000",
    "limit_used_percent": None,
    "waiting": "0.000",
    "waiting_orders": 0,
    "since": None,
    "age_s": None,
    "rules": [],
    "warnings": [],
    "working": "0.000",
    "value": None,
    "value_at_risk": None,
    "average": None,
    "usd_open": "0.00",
    "usd_open_rupees": None,
    "profit": dict.fromkeys(PARTS),
    "estimated_deals": 0,
    "marked_by": None,
    "marked_at": None,
    "unmarked_because": None,
}
NOTHING_EARNED = {
    "usd_open_rupees": "0.00",
    "profit": dict.fromkeys(PARTS, "0.00"),
    "unmarked_because": "No active contract in gold says which rate values it.",
}


def gold(dealing: Dealing) -> dict[str, Any]:
    found: dict[str, Any] = dealing.desk.do("GET", "/hedge/book")["items"][0]
    return found


def open_book(dealing: Dealing, limit: str = "100") -> None:
    dealing.desk.do("PATCH", "/hedge/book/gold", {"policy": "book", "limit": limit})


def test_no_book_is_open_at_first_and_the_first_change_opens_it(office: Office, other: Office) -> None:
    desk = office.desk
    silver = CLOSED | {"metal": "silver"}
    assert desk.do("GET", "/hedge/book") == {"items": [CLOSED, silver], "total": 2}
    terms = desk.do("PATCH", "/hedge/book/gold", {"limit": "12.5", "volatility_percent": "1.2"})
    assert terms == {"policy": "each", "limit": "12.500", "volatility_percent": "1.2000"}
    opened = CLOSED | terms | NOTHING_EARNED | {"open": True, "limit_used_percent": "0.0"}
    assert desk.do("GET", "/hedge/book")["items"] == [opened, silver]
    assert desk.do("PATCH", "/hedge/book/gold", {"policy": "book"}) == terms | {"policy": "book"}
    entry = desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["before"]) == ("patch_book", terms)
    assert other.desk.do("GET", "/hedge/book")["items"] == [CLOSED, silver]


def test_the_usual_contracts_come_with_the_book_and_replace_none(office: Office, other: Office) -> None:
    desk = office.desk
    own = {"metal": "gold", "instrument": "GOLD", "lot": "50", "price_weight": "10"}
    kept = desk.do("PUT", "/hedge/contracts/GOLDM", own)

    def contracts() -> dict[str, Any]:
        return {each["code"]: each for each in desk.do("GET", "/hedge/contracts")["items"]}

    desk.do("PATCH", "/hedge/book/gold", {"limit": "5"})
    found = contracts()
    assert {*found} == {each.code for each in seed_contracts() if each.metal == "gold"}
    assert found.pop("GOLDM") == kept
    assert {(each["active"], each["venue"], each["mode"]) for each in found.values()} == {
        (False, "desk", "suggest")
    }
    assert (found["GOLDPETAL"]["lot"], found["GOLDPETAL"]["fineness"]) == ("1.000000000", "999.0")
    assert gold_warnings(desk) == []
    cover = {"contract": "GOLDTEN", "side": "buy", "quantity": "1", "idempotency_key": "k"}
    assert "active" in desk.refused("POST", "/hedge/covers", cover)
    terms = {name: value for name, value in found["GOLDTEN"].items() if name != "code"}
    desk.do("PUT", "/hedge/contracts/GOLDTEN", terms | {"active": True})
    assert desk.do("POST", "/hedge/covers", cover)["fine"] == "9.990"
    # Only the opening adds them.
    before = contracts()
    desk.do("PATCH", "/hedge/book/gold", {"limit": "6"})
    assert contracts() == before
    desk.do("PATCH", "/hedge/book/silver", {"limit": "6"})
    assert {*contracts()} == {each.code for each in seed_contracts()}
    assert other.desk.do("GET", "/hedge/contracts")["total"] == 0


def gold_warnings(desk: Caller) -> list[str]:
    found: list[str] = desk.do("GET", "/hedge/book")["items"][0]["warnings"]
    return found


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"policy": "all"}, "policy"),
        ({"limit": "-1"}, "limit"),
        ({"limit": "0.0001"}, "limit"),
        ({"limit": 5}, "limit"),
        ({"limit": "1000000000000"}, "limit"),
        ({"volatility_percent": "101"}, "volatility_percent"),
        ({"client": "5"}, "client"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(standing: Office, change: Any, named: str) -> None:
    with nothing_changed(standing.desk):
        assert named in standing.desk.refused("PATCH", "/hedge/book/gold", change)
        standing.desk.refused("PATCH", "/hedge/book/copper", {"policy": "book"}, status=404, code="not_found")


def test_the_terms_are_an_admins(office: Office) -> None:
    for role in ("viewer", "dealer"):
        caller = office.hire(role)
        caller.refused("PATCH", "/hedge/book/gold", {"limit": "1"}, status=403, code="role_too_low")
        assert caller.do("GET", "/hedge/book")["total"] == 2


def test_the_book_confirms_at_once_within_its_limit_without_the_venue(dealing: Dealing) -> None:
    before = dealing.desk.do("GET", "/hedge/executions")["total"]
    open_book(dealing)
    dealing.venue(mode="hold")
    order = dealing.placed(quantity="40")
    assert (order["status"], order["deal_no"] > 0) == ("open", True)
    assert dealing.order(order)["hedge"]["venue"] == "book"
    book = gold(dealing)
    assert (book["residual"], book["limit_used_percent"]) == ("-39.960", "39.9")
    assert book["since"] is not None
    assert dealing.desk.do("GET", "/hedge/executions")["total"] == before
    dealing.do(order, "delete", {"reason": "the client called"})
    assert gold(dealing)["residual"] == "0.000"
    dealing.check()


def test_beyond_the_limit_an_order_waits_until_there_is_room(dealing: Dealing) -> None:
    open_book(dealing, "100")
    dealing.placed(quantity="90")
    answer = dealing.place(quantity="20")
    assert answer.status_code == 202
    order = answer.json()
    book = gold(dealing)
    assert (book["waiting"], book["waiting_orders"]) == ("-19.980", 1)
    (waiting,) = dealing.desk.do("GET", "/hedge/queue")["items"]
    assert (waiting["venue"], "room" in waiting["words"]) == ("book", True)
    open_book(dealing, "200")
    assert dealing.becomes(order, "open")["deal_no"] > 0
    assert gold(dealing)["residual"] == "-109.890"
    dealing.check()


def test_an_order_that_waits_may_be_refused_or_deleted(dealing: Dealing) -> None:
    open_book(dealing, "0")
    first, second = dealing.placed(quantity="5"), dealing.placed(quantity="6")
    assert (first["status"], second["status"]) == ("pending", "pending")
    assert dealing.do(first, "refuse", {"reason": "too large"})["status"] == "rejected"
    assert dealing.do(second, "delete", {"reason": "the client called"})["hedge"]["state"] == "withdrawn"
    assert gold(dealing)["waiting_orders"] == 0
    dealing.check()


def test_with_the_venue_away_the_book_does_not_deal_on(dealing: Dealing) -> None:
    open_book(dealing)
    dealing.venue(mode="down")

    def refused() -> bool:
        answer = dealing.place(quantity="1")
        return answer.status_code == 503 and "production_prerequisites_unmet" in answer.text

    until(refused, within_s=15)


def test_the_policy_goes_back_to_each(dealing: Dealing) -> None:
    open_book(dealing)
    dealing.desk.do("PATCH", "/hedge/book/gold", {"policy": "each"})
    order = dealing.placed(quantity="3")
    assert dealing.order(order)["hedge"]["venue"] == "simulated"
    book = gold(dealing)
    assert (book["client"], book["cover"], book["residual"]) == (
        "-3.996",  # With the gram that the office was warmed up with.
        "3.996",
        "0.000",
    )
