"""An order as clients read it."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from bullion.allocation.book import environment_of
from bullion.metals.rupees import rupees_text
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.orders.order import Order
from bullion.web.answer import encode_json

_KEPT_MAX = 20_000


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


class OrderViews:
    """Orders written out as JSON, kept for as long as they can no longer change: pages are read again."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int], tuple[str, bytes]] = {}

    def one(self, order: Order) -> bytes:
        name = (order.book_id, order.ordinal)
        kept = self._kept.get(name)
        # Another order may be in its place, where the store was put back to an older copy.
        if kept is not None and kept[0] == order.id:
            return kept[1]
        written = encode_json(order_view(order))
        if len(self._kept) >= _KEPT_MAX:
            self._kept.clear()
        self._kept[name] = (order.id, written)
        return written

    def kept(self, book_id: int, ordinals: Sequence[int]) -> dict[int, bytes]:
        """Those that need not be read."""
        known = self._kept
        return {each: known[book_id, each][1] for each in ordinals if (book_id, each) in known}


_instant_text = lru_cache(maxsize=4096)(instant_text)
"""Orders of one batch share their time, and pages are read again."""
