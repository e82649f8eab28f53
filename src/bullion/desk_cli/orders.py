"""Commands for orders: looking through them, placing them for clients, and what becomes of them."""

import click

from bullion.desk import conversion
from bullion.desk.actions import order_life, orders
from bullion.desk.actions.place_order import Placed, place_order
from bullion.desk.bodies import CompleteBody, PlaceOrderBody, ReasonBody
from bullion.desk.desk import Desk, View
from bullion.environment import Environment
from bullion.records.page import Page
from bullion.records.token import Actor
from bullion.web.answer import new_request_id

from .session import Session, confirm, limit_option, offset_option, pass_session, yes_option
from .tables import print_list, print_one

_COLUMNS = [
    "created_at",
    "environment",
    "login_id",
    "deal",
    "symbol_code",
    "trade_type",
    "quantity",
    "unit",
    "price",
    "total",
    "status",
    "client_order_id",
    "id",
]

_TOLD = [
    "id",
    "login_id",
    "source",
    "symbol_code",
    "trade_type",
    "quantity",
    "unit",
    "price",
    "total",
    "status",
    "deal_no",
    "close_price",
    "realized_pnl",
    "closed_at",
]
"""What somebody wants to see who has just done something to an order; `show` has the rest."""


@click.group("orders")
def orders_group() -> None:
    """Orders of all accounts."""


@orders_group.command("list")
@click.option(
    "--environment", type=click.Choice([each.value for each in Environment]), help="Only of this one."
)
@click.option("--login", "login_id", metavar="LOGIN_ID", help="Only of this account.")
@click.option("--status", type=click.Choice(orders.STATUSES), help="Only in this state.")
@click.option("--symbol", "symbol_code", metavar="CODE", help="Only of this symbol.")
@click.option("--source", help="Only from this channel, such as api.")
@click.option("--client-order-id", metavar="TEXT", help="Only with this reference of the client's.")
@click.option("--request-id", metavar="ID", help="Only what the call with this X-Request-Id booked.")
@click.option("--since", metavar="TIME", help="Only from this time on, in ISO 8601.")
@limit_option
@offset_option
@pass_session
def _orders_list(session: Session, /, limit: int, offset: int, **filters: str | None) -> None:
    """List orders, newest first. Archived test orders are left out.

    \b
    Examples:
      bullion desk orders list --login aurum --since 2026-11-09
      bullion desk orders list --client-order-id PO-1842
      bullion desk --json orders list --environment test --limit 200
    """
    found = session.run(lambda desk, actor: orders.list_orders(desk, actor, filters, Page(limit, offset)))
    if session.as_json:
        print_list(found, [], as_json=True)
        return
    items, total = found
    numbered = [{**each, "deal": each["deal_no"] or each["deal_label"]} for each in items]
    print_list((numbered, total), _COLUMNS, as_json=False)


@orders_group.command("show")
@click.argument("order_id")
@pass_session
def _orders_show(session: Session, order_id: str) -> None:
    """Show one order: its events, what its price was made of, and why it was taken."""
    print_one(
        session.run(lambda desk, actor: orders.get_order(desk, actor, order_id)), as_json=session.as_json
    )


@orders_group.command("place")
@click.argument("login_id")
@click.option("--symbol", "symbol_code", metavar="CODE", required=True, help="What is traded.")
@click.option(
    "--side", "trade_type", type=click.Choice(["buy", "sell"]), required=True, help="The client's side."
)
@click.option("--quantity", required=True, help="The weight, in the symbol's unit.")
@click.option("--source", required=True, help="The channel the order came by, such as phone or web.")
@click.option(
    "--key",
    "idempotency_key",
    required=True,
    help="A name of your own for this order. The same again shows the order and books nothing.",
)
@click.option("--expected-price", metavar="RUPEES", help="Refuse it if the price is too far from this.")
@click.option("--client-order-id", metavar="TEXT", help="The client's own reference.")
@pass_session
def _orders_place(session: Session, /, **fields: str | None) -> None:
    """Place a production order for the account LOGIN_ID.

    It goes the way of the client's own orders: the same checks, price, allocation and venue.

    \b
    Example:
      bullion desk orders place aurum --symbol GOLD --side buy --quantity 100 --source phone --key call-1842
    """

    async def work(desk: Desk, actor: Actor) -> Placed:
        body = conversion.convert(fields, PlaceOrderBody)
        return await place_order(desk, actor, body, new_request_id().decode("ascii"))

    placed = session.run(work, trading=True)
    _print_order(session, placed.order)
    if placed.replayed:
        click.echo("Nothing was booked now: this key had placed the order already.", err=True)
    elif placed.pending:
        click.echo("It is pending: nobody has confirmed its hedge yet.", err=True)


@orders_group.command("close")
@click.argument("order_id")
@pass_session
def _orders_close(session: Session, order_id: str) -> None:
    """Begin to close an order that is open."""
    _print_order(session, session.run(lambda desk, actor: order_life.close_order(desk, actor, order_id)))


@orders_group.command("complete")
@click.argument("order_id")
@click.option("--price", "close_price", metavar="RUPEES", required=True, help="The closing rate.")
@yes_option
@pass_session
def _orders_complete(session: Session, order_id: str, close_price: str, yes: bool) -> None:
    """Complete the closing of an order, at a price. Its profit or loss follows from that, for good."""
    words = _words(session, order_id, yes)
    confirm(f"Close the order {words} at {close_price}, for good? Compare the two prices.", yes=yes)

    async def work(desk: Desk, actor: Actor) -> View:
        body = conversion.convert({"close_price": close_price}, CompleteBody)
        return await order_life.complete_order(desk, actor, order_id, body)

    _print_order(session, session.run(work))


@orders_group.command("delete")
@click.argument("order_id")
@click.option("--reason", metavar="TEXT", help="Kept with the order.")
@yes_option
@pass_session
def _orders_delete(session: Session, order_id: str, reason: str | None, yes: bool) -> None:
    """Remove an order that is pending, open or closing.

    It counts no longer, and can still be read. A fill that the venue reports later is shown as a break.
    """
    words = _words(session, order_id, yes)
    confirm(
        f"Delete the order {words}? It cannot be undone. What the venue covered for it, or still covers, "
        "stays: a fill of a pending order that comes later is shown as a break.",
        yes=yes,
    )

    async def work(desk: Desk, actor: Actor) -> View:
        return await order_life.delete_order(desk, actor, order_id, _reason(reason))

    _print_order(session, session.run(work))


@orders_group.command("confirm")
@click.argument("order_id")
@click.option("--reason", metavar="TEXT", help="Such as the ticket of the cover. Kept with the order.")
@pass_session
def _orders_confirm(session: Session, order_id: str, reason: str | None) -> None:
    """Confirm that a pending order is hedged: it becomes a deal. With BULLION_HEDGE=desk alone."""

    async def work(desk: Desk, actor: Actor) -> View:
        return await order_life.confirm_order(desk, actor, order_id, _reason(reason))

    _print_order(session, session.run(work))


@orders_group.command("refuse")
@click.argument("order_id")
@click.option("--reason", metavar="TEXT", help="Kept with the order.")
@pass_session
def _orders_refuse(session: Session, order_id: str, reason: str | None) -> None:
    """Refuse to hedge a pending order: nothing is booked. With BULLION_HEDGE=desk alone."""

    async def work(desk: Desk, actor: Actor) -> View:
        return await order_life.refuse_order(desk, actor, order_id, _reason(reason))

    _print_order(session, session.run(work))


def _reason(text: str | None) -> ReasonBody:
    return conversion.convert({"reason": text}, ReasonBody)


def _words(session: Session, order_id: str, yes: bool) -> str:
    """Which order it is, for whoever is asked about it."""
    if yes:
        return order_id
    order = session.run(lambda desk, actor: orders.get_order(desk, actor, order_id))
    told = "{login_id}: {trade_type} {quantity} {unit} {symbol_code} at {price}, {status}".format(**order)
    return f"{order_id} ({told})"


def _print_order(session: Session, order: View) -> None:
    print_one(order if session.as_json else {name: order[name] for name in _TOLD}, as_json=session.as_json)
