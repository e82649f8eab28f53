"""Sums of orders for the desk: weights, values and results."""

from collections.abc import Iterable
from dataclasses import dataclass

from bullion.desk.desk import View
from bullion.metals.metal import Metal
from bullion.metals.rupees import rupees_text
from bullion.metals.weight import weight_text
from bullion.orders.status import Status
from bullion.records.orders import OrderSum

_NOT_SUMMED = frozenset({Status.REJECTED, Status.DELETED})
"""Nothing is booked of them."""


@dataclass(slots=True)
class _Sum:
    orders: int = 0
    quantity_e4: int = 0
    total_paise: int = 0
    realized_pnl_paise: int = 0


def sums(found: Iterable[OrderSum]) -> list[View]:
    """By environment, metal and side. Rejected and deleted orders are left out."""
    by_kind: dict[tuple[str, str, str], _Sum] = {}
    for each in found:
        if each.status in _NOT_SUMMED:
            continue
        kind = (each.environment.value, each.metal.value, each.trade_type)
        held = by_kind.setdefault(kind, _Sum())
        held.orders += each.orders
        held.quantity_e4 += each.quantity_e4
        held.total_paise += each.total_paise
        held.realized_pnl_paise += each.realized_pnl_paise
    return [
        {
            "environment": environment,
            "metal": metal,
            "trade_type": trade_type,
            "orders": held.orders,
            "quantity": weight_text(held.quantity_e4),
            "unit": Metal(metal).unit,
            "total": rupees_text(held.total_paise),
            "realized_pnl": rupees_text(held.realized_pnl_paise),
        }
        for (environment, metal, trade_type), held in sorted(by_kind.items())
    ]
