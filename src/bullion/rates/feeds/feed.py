"""The port to a feed, and its runner: one node at a time publishes for all."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import structlog

from bullion.faults import StoreFault
from bullion.last_success import note_start, note_success
from bullion.rates.board import MARKET, Board
from bullion.rates.source import TickPublisher
from bullion.rates.tick import Tick

_EVERY_S = 0.5
_LEASE_S = 2.0
"""If the node dies, another one takes over after this long."""

_log = structlog.get_logger("feed")


class Feed(Protocol):
    def resume(self, ticks: Iterable[Tick]) -> None:
        """Continue from what was published last, by any node."""

    def step(self, now_us: int) -> Sequence[Tick]:
        """The next set of ticks."""


class FeedRunner:
    def __init__(
        self, feed: Feed, publisher: TickPublisher, board: Board, now_us: Callable[[], int], holder: str
    ) -> None:
        self._feed = feed
        self._publisher = publisher
        self._board = board
        self._now_us = now_us
        self._holder = holder
        self._running = False
        self._failing = False

    async def run(self) -> None:
        """Publish in the background while this node has the lease, until cancelled."""
        note_start("feed")
        while True:
            try:
                if not self._running:
                    self._feed.resume(self._board.ticks(MARKET))
                held = await self._publisher.publish(self._holder, _LEASE_S, self._feed.step(self._now_us()))
            except StoreFault as fault:
                if not self._failing:
                    _log.warning("feed_not_published", fault=repr(fault))
                self._failing, held = True, False
            else:
                self._failing = False
                note_success("feed")
            if held and not self._running:
                _log.info("feed_started")
            self._running = held
            await asyncio.sleep(_EVERY_S)
