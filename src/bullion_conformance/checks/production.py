"""The states of production orders, their transitions, and which orders are visible."""

from collections.abc import Mapping
from decimal import Decimal

from bullion_conformance.check import Need, check
from bullion_conformance.checks.responses import rejected_order
from bullion_conformance.client import ACCEPTED, CREATED, body_of, refused
from bullion_conformance.context import Context
from bullion_conformance.desk import QUOTED_WEIGHT
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import deals, gold_buy, refused_later, waiting
from bullion_conformance.shapes import decimal, decimal_of, in_paise, time_of
from bullion_conformance.verdict import expect, expect_equal

SLOW_S = 3.0
"""A service waits for its hedge for a while before it answers `pending`."""


def _has_status(order: Mapping[str, object], expected: str) -> None:
    expect_equal(order.get("status"), expected, "`status`")


check("states.test.created-filled", "orders.test.created")(
    lambda c: _has_status(body_of(c.once(gold_buy).answer, CREATED), "filled")
)
for _id, _look in {
    "transitions.new-open": lambda c: _has_status(body_of(c.once(deals).opening, CREATED), "open"),
    "transitions.new-pending": lambda c: _has_status(body_of(c.once(waiting).placing, ACCEPTED), "pending"),
    "transitions.closing": lambda c: _has_status(c.once(deals).was_closing, "closing"),
    "transitions.closed": lambda c: _has_status(c.once(deals).closed, "closed"),
    "states.deleted.readable": lambda c: _has_status(c.once(deals).deleted, "deleted"),
    "states.open.booked": lambda c: decimal_of(c.once(deals).open, "price"),
    "read.hidden.pending": lambda c: refused(c.once(waiting).web_meanwhile, "order_not_found"),
}.items():
    check(_id, need=Need.PRODUCTION)(_look)


@check("states.pending.counts", "allocation.pending", need=Need.PRODUCTION, waits_s=SLOW_S)
def pending_orders_count(c: Context) -> None:
    found = c.once(waiting)
    net = decimal(found.net_meanwhile, "net")
    expect_equal(net, Decimal(3), "After three pending buys of 1 g, `net`")
    refused(found.beyond, "limit_exceeded")


@check("states.closed.fields", need=Need.PRODUCTION)
def closed_orders_have_closing_fields(c: Context) -> None:
    closed = c.once(deals).closed
    expect_equal(decimal_of(closed, "close_price"), Decimal("71300.00"), "`close_price`")
    decimal_of(closed, "realized_pnl")
    time_of(closed, "closed_at")


@check("states.closed.profit", need=Need.PRODUCTION)
def profit_and_loss_have_their_sign(c: Context) -> None:
    for closed in (c.once(deals).closed, c.once(deals).lost):
        gain, pnl = _gain(closed), decimal_of(closed, "realized_pnl")
        told = f"A buy at {closed['price']} was closed at {closed['close_price']}: `realized_pnl` is {pnl}."
        expect(gain * pnl > 0, told)


@check("bullion.realized-pnl", need=Need.PRODUCTION)
def profit_is_for_the_whole_weight(c: Context) -> None:
    for closed in (c.once(deals).closed, c.once(deals).lost):
        worth = _gain(closed) * decimal_of(closed, "quantity") / Decimal(QUOTED_WEIGHT)
        expect_equal(decimal_of(closed, "realized_pnl"), in_paise(worth), "`realized_pnl`")


def _gain(bought: Mapping[str, object]) -> Decimal:
    return decimal_of(bought, "close_price") - decimal_of(bought, "price")


@check("states.closed.times", need=Need.PRODUCTION)
def closed_after_it_was_created(c: Context) -> None:
    for closed in (c.once(deals).closed, c.once(deals).lost):
        created_at, closed_at = time_of(closed, "created_at"), time_of(closed, "closed_at")
        expect(closed_at >= created_at, f"An order of {created_at} was closed at {closed_at}.")


@check("states.rejected.nothing-booked", need=Need.PRODUCTION)
def rejected_orders_do_not_count(c: Context) -> None:
    before, after = c.once(deals).net_around_rejection
    expect_equal(after, before, "After orders that the hedge refused, `net`")


@check("transitions.confirmed", need=Need.PRODUCTION)
def confirmed_is_open(c: Context) -> None:
    found = c.once(waiting)
    _has_status(found.pending, "pending")
    decimal_of(found.opened, "price")


def _rejected(answer: Exchange) -> dict[str, object]:
    refused(answer, "order_rejected")
    return rejected_order(answer)


@check("transitions.refused", need=Need.PRODUCTION, waits_s=SLOW_S)
def refused_is_rejected(c: Context) -> None:
    found = c.once(refused_later)
    expect_equal(_rejected(found.replay)["id"], found.pending["id"], "`id` of the rejected order")


check("transitions.refused.answer", need=Need.PRODUCTION)(lambda c: _rejected(c.once(deals).rejection))


@check("transitions.refused.replay", need=Need.PRODUCTION)
def a_refusal_is_replayed(c: Context) -> None:
    found = c.once(deals)
    first, again = _rejected(found.rejection), _rejected(found.rejection_again)
    expect_equal(again, first, "The replay of a rejected order")


@check("transitions.whole-way", need=Need.PRODUCTION)
def from_pending_to_closed(c: Context) -> None:
    found = c.once(waiting)
    states = [order["status"] for order in (found.pending, found.opened, found.closing, found.closed)]
    expect_equal(states, ["pending", "open", "closing", "closed"], "The list of the order's states")


@check("polling.stop", need=Need.PRODUCTION)
def polling_ends(c: Context) -> None:
    found = c.once(waiting)
    ends = [order["status"] for order in (found.opened, found.deleted, c.once(refused_later).rejected)]
    expect_equal(ends, ["open", "deleted", "rejected"], "The list of final states of three pending orders")


# --- Visibility -----------------------------------------------------------------------------------------


@check("visibility.channels", need=Need.PRODUCTION)
def other_channels_are_listed(c: Context) -> None:
    found = c.once(deals)
    sources = {order["id"]: order.get("source") for order in found.client.everything()}
    for order, source in ((found.open, "api"), (found.web, "web")):
        expect_equal(sources.get(order["id"]), source, f"`source` of a listed order from {source}")


@check("visibility.own-pending", need=Need.PRODUCTION)
def own_pending_orders_are_listed(c: Context) -> None:
    found = c.once(waiting)
    for orders in (found.listed, found.listed_pending):
        ids = {order["id"] for order in orders}
        expect(found.pending["id"] in ids, "A pending order placed through the API is not listed.")


@check("visibility.own-rejected", need=Need.PRODUCTION)
def own_rejected_orders_are_listed(c: Context) -> None:
    found = c.once(deals)
    ids = {order["id"] for order in found.client.everything()}
    listed = found.rejection.detail.get("order_id") in ids
    expect(listed, "A rejected order placed through the API is not listed.")


@check("visibility.hidden-pending", need=Need.PRODUCTION)
def other_pending_orders_are_hidden(c: Context) -> None:
    found = c.once(waiting)
    ids = {order["id"] for order in (*found.listed, *found.listed_pending)}
    expect(found.web_id not in ids, "An order from the web is listed while its hedge is still confirming.")


@check("visibility.hidden-rejected", need=Need.PRODUCTION)
def other_rejected_orders_are_hidden(c: Context) -> None:
    found = c.once(deals)
    ids = {order["id"] for order in (*found.client.everything(), *found.client.everything(status="rejected"))}
    expect(found.web_rejected not in ids, "An order from the web that the hedge refused is listed.")


@check("visibility.appears", need=Need.PRODUCTION)
def confirmed_orders_appear(c: Context) -> None:
    found = c.once(waiting)
    statuses = {order["id"]: order["status"] for order in found.listed_afterwards}
    expect_equal(statuses.get(found.web_id), "open", "`status` of a listed and confirmed order from the web")


@check("visibility.test", need=Need.PRODUCTION, orders=1)
def the_test_list_has_test_orders_only(c: Context) -> None:
    test = c.new_client("test", c.once(deals).login_id)
    order = test.placed()
    expect_equal([each["id"] for each in test.everything()], [order["id"]], "The test list")


@check("read.hidden.rejected", need=Need.PRODUCTION)
def hidden_when_rejected(c: Context) -> None:
    found = c.once(deals)
    refused(found.client.order(found.web_rejected), "order_not_found")
