"""Prints orders."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from decimal import Decimal

from bullion_client import Order, ProductionOrder, TestOrder
from bullion_client.cli.formatting import instant, rupees, text, weight
from bullion_client.cli.tables import Column, print_facts, print_table, table_lines


def print_order(order: Order) -> None:
    """Print all fields of one order."""
    known = {
        "id": ("id", text(order.id)),
        "environment": ("environment", text(order.environment)),
        "deal_no": ("deal", deal(order)),
        "symbol_code": ("symbol", text(order.symbol_code)),
        "trade_type": ("side", text(order.trade_type)),
        "quantity": ("quantity", f"{weight(order.quantity)} {text(order.unit)}"),
        "price": ("price ₹", rupees(order.price)),
        "total": ("total ₹", rupees(order.total)),
        "status": ("status", text(order.status)),
        "client_order_id": ("client order id", text(order.client_order_id)),
        "created_at": ("created at", instant(order.created_at)),
    }
    if isinstance(order, ProductionOrder):
        known |= {
            "status_detail": ("status detail", text(order.status_detail)),
            "source": ("source", text(order.source)),
            "close_price": ("close price ₹", rupees(order.close_price)),
            "realized_pnl": ("realized p&l ₹", rupees(order.realized_pnl)),
            "closed_at": ("closed at", instant(order.closed_at)),
        }
    shown = {*known, "unit", "deal_label"}
    others = [each.name for each in fields(order) if each.name not in shown]
    print_facts(
        [*known.values(), *((name.replace("_", " "), _written(getattr(order, name))) for name in others)]
    )


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return instant(value)
    return weight(value) if isinstance(value, Decimal) else text(value)


def order_lines(orders: Sequence[Order]) -> list[str]:
    """The heading and a line per order, without the long columns."""
    return table_lines([column for column in _COLUMNS if not column.below], orders)


def print_orders(orders: Sequence[Order]) -> None:
    """Print a line per order."""
    print_table(_COLUMNS, orders)


def deal(order: Order) -> str:
    """The deal number, or in test the deal label."""
    if isinstance(order, TestOrder):
        return text(order.deal_label)
    return text(order.deal_no if isinstance(order, ProductionOrder) else None)


_COLUMNS = (
    Column("deal", deal),
    Column("time", lambda order: instant(order.created_at), below=True),
    Column("side", lambda order: text(order.trade_type)),
    Column("quantity", lambda order: weight(order.quantity), right=True),
    Column("unit", lambda order: text(order.unit)),
    Column("symbol", lambda order: text(order.symbol_code)),
    Column("price ₹", lambda order: rupees(order.price), right=True),
    Column("total ₹", lambda order: rupees(order.total), right=True),
    Column("status", lambda order: text(order.status)),
    Column("id", lambda order: text(order.id), below=True),
    Column("client order id", lambda order: text(order.client_order_id), below=True),
)
