"""An order as people read it."""

from collections.abc import Sequence

from bullion_client import Order, ProductionOrder, TestOrder
from bullion_client.cli.figures import instant, rupees, text, weight
from bullion_client.cli.tables import Column, print_facts, print_table

_COLUMNS = (
    Column("deal"),
    Column("time", below=True),
    Column("side"),
    Column("quantity", right=True),
    Column("unit"),
    Column("symbol"),
    Column("price ₹", right=True),
    Column("total ₹", right=True),
    Column("status"),
    Column("id", below=True),
    Column("client order id", below=True),
)


def print_order(order: Order) -> None:
    """Everything about one order."""
    facts = [
        ("id", text(order.id)),
        ("environment", text(order.environment)),
        ("deal", _deal(order)),
        ("symbol", text(order.symbol_code)),
        ("side", text(order.trade_type)),
        ("quantity", f"{weight(order.quantity)} {text(order.unit)}"),
        ("price ₹", rupees(order.price)),
        ("total ₹", rupees(order.total)),
        ("status", text(order.status)),
        ("client order id", text(order.client_order_id)),
        ("created at", instant(order.created_at)),
    ]
    if isinstance(order, ProductionOrder):
        facts += [
            ("status detail", text(order.status_detail)),
            ("source", text(order.source)),
            ("close price ₹", rupees(order.close_price)),
            ("realized p&l ₹", rupees(order.realized_pnl)),
            ("closed at", instant(order.closed_at)),
        ]
    print_facts(facts)


def print_orders(orders: Sequence[Order]) -> None:
    """A line for each."""
    print_table(
        _COLUMNS,
        [
            [
                _deal(order),
                instant(order.created_at),
                text(order.trade_type),
                weight(order.quantity),
                text(order.unit),
                text(order.symbol_code),
                rupees(order.price),
                rupees(order.total),
                text(order.status),
                text(order.id),
                text(order.client_order_id),
            ]
            for order in orders
        ],
    )


def _deal(order: Order) -> str:
    """The operator's number of a deal, or the label that stands for it in test."""
    if isinstance(order, TestOrder):
        return text(order.deal_label)
    return text(order.deal_no if isinstance(order, ProductionOrder) else None)
