"""The ports to the store behind the board."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from bullion.unreadable import Unreadable

from .tick import Tick


class TickSet(msgspec.Struct, frozen=True):
    """Ticks, each with its broker's tag (or the market's), and the store's version of them."""

    version: int
    ticks: Sequence[tuple[str, Tick]]
    unreadable: Sequence[Unreadable] = ()
    whole: bool = False
    """True if memory must be cleared first."""


class RatesSource(Protocol):
    async def ticks(self, since: int | None) -> TickSet:
        """All ticks, or those that came after a version. May raise StoreFault."""

    async def wait_for_change(self, timeout_s: float) -> None:
        """Return when there may be new ticks, at the latest after `timeout_s` seconds."""


class TickPublisher(Protocol):
    async def publish(self, holder: str, lease_s: float, ticks: Sequence[Tick]) -> bool:
        """Publish the market's ticks to all nodes. False if another node holds the feed's lease.

        The lease is taken or renewed in the same step, so that two nodes never both publish.
        May raise StoreFault.
        """
