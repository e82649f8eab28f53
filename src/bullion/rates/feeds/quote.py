"""What sources of live rates deliver, and the port to them."""

from collections.abc import Callable
from typing import Protocol

import msgspec


class Quote(msgspec.Struct, frozen=True):
    """What one source says about one of our instruments. A side of None is not quoted."""

    source: str
    instrument: str
    bid_e6: int | None
    ask_e6: int | None
    at_us: int | None
    """The source's own time; None if it sends none."""
    received_us: int
    in_order: bool = False
    """Whether its line keeps the order: it replaces what came before, even with an earlier time."""

    @property
    def level_e6(self) -> int:
        """Bid plus ask: twice the middle, so that it stays a whole number."""
        return (self.bid_e6 or 0) + (self.ask_e6 or 0)


class Alive(msgspec.Struct, frozen=True):
    """The line works and says nothing new: the quotes that stand are still valid."""

    source: str
    received_us: int


class Unreadable(msgspec.Struct, frozen=True):
    """A message that could not be read. With an instrument, its last quote is no longer confirmed."""

    source: str
    instrument: str | None
    received_us: int


Item = Quote | Alive | Unreadable
Take = Callable[[Item], None]


class Source(Protocol):
    name: str

    async def run(self, take: Take) -> None:
        """Connect, and hand over what arrives. Returns or raises `SourceLost` when the line is lost."""


class SourceLost(Exception):
    """The line to a source was lost, or could not be opened. The message contains no secret."""


class Hours(Protocol):
    """A timetable, such as `bullion.accounts.trading_hours.TradingHours`."""

    def is_open(self, at_us: int) -> bool: ...


def apart(level_e6: int, other_e6: int, bps: int) -> bool:
    """Whether two levels differ by more than so many ten-thousandths of the second."""
    return abs(level_e6 - other_e6) * 10_000 > bps * other_e6
