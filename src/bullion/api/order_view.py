"""An order as clients read it."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from bullion.allocation.book import environment_of
from bullion.metals.rupees import rupees_text
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.orders.life import can_change
from bullion.orders.order import Order
from bullion.orders.order_id import ordinal_of
from bullion.orders.status import DETAILS, Status
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


class ProductionOrder(msgspec.Struct, frozen=True):
    """The fields of a production order, in the specification's order."""

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
    deal_no: int | None
    status_detail: str
    source: str
    close_price: str | None
    realized_pnl: str | None
    closed_at: str | None


def order_view(order: Order) -> TestOrder | ProductionOrder:
    asked = order.asked
    common = (
        order.id,
        environment_of(order.book_id),
        asked.symbol_code,
        asked.trade_type,
        weight_text(asked.quantity_e4),
        order.metal.unit,
    )
    created_at = _instant_text(order.created_at_us)
    price, total = rupees_text(order.price_paise), rupees_text(order.total_paise)
    if order.status == Status.FILLED:
        label = f"T-{order.ordinal}"
        return TestOrder(*common, price, total, order.status, asked.client_order_id, created_at, label)
    booked = order.deal_no is not None
    return ProductionOrder(
        *common,
        price=price if booked else None,
        total=total if booked else None,
        status=order.status,
        client_order_id=asked.client_order_id,
        created_at=created_at,
        deal_no=order.deal_no,
        status_detail=DETAILS[Status(order.status)],
        source=order.source,
        close_price=None if order.close_price_paise is None else rupees_text(order.close_price_paise),
        realized_pnl=None if order.realized_pnl_paise is None else rupees_text(order.realized_pnl_paise),
        closed_at=None if order.closed_at_us is None else _instant_text(order.closed_at_us),
    )


class OrderViews:
    """Orders written out as JSON; those that can no longer change are kept, for pages are read again."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int], tuple[str, bytes]] = {}

    def new(self, order: Order) -> bytes:
        """One that was just placed, and is not kept: few are read again."""
        return encode_json(order_view(order))

    def one(self, order: Order) -> bytes:
        name = (order.book_id, order.ordinal)
        kept = self._kept.get(name)
        # Another order may be in its place, where the store was put back to an older copy.
        if kept is not None and kept[0] == order.id:
            return kept[1]
        written = encode_json(order_view(order))
        if can_change(order):
            return written
        if len(self._kept) >= _KEPT_MAX:
            self._kept.clear()
        self._kept[name] = (order.id, written)
        return written

    def of_id(self, book_id: int, order_id: str) -> bytes | None:
        """One that need not be read; None where that is not known."""
        kept = self._kept.get((book_id, ordinal_of(order_id)))
        return kept[1] if kept is not None and kept[0] == order_id else None

    def kept(self, book_id: int, ordinals: Sequence[int]) -> dict[int, bytes]:
        """Those that need not be read."""
        known = self._kept
        return {each: known[book_id, each][1] for each in ordinals if (book_id, each) in known}


_instant_text = lru_cache(maxsize=4096)(instant_text)
"""Orders of one batch share their time, and pages are read again."""
