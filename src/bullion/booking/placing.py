"""An order on its way into the book, and what may become of it."""

from asyncio import Future
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bullion.orders.order import Order, PriceMove
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Denied, Verdict

Settled = Order | PriceMove
"""What a key was settled by."""

KeyName = tuple[int, str, str]
"""Book, channel and idempotency key: what a key is unique within."""


class Booked(msgspec.Struct, frozen=True):
    order: Order
    replayed: bool = False
    compared: Mapping[str, Any] = {}
    """The values that the last checks compared, for the desk's eyes."""


Outcome = Booked | Denied


@dataclass(slots=True, eq=False)
class Placing:
    book_id: int
    source: str
    idempotency_key: str
    asked: PlaceOrder
    key_id: str | None
    request_id: str
    judge: Callable[[], Verdict]
    """Judges the order anew from what this node's memory holds then."""
    verdict: Verdict
    judged_by: int | None = None
    """The catalogue's version that the verdict, and the gate's word on the caller, were made by."""
    settled: Settled | None = None
    """What the store was found to hold under this key."""
    outcome: "Future[Outcome] | None" = field(default=None, repr=False)
    since_s: float = 0.0
    """By the loop's clock, since when it waits."""

    @property
    def waits(self) -> bool:
        """Whether nobody has answered it yet."""
        return self.outcome is not None and not self.outcome.done()

    @property
    def key_name(self) -> KeyName:
        return self.book_id, self.source, self.idempotency_key
