"""Watches the venue: whether it can be reached, and which instruments it trades."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterable

import structlog

from bullion.last_success import note_start, note_success

from .venue import Tradeability, Venue, cancelled_by_adapter

_EVERY_S = 0.5
_CALL_S = 2.0
_REACHED_AGE_S_MAX = 3.0
"""A venue that has not answered for this long cannot be reached."""
_TRADEABILITY_AGE_S_MAX = 10.0

_log = structlog.get_logger("hedge")


class VenueWatch:
    def __init__(
        self,
        venue: Venue,
        brokers: Callable[[], Iterable[str]],
        traded: Callable[[str], Collection[str]],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`traded`: the instruments that the symbols of a broker are hedged in."""
        self._venue = venue
        self._brokers = brokers
        self._traded = traded
        self._monotonic = monotonic
        self._reached_at: dict[str, float] = {}
        self._tradeability: dict[tuple[str, str], tuple[Tradeability, float]] = {}

    def reachable(self, broker: str) -> bool:
        reached_at = self._reached_at.get(broker)
        return reached_at is not None and self._monotonic() - reached_at <= _REACHED_AGE_S_MAX

    def tradeability(self, broker: str, instrument: str) -> Tradeability:
        """The venue's last answer; unknown if there is none, or it is too old."""
        said, at = self._tradeability.get((broker, instrument), (Tradeability.UNKNOWN, 0.0))
        return said if self._monotonic() - at <= _TRADEABILITY_AGE_S_MAX else Tradeability.UNKNOWN

    def answers(self, broker: str) -> dict[str, Tradeability]:
        """What the venue said about each instrument of its symbols; nothing while it cannot be reached."""
        if not self.reachable(broker):
            return {}
        known = (each for each in self._traded(broker) if (broker, each) in self._tradeability)
        return {each: self.tradeability(broker, each) for each in known}

    def has_new_instruments(self) -> bool:
        """Whether there are instruments that the venue was not asked about yet."""
        return any(
            (broker, each) not in self._tradeability
            for broker in self._brokers()
            for each in self._traded(broker)
        )

    async def check(self) -> None:
        """Check every broker's venue once, concurrently: one that hangs must not delay the others."""
        await asyncio.gather(*(self._check(broker, self._traded(broker)) for broker in self._brokers()))

    async def run(self) -> None:
        """Run for as long as the node does."""
        note_start("venue_watch")
        while True:
            await self.check()
            await asyncio.sleep(_EVERY_S)

    async def _check(self, broker: str, named: Collection[str]) -> None:
        asked_at = self._monotonic()
        try:
            async with asyncio.timeout(_CALL_S):
                answer = await self._venue.instruments(broker, named)
            said = {instrument: Tradeability(each) for instrument, each in answer.items()}
        except (Exception, asyncio.CancelledError) as error:
            # An error of the adapter counts as a venue that cannot be reached.
            if isinstance(error, asyncio.CancelledError) and not cancelled_by_adapter():
                raise
            if self._reached_at.pop(broker, None) is not None:
                _log.warning("venue_unreachable", broker=broker, error=str(error) or repr(error))
            return
        if broker not in self._reached_at:
            _log.info("venue_reached", broker=broker)
        self._reached_at[broker] = asked_at
        note_success("venue_watch")
        for instrument, each in said.items():
            self._tradeability[broker, instrument] = (each, asked_at)
