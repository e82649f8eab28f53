"""Where the desk is the venue itself: it confirms and refuses what is pending, once."""

import pytest

from tests.support.dealing import Dealing
from tests.support.desk import nothing_changed

NEVER = "01a1de14-d0ac-74ff-b60f-dff545fade43"


def test_the_desk_confirms(by_hand: Dealing) -> None:
    order = by_hand.placed(quantity="5")
    assert (order["status"], order["deal_no"]) == ("pending", None)
    assert by_hand.positions()["gold"]["net"] == "5.0000"
    confirmed = by_hand.do(order, "confirm")
    assert (confirmed["status"], confirmed["price"]) == ("open", order["price"])
    assert confirmed["deal_no"] > 0
    hedge = confirmed["hedge"]
    assert (hedge["state"], hedge["outcome"]) == ("answered", "confirmed")
    assert hedge["execution_id"].startswith("DESK-")
    assert confirmed["events"][-1]["words"] == f"execution {hedge['execution_id']}"
    (execution,) = by_hand.desk.do("GET", f"/hedge/executions?order_id={order['id']}")["items"]
    assert (execution["execution_id"], execution["outcome"]) == (hedge["execution_id"], "confirmed")
    assert order["id"] not in {each["order_id"] for each in by_hand.desk.all("/hedge/queue")}
    by_hand.check()


@pytest.mark.parametrize("reason", [None, "no cover at this price"])
def test_the_desk_refuses(by_hand: Dealing, reason: str | None) -> None:
    order = by_hand.placed(quantity="5", idempotency_key="once")
    refused = by_hand.do(order, "refuse", reason and {"reason": reason})
    assert (refused["status"], refused["status_detail"], refused["deal_no"]) == (
        "rejected",
        "HEDGE_REFUSED",
        None,
    )
    assert refused["events"][-1]["words"] == (reason or "The desk refused it.")
    assert refused["hedge"]["outcome"] == "refused"
    assert by_hand.positions()["gold"]["net"] == "0.0000"
    again = by_hand.place(quantity="5", idempotency_key="once")
    assert (again.status_code, again.headers["idempotent-replayed"]) == (409, "true")
    detail = again.json()["detail"]
    assert (detail["code"], detail["order_id"]) == ("order_rejected", order["id"])
    assert detail["order"]["status"] == "rejected"
    by_hand.check()


@pytest.mark.parametrize("first", ["confirm", "refuse", "delete"])
def test_an_answer_is_given_once(by_hand: Dealing, first: str) -> None:
    order = by_hand.placed()
    became = by_hand.do(order, first)["status"]
    with nothing_changed(by_hand.desk):
        for what in ("confirm", "refuse"):
            path = f"/orders/{order['id']}/{what}"
            words = by_hand.desk.refused("POST", path, status=409, code="conflict")
            assert "Only an order that is pending can be" in words
            assert f"this one is {became}, by an admin (" in words
    by_hand.check()


def test_a_deleted_order_leaves_the_queue_at_once(by_hand: Dealing) -> None:
    order = by_hand.placed()
    assert by_hand.do(order, "delete")["hedge"]["state"] == "withdrawn"
    assert order["id"] not in {each["order_id"] for each in by_hand.desk.all("/hedge/queue")}
    assert by_hand.desk.do("GET", "/hedge/breaks")["total"] == 0


def test_there_is_no_simulated_venue(by_hand: Dealing) -> None:
    shown = by_hand.desk.do("GET", "/hedge")
    assert shown == {"venue": "desk", "mode": None, "delay_ms": None, "instruments": {}}
    with nothing_changed(by_hand.desk):
        words = by_hand.desk.refused("PATCH", "/hedge", {"mode": "fill"}, status=409, code="conflict")
        assert "BULLION_HEDGE=desk" in words


@pytest.mark.parametrize("what", ["confirm", "refuse"])
def test_a_pending_order_cannot_be_closed_and_strangers_find_nothing(by_hand: Dealing, what: str) -> None:
    order = by_hand.placed()
    with nothing_changed(by_hand.desk):
        words = by_hand.desk.refused("POST", f"/orders/{order['id']}/close", status=409, code="conflict")
        assert words == "Only an order that is open can be closed; this one is pending."
        for unknown in (NEVER, "x", "%00"):
            by_hand.desk.refused("POST", f"/orders/{unknown}/{what}", status=404, code="not_found")
    viewer, dealer = by_hand.office.hire("viewer"), by_hand.office.hire("dealer")
    viewer.refused("POST", f"/orders/{order['id']}/{what}", status=403, code="role_too_low")
    assert dealer.do("POST", f"/orders/{order['id']}/{what}")["status"] in ("open", "rejected")


def test_the_client_sees_other_channels_orders_once_they_are_deals(by_hand: Dealing) -> None:
    """Hidden while they are pending, and for good once they are refused; the desk sees and counts them."""
    orders = [by_hand.placed() for _ in range(3)]
    assert by_hand.desk.do("GET", "/orders?login_id=client&status=pending")["total"] == 3
    by_hand.do(orders[0], "confirm")
    by_hand.do(orders[1], "refuse")
    for status, order in zip(("open", "rejected", "pending"), orders, strict=True):
        listed = by_hand.desk.do("GET", f"/orders?login_id=client&status={status}")
        assert [each["id"] for each in listed["items"]] == [order["id"]]
        assert listed["total"] == 1
    by_hand.check()
