"""Where the CPU time of a cover goes: the parts of the FIX adapter, each timed while it works."""

import contextlib
import time
from collections.abc import Callable, Iterator
from statistics import quantiles
from typing import Any

from bullion.hedge.fix.codec import Decoder
from bullion.hedge.fix.connection import FixConnection
from bullion.hedge.fix.order_factory import OrderFactory
from bullion.hedge.fix.orders import OrderTracker
from bullion.hedge.fix.session import Session

PARTS: dict[str, tuple[tuple[type, str], ...]] = {
    "parse two reports": ((Decoder, "feed"),),
    "session: check and number two reports": ((Session, "received"),),
    "order tracker: what two reports say": ((OrderTracker, "received"),),
    "make the order": ((OrderFactory, "order"), (OrderTracker, "new_order")),
    "session: number and encode the order": ((Session, "send"),),
    "write to the socket": ((FixConnection, "_write"),),
}
REST = "venue, tasks and event loop"


class CoverParts:
    """CPU nanoseconds of each part, cover by cover."""

    def __init__(self) -> None:
        self._now = dict.fromkeys(PARTS, 0)
        self._covers: list[dict[str, int]] = []

    def end_cover(self) -> None:
        self._covers.append(dict(self._now))
        self._now = dict.fromkeys(PARTS, 0)

    def us(self) -> dict[str, float]:
        """Of the covers that the rest of the machine disturbed least, a tenth of them."""
        return {part: quantiles((each[part] for each in self._covers), n=10)[0] / 1000 for part in PARTS}

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        before = [(cls, name, getattr(cls, name)) for each in PARTS.values() for cls, name in each]
        for part, methods in PARTS.items():
            for cls, name in methods:
                setattr(cls, name, self._timing(part, getattr(cls, name)))
        try:
            yield
        finally:
            for cls, name, method in before:
                setattr(cls, name, method)

    def _timing(self, part: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*values: Any) -> Any:
            began_ns = time.thread_time_ns()
            result = method(*values)
            self._now[part] += time.thread_time_ns() - began_ns
            return result

        return timed
