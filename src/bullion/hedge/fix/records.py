"""The port to what a line keeps in the store: orders before they are sent, outcomes before they count."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from bullion.hedge.venue import Fill, FinalAnswer, ListedExecution

from .order_effects import FillSeen, LineBreak, LineOrder, OrderFinal, OrderSeen, Seen


class StoredOrder(msgspec.Struct, frozen=True):
    """An order that was sent on the line, and what was seen of it."""

    order: LineOrder
    fills: tuple[Fill, ...] = ()
    answer: FinalAnswer | None = None
    filled_e8: int = 0
    unknown: bool = False
    """The venue proved that it does not know it: it may be sent again."""
    elsewhere: str = ""
    """The line that it was sent on, if that is another one."""
    seen: Seen | None = None


Learned = FillSeen | OrderFinal | OrderSeen | LineBreak


class LineRecords(Protocol):
    """The records of one line. Every method may raise StoreFault."""

    async def claim(self, order: LineOrder, at_us: int) -> LineOrder | None:
        """Record that it is about to be sent. Returns it with its ClOrdID, and with how often it was sent.

        None: it was recorded before, and it is not proven that the venue does not know it.
        """

    async def release(self, order: LineOrder) -> None:
        """The venue does not know it: it may be claimed again. No-op if it was claimed again already."""

    async def find(self, order_id: str) -> StoredOrder | None:
        """Also on another line, which the market file had for the broker before."""

    async def find_sent(self, client_order_id: str) -> StoredOrder | None: ...

    async def find_seen(self, name: str) -> Seen | None: ...

    async def unsettled(self) -> Sequence[StoredOrder]:
        """Orders that were sent and have no final answer, the oldest first."""

    async def learn(self, learned: Sequence[Learned], at_us: int) -> None:
        """Record it in one transaction. What is recorded already does not change."""

    async def executions(self, after: int, limit: int, line: str = "") -> Sequence[ListedExecution]:
        """Filled orders, and executions that belong to none, in the order in which they were learned. `line`:
        another one, which the market file had for the broker before."""
