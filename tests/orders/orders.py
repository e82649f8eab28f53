"""An order in whatever state a test needs it."""

from typing import Any

from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Status

BOOKED_AT_US = 1_800_000_000_000_000


def order_in(status: Status, trade_type: str = "buy", quantity_e4: int = 25_000, **fields: Any) -> Order:
    """2.5 g of gold at 70000.00 per 10 g, unless the fields say otherwise."""
    given: dict[str, Any] = {
        "book_id": 3,
        "ordinal": 1,
        "id": "01a2b3c4-d5e6-7000-8000-000000000001",
        "source": "api",
        "idempotency_key": "k",
        "asked": PlaceOrder("GOLD", trade_type, quantity_e4, None, None),
        "metal": Metal.GOLD,
        "price_paise": 7_000_000,
        "total_paise": 1_750_000,
        "key_id": None,
        "request_id": "r",
        "created_at_us": BOOKED_AT_US,
        "price_anatomy": '{"quoted_weight":"10.0000"}',
    }
    return Order(status=status.value, **{**given, **fields})
