"""Commands for what clients did: their orders, and why each was taken or refused."""

import click

from bullion.desk.actions import orders, traces
from bullion.environment import Environment
from bullion.records.port import Page

from .session import Session, limit_option, offset_option, pass_session
from .tables import print_items, print_list, print_one

_COLUMNS = [
    "created_at",
    "environment",
    "login_id",
    "deal_label",
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
    print_list(found, _COLUMNS, as_json=session.as_json)


@orders_group.command("show")
@click.argument("order_id")
@pass_session
def _orders_show(session: Session, order_id: str) -> None:
    """Show one order: its events, what its price was made of, and why it was taken."""
    print_one(
        session.run(lambda desk, actor: orders.get_order(desk, actor, order_id)), as_json=session.as_json
    )


@click.group("traces")
def traces_group() -> None:
    """Why orders were taken or refused, call by call."""


@traces_group.command("list")
@click.option("--login", "login_id", metavar="LOGIN_ID", help="Only of this account.")
@click.option(
    "--outcome", metavar="CODE", help="Only this: filled, replayed, or a refusal such as limit_exceeded."
)
@limit_option
@pass_session
def _traces_list(session: Session, login_id: str | None, outcome: str | None, limit: int) -> None:
    """List the newest decisions on orders, newest first.

    \b
    Examples:
      bullion desk traces list --login aurum --limit 10
      bullion desk traces list --outcome stale_rate
    """
    found = session.run(lambda desk, actor: traces.list_traces(desk, actor, login_id, outcome, limit))
    columns = [
        "at",
        "environment",
        "login_id",
        "outcome",
        "asked.symbol_code",
        "asked.trade_type",
        "asked.quantity",
        "message",
        "request_id",
    ]
    print_items(found, columns, as_json=session.as_json)


@traces_group.command("show")
@click.argument("request_id")
@pass_session
def _traces_show(session: Session, request_id: str) -> None:
    """Show the decision on one call, by the X-Request-Id that its client got."""
    print_one(
        session.run(lambda desk, actor: traces.get_trace(desk, actor, request_id)), as_json=session.as_json
    )
