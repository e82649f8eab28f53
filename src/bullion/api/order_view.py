"""Orders written as JSON."""

from collections.abc import Sequence

from bullion.orders.life import can_change
from bullion.orders.order import Order
from bullion.orders.order_id import ordinal_of
from bullion.web.answer import encode_json

from .wire.orders import order_view

_KEPT_MAX = 20_000


class OrderViews:
    """Keeps the orders that can no longer change, so that the store need not be read for them."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int], tuple[str, bytes]] = {}

    def new(self, order: Order) -> bytes:
        """An order that was just placed. It is not kept: few are read again."""
        return encode_json(order_view(order))

    def one(self, order: Order) -> bytes:
        name = (order.book_id, order.ordinal)
        kept = self._kept.get(name)
        # After a restore of an older backup, another order can have the same ordinal.
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
        """The order if it is kept, else None."""
        kept = self._kept.get((book_id, ordinal_of(order_id)))
        return kept[1] if kept is not None and kept[0] == order_id else None

    def kept(self, book_id: int, ordinals: Sequence[int]) -> dict[int, bytes]:
        """Those of the orders that are kept."""
        known = self._kept
        return {each: known[book_id, each][1] for each in ordinals if (book_id, each) in known}
