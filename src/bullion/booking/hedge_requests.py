"""The port to the hedge requests in the store: who deals with each, and what the venue said.

A request is recorded with its order, in one transaction, and belongs to the node that recorded it until it is
due. From then on any node may claim it: no order is forgotten with a node that died, and none is sent by two.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from bullion.hedge.venue import Final
from bullion.orders.order import Order

from .attempt import ToHedge

LEASE_US = 5_000_000
"""For so long a request is its holder's alone."""


class Claimed(msgspec.Struct, frozen=True):
    """A request that is this node's to deal with, with its order as it is now."""

    to_hedge: ToHedge
    tries: int
    """How often the venue was asked in vain."""
    until_us: int
    """From then on another node may have it."""


class Waiting(msgspec.Struct, frozen=True):
    """How many requests wait for the venue's word, and since when the oldest does."""

    requests: int
    oldest_at_us: int | None
    broken: int
    """Breaks: requests whose venue contradicted what had become of the order, and unmatched executions."""


class HedgeRequests(Protocol):
    """Every method may raise StoreFault."""

    async def claim(self, now_us: int, limit: int) -> Sequence[Claimed]:
        """Take over requests that are due; they are this node's for the length of a lease."""

    async def postpone(self, order: Order, due_at_us: int, words: str) -> None:
        """The venue has no word yet: somebody asks again then. Nothing changes if it is another's by now."""

    async def withdraw(self, order: Order) -> None:
        """The order is gone, and the venue does not know it: nobody asks for it any more.

        An execution that is made all the same is found by the reconciliation, and is a break.
        """

    async def answer(self, to_hedge: ToHedge, word: Final) -> Order:
        """Write the venue's final word down, and make of the order what it says. The order as it is then.

        An order that is no longer pending stays as it is. Where the word contradicts what became of it, the
        request is marked as broken, for the desk to see. A second execution is kept apart from the request.
        """

    async def waiting(self) -> Waiting: ...
