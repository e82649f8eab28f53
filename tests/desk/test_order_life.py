"""What the desk does to production orders, step by step: the order, its life, its book, its trail."""

from typing import Any

import pytest

from tests.support.dealing import Dealing
from tests.support.desk import Office, nothing_changed, refusal
from tests.support.orders import BUY_PRICE, GOLD, Trader

NEVER = "01a1de14-d0ac-74ff-b60f-dff545fade43"
ACTIONS: dict[str, Any] = {
    "close": None,
    "complete": {"close_price": "71000"},
    "delete": {"reason": "entered twice"},
    "confirm": None,
    "refuse": None,
}


def lived(order: Any) -> list[tuple[str, str | None]]:
    return [(event["status"], event["words"]) for event in order["events"]]


def test_from_open_to_closed_with_profit(dealing: Dealing) -> None:
    order = dealing.placed(quantity="25")
    assert (order["status"], order["status_detail"], order["price"]) == ("open", "BOOKED", BUY_PRICE)
    assert order["deal_no"] > 0
    closing = dealing.do(order, "close")
    assert (closing["status"], closing["status_detail"]) == ("closing", "CLOSE_REQUESTED")
    assert closing["close_price"] is closing["realized_pnl"] is closing["closed_at"] is None
    assert dealing.positions()["gold"]["net"] == "25.0000"
    closed = dealing.do(order, "complete", {"close_price": "71300.05"})
    assert (closed["status"], closed["status_detail"]) == ("closed", "SETTLED")
    assert (closed["close_price"], closed["realized_pnl"]) == ("71300.05", "150.13")
    assert closed["deal_no"] == order["deal_no"]
    assert dealing.positions()["gold"]["net"] == "0.0000"
    found = dealing.order(order)
    assert {**closed, "trace": found["trace"]} == found
    actor = f"an admin ({dealing.office.admin_token['token_id']})"
    assert [event["by"] for event in closed["events"]] == ["web", "venue", actor, actor]
    assert [event["status"] for event in closed["events"]] == ["pending", "open", "closing", "closed"]
    assert closed["closed_at"] == closed["events"][-1]["at"]
    assert closed["hedge"]["state"] == "answered"
    assert closed["hedge"]["outcome"] == "confirmed"
    assert closed["hedge"]["execution_id"].startswith("SIM-")
    dealing.check()


def test_a_sell_gains_where_a_buy_loses(dealing: Dealing) -> None:
    order = dealing.placed(trade_type="sell", quantity="10")
    dealing.do(order, "close")
    closed = dealing.do(order, "complete", {"close_price": "71000"})
    assert closed["realized_pnl"] == "230.00"
    loss = dealing.placed(quantity="10")
    dealing.do(loss, "close")
    assert dealing.do(loss, "complete", {"close_price": "71000"})["realized_pnl"] == "-240.00"
    dealing.check()


def test_every_order_gets_a_higher_deal_number(dealing: Dealing) -> None:
    numbers = [dealing.placed()["deal_no"] for _ in range(3)]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("state", ["open", "closing"])
def test_a_deal_may_be_deleted(dealing: Dealing, state: str) -> None:
    order = dealing.placed(quantity="3")
    if state == "closing":
        dealing.do(order, "close")
    deleted = dealing.do(order, "delete", {"reason": "entered twice"})
    assert (deleted["status"], deleted["status_detail"]) == ("deleted", "REMOVED")
    assert lived(deleted)[-1] == ("deleted", "entered twice")
    assert dealing.positions()["gold"]["net"] == "0.0000"
    assert dealing.order(order)["status"] == "deleted"
    assert dealing.desk.do("GET", "/orders?status=deleted")["total"] == 1
    assert order["id"] in {each["id"] for each in dealing.desk.all("/orders")}
    dealing.check()


def test_each_action_leaves_its_entry(dealing: Dealing) -> None:
    order = dealing.placed()
    for what, body in (("close", None), ("complete", {"close_price": "71000"})):
        before = dealing.desk.do("GET", "/audit?limit=1")
        changed = dealing.do(order, what, body)
        after = dealing.desk.do("GET", "/audit?limit=1")
        assert after["total"] == before["total"] + 1
        (entry,) = after["items"]
        assert (entry["action"], entry["subject"]) == (f"{what}_order", order["id"])
        assert entry["before"]["status"] != entry["after"]["status"] == changed["status"]
        assert entry["after"]["close_price"] == changed["close_price"]


STATES = {
    "open": (),
    "closing": ("close",),
    "closed": ("close", "complete"),
    "deleted": ("delete",),
}
WRONG = {
    "open": {"complete": "closing"},
    "closing": {"close": "open"},
    "closed": {"close": "open", "complete": "closing", "delete": "pending, open or closing"},
    "deleted": {"close": "open", "complete": "closing", "delete": "pending, open or closing"},
}


@pytest.mark.parametrize("state", STATES)
def test_what_a_state_does_not_allow_is_refused_and_explained(dealing: Dealing, state: str) -> None:
    order = dealing.placed()
    for what in STATES[state]:
        dealing.do(order, what, ACTIONS[what])
    with nothing_changed(dealing.desk):
        for what, wanted in WRONG[state].items():
            path = f"/orders/{order['id']}/{what}"
            words = dealing.desk.refused("POST", path, ACTIONS[what], status=409, code="conflict")
            assert f"Only an order that is {wanted} can be" in words
            assert f"this one is {state}" in words
            assert ("an admin (" if STATES[state] else "by venue at") in words
    dealing.check()


@pytest.mark.parametrize("what", ["confirm", "refuse"])
def test_where_a_venue_answers_the_desk_does_not(dealing: Dealing, what: str) -> None:
    dealing.venue(mode="hold")
    order = dealing.placed()
    with nothing_changed(dealing.desk):
        words = dealing.desk.refused("POST", f"/orders/{order['id']}/{what}", status=409, code="conflict")
        assert "The simulated venue answers" in words
        assert "BULLION_HEDGE=desk" in words


@pytest.mark.parametrize("what", ["close", "complete", "delete"])
def test_a_test_order_stays_as_it_is(office: Office, trader: Trader, what: str) -> None:
    order = trader.buy(1)
    with nothing_changed(office.desk):
        path = f"/orders/{order['id']}/{what}"
        words = office.desk.refused("POST", path, ACTIONS[what], status=409, code="conflict")
        assert words.startswith("This is a test order.")


@pytest.mark.parametrize("what", ["close", "complete", "delete"])
@pytest.mark.parametrize("order_id", [NEVER, "x", "%00", "..%00", NEVER.replace("-", ""), "%F0%9F"])
def test_what_is_no_order_is_not_found(standing: Office, order_id: str, what: str) -> None:
    with nothing_changed(standing.desk):
        path = f"/orders/{order_id}/{what}"
        standing.desk.refused("POST", path, ACTIONS[what], status=404, code="not_found")


def test_another_brokers_order_is_not_found(dealing: Dealing, other: Office) -> None:
    order = dealing.placed()
    with nothing_changed(dealing.desk), nothing_changed(other.desk):
        for what in ("close", "complete", "delete"):
            theirs = other.desk.post(f"/orders/{order['id']}/{what}", json=ACTIONS[what] or {})
            never = other.desk.post(f"/orders/{NEVER}/{what}", json=ACTIONS[what] or {})
            assert (theirs.status_code, theirs.json()) == (never.status_code, never.json())
            assert refusal(theirs, 404, "not_found")


def test_a_dealer_may_and_a_viewer_may_not(dealing: Dealing) -> None:
    viewer, dealer = dealing.office.hire("viewer"), dealing.office.hire("dealer")
    order = dealing.placed()
    with nothing_changed(dealing.desk):
        for what, body in ACTIONS.items():
            viewer.refused("POST", f"/orders/{order['id']}/{what}", body, status=403, code="role_too_low")
        assert refusal(dealing.place(viewer), 403, "role_too_low")
    for what in ("close", "complete"):
        assert dealer.do("POST", f"/orders/{order['id']}/{what}", ACTIONS[what])["id"] == order["id"]
    placed = dealing.place(dealer)
    assert placed.status_code == 201
    dealer.do("POST", f"/orders/{placed.json()['id']}/delete", ACTIONS["delete"])
    assert viewer.do("GET", f"/orders/{order['id']}")["status"] == "closed"


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        {"close_price": 71000},
        {"close_price": None},
        {"close_price": "0"},
        {"close_price": "-1"},
        {"close_price": "1.001"},
        {"close_price": "1e5"},
        {"close_price": "NaN"},
        {"close_price": "1000000000000.01"},
        {"close_price": "٧"},
        {"close_price": "71000", "closed_at": "now"},
    ],
    ids=str,
)
def test_a_closing_needs_a_price(standing: Office, body: object) -> None:
    with nothing_changed(standing.desk):
        standing.desk.refused("POST", f"/orders/{NEVER}/complete", body)


@pytest.mark.parametrize("reason", [None, "entered twice"])
def test_the_reason_of_a_deletion_is_kept(dealing: Dealing, reason: str | None) -> None:
    deleted = dealing.do(dealing.placed(), "delete", {"reason": reason})
    (entry,) = dealing.desk.do("GET", "/audit?limit=1")["items"]
    assert entry["action"] == "delete_order"
    assert entry["after"]["words"] == deleted["events"][-1]["words"] == reason


@pytest.mark.parametrize("what", ["delete", "refuse"])
@pytest.mark.parametrize(
    "body",
    [{"reason": ""}, {"reason": " "}, {"reason": "a\0b"}, {"reason": "x" * 501}, {"reason": 7}, {"why": "x"}],
)
def test_a_reason_is_words(standing: Office, what: str, body: object) -> None:
    with nothing_changed(standing.desk):
        standing.desk.refused("POST", f"/orders/{NEVER}/{what}", body)


def test_what_takes_no_words_takes_none(standing: Office) -> None:
    with nothing_changed(standing.desk):
        standing.desk.refused("POST", f"/orders/{NEVER}/close", {"reason": "x"})


def test_a_result_that_no_store_can_keep_is_refused(dealing: Dealing) -> None:
    dealing.desk.do("PUT", "/symbols/TINY", _tiny())
    dealing.desk.do("PATCH", "/accounts/client", {"allocation": {"gold": "1000000000"}})
    order = _placed_once_known(dealing, symbol_code="TINY", quantity="1000000")
    dealing.do(order, "close")
    with nothing_changed(dealing.desk):
        path = f"/orders/{order['id']}/complete"
        assert "close_price" in dealing.desk.refused("POST", path, {"close_price": "1000000000000"})
    assert dealing.do(order, "complete", {"close_price": "2"})["status"] == "closed"


def _tiny() -> dict[str, Any]:
    return {**GOLD, "quoted_weight": "0.0001", "pricing": {"kind": "fixed", "buy": "1", "sell": "1"}}


def _placed_once_known(dealing: Dealing, **fields: Any) -> dict[str, Any]:
    """The venue is asked about a new symbol twice a second."""
    for _ in range(200):
        answer = dealing.place(**fields)
        if answer.status_code != 503:
            break
    assert answer.status_code == 201, answer.text
    order: dict[str, Any] = answer.json()
    return order
