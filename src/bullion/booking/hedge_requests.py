"""The port to the hedge requests in the store: which node handles each, and what the venue answered.

A request is recorded with its order, in one transaction, and belongs to the node that recorded it until it is
due. From then on any node may claim it, so no order is forgotten if a node dies, and no two nodes send one.
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
    """How often the venue was asked without a final answer."""
    until_us: int
    """The time from which another node may claim it."""


class Waiting(msgspec.Struct, frozen=True):
    """How many requests wait for the venue, and since when the oldest does."""

    requests: int
    oldest_at_us: int | None
    broken: int
    """Breaks: requests whose answer contradicts the state of the order, and unmatched executions."""


class HedgeRequests(Protocol):
    """Every method may raise StoreFault."""

    async def claim(self, now_us: int, limit: int) -> Sequence[Claimed]:
        """Claim requests that are due, for the length of a lease."""

    async def postpone(self, order: Order, due_at_us: int, message: str) -> None:
        """Ask the venue again at that time. Does nothing if another node has claimed the request."""

    async def withdraw(self, order: Order) -> None:
        """Stop asking: the order was deleted, and the venue does not know it.

        If the venue executes it all the same, the reconciliation finds the execution, and it is a break.
        """

    async def answer(self, to_hedge: ToHedge, answer: FinalAnswer) -> Order:
        """Record the venue's final answer and change the order accordingly. Returns the changed order.

        An order that is no longer pending does not change. If the answer contradicts its state, the request
        is marked as broken, for the desk. A second execution is recorded apart from the request.
        """

    async def waiting(self) -> Waiting: ...
