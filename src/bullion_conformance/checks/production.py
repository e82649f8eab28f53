"""The states of production orders, the ways between them, and who sees which."""

from decimal import Decimal

from bullion_conformance.check import Need, check
from bullion_conformance.client import ACCEPTED, CREATED, body_of, refused, value_of
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import deals, gold_buy, waited_in_vain, waiting
from bullion_conformance.shapes import decimal, instant
from bullion_conformance.verdict import CheckFailed, expect

SLOW = 3.0
"""A service waits a while for its hedge before it answers `pending`."""


@check("states.test.created-filled", "orders.test.created")
def a_test_order_is_made_filled(c: Context) -> None:
    found = body_of(c.once(gold_buy).answer, CREATED)
    expect(
        found.get("status") == "filled", f"A new test order is {found.get('status')!r}; expected 'filled'."
    )


@check("states.pending.counts", "allocation.pending", need=Need.PRODUCTION, waits_s=SLOW)
def pending_orders_count(c: Context) -> None:
    found = c.once(waiting)
    net = decimal(found.net_meanwhile, "net")
    expect(net == 3, f"Three pending buys of 1 g made `net` {net}; expected 3.")
    refused(found.beyond, "limit_exceeded")


@check("states.open.booked", need=Need.PRODUCTION)
def open_orders_have_a_price(c: Context) -> None:
    decimal(value_of(c.once(deals).open, "price"), "price")


@check("states.closed.fields", need=Need.PRODUCTION)
def closed_orders_have_their_closing(c: Context) -> None:
    closed = c.once(deals).closed
    price = decimal(value_of(closed, "close_price"), "close_price")
    expect(price == Decimal("71300.00"), f"It was closed at 71300.00; `close_price` is {price}.")
    decimal(value_of(closed, "realized_pnl"), "realized_pnl")
    instant(value_of(closed, "closed_at"), "closed_at")


@check("states.rejected.nothing-booked", need=Need.PRODUCTION)
def rejected_orders_do_not_count(c: Context) -> None:
    before, after = c.once(deals).net_after_rejection.split()
    expect(before == after, f"Orders that the hedge refused moved `net` from {before} to {after}.")


@check("transitions.new-open", need=Need.PRODUCTION)
def booked_at_once_is_201(c: Context) -> None:
    order = body_of(c.once(deals).opening, CREATED)
    expect(
        order.get("status") == "open", f"An order booked at once is {order.get('status')!r}; expected 'open'."
    )


@check("transitions.new-pending", need=Need.PRODUCTION)
def waiting_for_the_hedge_is_202(c: Context) -> None:
    order = body_of(c.once(waiting).placing, ACCEPTED)
    expect(
        order.get("status") == "pending",
        f"An order answered 202 is {order.get('status')!r}; expected 'pending'.",
    )


@check("transitions.confirmed", need=Need.PRODUCTION)
def confirmed_is_open(c: Context) -> None:
    found = c.once(waiting)
    expect(found.pending["status"] == "pending", f"It read {found.pending['status']} while it waited.")
    decimal(value_of(found.opened, "price"), "price")


@check("transitions.refused", need=Need.PRODUCTION, waits_s=SLOW)
def refused_is_rejected(c: Context) -> None:
    found = c.once(waited_in_vain)
    _rejection(found.replay, found.pending["id"])


@check("transitions.refused.answer", need=Need.PRODUCTION)
def a_refusal_of_the_hedge_is_409(c: Context) -> None:
    _rejection(c.once(deals).rejection)


@check("transitions.refused.replay", need=Need.PRODUCTION)
def a_refusal_is_replayed(c: Context) -> None:
    found = c.once(deals)
    first, again = _rejection(found.rejection), _rejection(found.rejection_again)
    expect(
        again == first,
        f"The replay of a refused order answered other fields: {again} instead of {first}.",
    )


def _rejection(answer: Exchange, order_id: str | None = None) -> dict[str, object]:
    detail = refused(answer, "order_rejected")
    order = detail.get("order")
    if not isinstance(order, dict):
        raise CheckFailed("order_rejected came without `detail.order`.")
    expect(detail.get("order_id") == order.get("id"), "`detail.order_id` is not the id of `detail.order`.")
    expect(
        order.get("status") == "rejected", f"`detail.order` is {order.get('status')!r}; expected 'rejected'."
    )
    expect(
        order_id in (None, order["id"]), f"Order {order_id} was refused; the answer tells of {order['id']}."
    )
    return order


@check("transitions.closing", need=Need.PRODUCTION)
def closed_by_the_operator_is_closing(c: Context) -> None:
    status = c.once(deals).was_closing["status"]
    expect(
        status == "closing", f"An open order that the operator closes reads {status!r}; expected 'closing'."
    )


@check("transitions.closed", need=Need.PRODUCTION)
def completed_is_closed(c: Context) -> None:
    status = c.once(deals).closed["status"]
    expect(status == "closed", f"A closing that the operator completed reads {status!r}; expected 'closed'.")


@check("transitions.whole-way", need=Need.PRODUCTION)
def the_whole_way(c: Context) -> None:
    found = c.once(waiting)
    way = [order["status"] for order in (found.pending, found.opened, found.closing, found.closed)]
    expect(way == ["pending", "open", "closing", "closed"], f"The order's way was {' → '.join(way)}.")


@check("states.deleted.readable", need=Need.PRODUCTION)
def deleted_orders_can_be_read(c: Context) -> None:
    status = c.once(deals).deleted["status"]
    expect(status == "deleted", f"An order that the operator removed reads {status!r}; expected 'deleted'.")


@check("polling.stop", need=Need.PRODUCTION)
def polling_ends(c: Context) -> None:
    found = c.once(waiting)
    ends = (found.opened["status"], found.deleted["status"], c.once(waited_in_vain).rejected["status"])
    expect(ends == ("open", "deleted", "rejected"), f"Orders that were pending ended as {', '.join(ends)}.")


# --- Visibility -----------------------------------------------------------------------------------------


@check("visibility.channels", need=Need.PRODUCTION)
def other_channels_are_listed(c: Context) -> None:
    found = c.once(deals)
    sources = {order["id"]: order.get("source") for order in found.client.everything()}
    for order, source in ((found.open, "api"), (found.web, "web")):
        shown = sources.get(order["id"])
        expect(
            shown == source,
            f"An open order from {source} is listed with source {shown!r}; expected {source!r}.",
        )


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
    expect(
        found.rejection.detail.get("order_id") in ids,
        "A rejected order placed through the API is not listed.",
    )


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
    shown = statuses.get(found.web_id)
    expect(shown == "open", f"A confirmed order from the web is listed as {shown!r}; expected 'open'.")


@check("visibility.test", need=Need.PRODUCTION, orders=1)
def the_test_list_has_test_orders_only(c: Context) -> None:
    test = c.new_client("test", c.once(deals).login_id)
    order = test.placed()
    found = [each["id"] for each in test.everything()]
    expect(
        found == [order["id"]], f"The test list of an account with one test order has {len(found)} orders."
    )


@check("read.hidden.pending", need=Need.PRODUCTION)
def hidden_while_pending(c: Context) -> None:
    refused(c.once(waiting).web_meanwhile, "order_not_found")


@check("read.hidden.rejected", need=Need.PRODUCTION)
def hidden_when_rejected(c: Context) -> None:
    found = c.once(deals)
    refused(found.client.order(found.web_rejected), "order_not_found")
