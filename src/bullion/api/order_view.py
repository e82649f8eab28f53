"""An order as clients read it."""

from functools import lru_cache

import msgspec

from bullion.allocation.book import environment_of
from bullion.metals.rupees import rupees_text
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.orders.order import Order


class TestOrder(msgspec.Struct, frozen=True):
    """The fields of a test order, in the specification's order."""

    id: str
    environment: str
    symbol_code: str
    trade_type: str
    quantity: str
    unit: str
    price: str | None
    total: str | None
    status: str
    client_order_id: str | None
    created_at: str
    deal_label: str


def order_view(order: Order) -> TestOrder:
    asked = order.asked
    return TestOrder(
        id=order.id,
        environment=environment_of(order.book_id).value,
        symbol_code=asked.symbol_code,
        trade_type=asked.trade_type,
        quantity=weight_text(asked.quantity_e4),
        unit=order.metal.unit,
        price=rupees_text(order.price_paise),
        total=rupees_text(order.total_paise),
        status=order.status,
        client_order_id=asked.client_order_id,
        created_at=_instant_text(order.created_at_us),
        deal_label=f"T-{order.ordinal}",
    )


_instant_text = lru_cache(maxsize=4096)(instant_text)
"""Orders of one batch share their time, and pages are read again."""
