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


def test_the_cover_is_noted_with_its_price_and_reference(by_hand: Dealing) -> None:
    order, plain = by_hand.placed(quantity="5"), by_hand.placed()
    cover = {"cover_price": "71200.5", "cover_reference": "LM-88214112"}
    confirmed = by_hand.do(order, "confirm", {**cover, "reason": "by telephone"})
    noted = {"cover_price": "71200.50", "cover_reference": "LM-88214112"}
    assert noted.items() <= confirmed["hedge"].items()
    assert confirmed["events"][-1]["words"] == "by telephone"
    assert noted.items() <= by_hand.order(order)["hedge"].items()
    (entry,) = by_hand.desk.do("GET", "/audit?limit=1")["items"]
    assert noted.items() <= entry["after"].items()
    assert "cover_price" not in entry["before"]
    # The cover is no part of the client's deal, and stays with the order.
    assert (confirmed["price"], confirmed["total"]) == (order["price"], order["total"])
    assert noted.items() <= by_hand.do(order, "close")["hedge"].items()
    nothing = {"cover_price": None, "cover_reference": None}
    assert nothing.items() <= by_hand.do(plain, "confirm")["hedge"].items()
    by_hand.check()


@pytest.mark.parametrize(
    "body",
    [
        {"cover_price": "0"},
        {"cover_price": "-1"},
        {"cover_price": "1.001"},
        {"cover_price": 71200},
        {"cover_reference": ""},
        {"cover_reference": " "},
        {"cover_reference": "x" * 65},
        {"cover": "x"},
    ],
    ids=str,
)
def test_a_cover_that_cannot_be_noted_confirms_nothing(by_hand: Dealing, body: object) -> None:
    order = by_hand.placed()
    with nothing_changed(by_hand.desk):
        by_hand.desk.refused("POST", f"/orders/{order['id']}/confirm", body)
    assert by_hand.order(order)["status"] == "pending"


# --- Covered in parts ----------------------------------------------------------------------------------


def test_the_desk_covers_an_order_in_parts(by_hand: Dealing) -> None:
    by_hand.desk.do("PATCH", "/hedge/book/gold", {"policy": "each", "limit": "1000"})
    order = by_hand.placed(quantity="10")
    first = {"cover_price": "71200.5", "cover_reference": "LM-1"}
    part = by_hand.do(order, "confirm", {"covered": "4", "reason": "the first of two", **first})
    assert (part["status"], part["deal_no"]) == ("pending", None)
    rest = part["hedge"]["rest"]
    assert (rest["state"], rest["quantity"], rest["fine_grams"]) == ("partly_covered", "6.0000", "5.994")
    (queued,) = [each for each in by_hand.desk.all("/hedge/queue") if each["order_id"] == order["id"]]
    assert (queued["rest"]["state"], queued["words"]) == ("partly_covered", "the first of two")
    assert by_hand.desk.do("GET", "/hedge/book")["items"][0]["residual"] == "0.000"
    second = {"cover_price": "71300", "cover_reference": "LM-2"}
    assert by_hand.do(order, "confirm", {"covered": "2.5", **second})["hedge"]["rest"]["quantity"] == "3.5000"
    done = by_hand.do(order, "confirm", {"cover_price": "71400"})
    assert (done["status"], done["price"]) == ("open", order["price"])
    assert done["hedge"]["rest"] is None
    fills = [(each["sent_as"][36:], each["quantity"], each["price"]) for each in done["hedge"]["fills"]]
    assert sorted(fills) == [
        ("", "4.00000000", "71200.500000"),
        ("b", "2.50000000", "71300.000000"),
        ("c", "3.50000000", "71400.000000"),
    ]
    assert len({each["execution_id"] for each in done["hedge"]["fills"]}) == 3
    book = by_hand.desk.do("GET", "/hedge/book")["items"][0]
    assert (book["client"], book["cover"]) == ("-9.990", "9.990")
    entries = by_hand.desk.do("GET", "/audit?limit=3")["items"]
    assert [each["after"].get("cover_reference") for each in entries] == [None, "LM-2", "LM-1"]
    assert [each["before"].get("left") for each in entries] == ["3.5000", "6.0000", None]
    assert [each["after"].get("left") for each in entries] == [None, "3.5000", "6.0000"]
    assert entries[2]["text"].endswith("buy 10 g GOLD covered in part, 6 g left: the first of two")
    by_hand.check()


def test_a_part_that_is_sent_again_is_covered_once(by_hand: Dealing) -> None:
    order = by_hand.placed(quantity="10")
    path = f"/orders/{order['id']}/confirm"
    by_hand.do(order, "confirm", {"covered": "5", "left": "10"})
    for again in ({"covered": "5", "left": "10"}, {"left": "10"}):
        with nothing_changed(by_hand.desk):
            told = by_hand.desk.refused("POST", path, again, status=409, code="conflict")
        assert told == "5.0000 of this order are left to cover, not 10.0000. Nothing was confirmed."
    assert by_hand.do(order, "confirm", {"covered": "5.0", "left": "5"})["status"] == "open"


@pytest.mark.parametrize(("action", "status"), [("take", "open"), ("refuse", "rejected")])
def test_the_rest_of_a_part_is_taken_or_refused(by_hand: Dealing, action: str, status: str) -> None:
    by_hand.desk.do("PATCH", "/hedge/book/gold", {"policy": "each", "limit": "1000"})
    order = by_hand.placed(quantity="10")
    by_hand.do(order, "confirm", {"covered": "4"})
    path = f"/orders/{order['id']}/refuse"
    with nothing_changed(by_hand.desk):
        told = by_hand.desk.refused("POST", path, {}, status=409, code="conflict")
    assert told == "A part of this order is covered. Sell it back, and refuse the rest with cover."
    done = by_hand.do(order, "cover", {"action": action, "note": "decided"})
    assert done["status"] == status
    book = by_hand.desk.do("GET", "/hedge/book")["items"][0]
    assert (book["client"], book["cover"]) == (
        ("-9.990", "3.996") if action == "take" else ("0.000", "0.000")
    )
    by_hand.check()


@pytest.mark.parametrize(("action", "status"), [("take", "open"), ("refuse", "rejected")])
def test_an_order_with_a_covered_part_is_not_refused_after_its_rest_was_sent_again(
    by_hand: Dealing, action: str, status: str
) -> None:
    order = by_hand.placed(quantity="10")
    by_hand.do(order, "confirm", {"covered": "4"})
    again = {"action": "again", "note": "once more"}
    by_hand.do(order, "cover", again)
    with nothing_changed(by_hand.desk):
        path = f"/orders/{order['id']}"
        told = by_hand.desk.refused("POST", f"{path}/refuse", {}, status=409, code="conflict")
        by_hand.desk.refused("POST", f"{path}/cover", again, status=409, code="conflict")
    assert told == "A part of this order is covered. Sell it back, and refuse the rest with cover."
    assert by_hand.do(order, "cover", {"action": action, "note": "decided"})["status"] == status
    by_hand.check()


def test_a_part_that_cannot_be(by_hand: Dealing) -> None:
    order = by_hand.placed(quantity="10")
    for covered in ("0", "-1", "10.0001", "1.00001", "much", 4):
        with nothing_changed(by_hand.desk):
            by_hand.desk.refused("POST", f"/orders/{order['id']}/confirm", {"covered": covered})
    by_hand.do(order, "confirm", {"covered": "4"})
    with nothing_changed(by_hand.desk):
        by_hand.desk.refused("POST", f"/orders/{order['id']}/confirm", {"covered": "6.0001"})
    assert by_hand.do(order, "confirm", {"covered": "6"})["status"] == "open"


def test_an_order_that_the_hedge_book_holds_back_is_not_confirmed_by_hand(by_hand: Dealing) -> None:
    by_hand.desk.do("PATCH", "/hedge/book/gold", {"policy": "book", "limit": "1"})
    order = by_hand.placed(quantity="10")
    assert order["status"] == "pending"
    with nothing_changed(by_hand.desk):
        path = f"/orders/{order['id']}/confirm"
        told = by_hand.desk.refused("POST", path, {}, status=409, code="conflict")
    assert told == "The hedge book answers this order: it is confirmed as soon as the limit has room."
    assert by_hand.do(order, "refuse")["status"] == "rejected"


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
    nothing = dict.fromkeys(("mode", "delay_ms", "fill_percent", "unasked"))
    assert shown == {"venue": "desk", **nothing, "instruments": {}}
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


def test_a_cover_is_dealt_by_telephone_and_not_sent(by_hand: Dealing) -> None:
    desk = by_hand.desk
    desk.do("PATCH", "/hedge/book/gold", {"limit": "1000"})
    goldm = {"metal": "gold", "instrument": "GOLD", "lot": "100", "price_weight": "10"}
    desk.do("PUT", "/hedge/contracts/GOLDM", goldm)
    body = {"contract": "GOLDM", "side": "buy", "quantity": "2", "idempotency_key": "k1"}
    made = desk.do("POST", "/hedge/covers", body)
    with nothing_changed(desk):
        told = desk.refused("POST", f"/hedge/covers/{made['id']}/send", status=409, code="conflict")
    assert told == "The venue does not deal GOLDM: deal it by telephone and record it with fill."
