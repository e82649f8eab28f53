"""The port to the hedge requests in the store: which node handles each, and the venue's answer.

A request is recorded with its order, in one transaction, and leased to the node that recorded it. When the
lease ends, any node may claim it. So no order is forgotten if a node dies, and no two nodes send it at once.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from bullion.hedge.venue import FinalAnswer
from bullion.orders.order import Order

from .attempt import ToHedge

LEASE_US = 5_000_000
"""How long a request belongs to its holder alone."""


class Claimed(msgspec.Struct, frozen=True):
    """A request that this node handles, with its order as it is now."""

    to_hedge: ToHedge
    tries: int
    """How many calls to the venue ended without a final answer."""
    until_us: int
    """The time from which another node may claim it."""


class BookState(msgspec.Struct, frozen=True):
    """A hedge book, for the metrics."""

    broker: str
    metal: str
    residual_mg: int
    limit_mg: int


class HedgeBacklog(msgspec.Struct, frozen=True):
    """How many orders and covers wait for the venue, and since when the oldest does."""

    requests: int
    oldest_at_us: int | None
    breaks: int
    """Breaks: requests whose answer contradicts the state of the order, and unmatched executions."""
    partly_covered: int = 0
    """Orders whose rest waits for the desk's decision."""
    books: tuple[BookState, ...] = ()


class HedgeRequests(Protocol):
    """Every method may raise StoreFault."""

    async def claim(self, now_us: int, limit: int) -> Sequence[Claimed]:
        """Claim requests that are due, for the length of a lease."""

    async def postpone(self, order: Order, due_at_us: int, message: str) -> None:
        """Retry at that time. No-op if another node has claimed the request, or it waits for the desk."""

    async def withdraw(self, order: Order) -> None:
        """Close the request of a deleted order that the venue does not know.

        If the venue executes it later, the reconciliation finds the execution and records a break. If a part
        of it was filled before, the request is a break itself.
        """

    async def find(self, sent_id: str) -> ToHedge | None:
        """The order that was sent under that id, its own or a child's; None if none was."""

    async def answer(self, to_hedge: ToHedge, answer: FinalAnswer) -> Order:
        """Record the venue's final answer and change the order accordingly. Returns the changed order.

        An order that is no longer pending does not change. If the answer contradicts its state, the request
        is marked as broken, for the desk. A second execution is recorded apart from the request.

        After a partial fill the order stays pending: the rest is due at once, under the id of the next child.
        After `CHILDREN_MAX` children, or if one is declined, it waits for the desk. A rest that is too small
        for the venue is left to the hedge book, and the order becomes a deal.
        """

    async def backlog(self) -> HedgeBacklog: ...
