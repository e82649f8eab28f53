"""Orders that this node has just recorded, so that their events are sent without reading them back."""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from bullion.orders.order import Order

_KEPT_S = 5.0
_KEPT_MAX = 10_000


class RecentOrders:
    """Only of accounts whose events somebody waits for.

    For 5 to 10 seconds: after a restore from a backup, another order may have the same ordinal.
    """

    def __init__(
        self,
        is_watched: Callable[[int], bool],
        clock_s: Callable[[], float] = monotonic,
        failovers: Callable[[], int] = lambda: 0,
    ) -> None:
        """`failovers`: how often another server has taken over, which may lack the last orders."""
        self._failovers = failovers
        self._known_failovers = failovers()
        self._is_watched = is_watched
        self._clock_s = clock_s
        self._new: dict[tuple[int, int], Order] = {}
        self._old: dict[tuple[int, int], Order] = {}
        self._turn_at_s = 0.0

    def add(self, order: Order) -> None:
        if self._is_watched(order.book_id):
            self._turn()
            self._new[order.book_id, order.ordinal] = order

    def find(self, book_id: int, ordinals: Sequence[int]) -> Mapping[int, Order]:
        """Those that are known. Their status may be any that they had since."""
        self._turn()
        found: dict[int, Order] = {}
        for ordinal in ordinals:
            order = self._new.get((book_id, ordinal)) or self._old.get((book_id, ordinal))
            if order is not None:
                found[ordinal] = order
        return found

    def _turn(self) -> None:
        now_s = self._clock_s()
        if self._failovers() != self._known_failovers:
            self._known_failovers = self._failovers()
            self._new, self._old = {}, {}
        if now_s >= self._turn_at_s or len(self._new) >= _KEPT_MAX:
            # After a quiet time, both are too old.
            self._old = {} if now_s >= self._turn_at_s + _KEPT_S else self._new
            self._new = {}
            self._turn_at_s = now_s + _KEPT_S
