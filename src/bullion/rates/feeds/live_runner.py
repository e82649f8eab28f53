"""Runs the live feed on the node that holds its lease: lines to the sources, and publication."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.last_success import note_start, note_success
from bullion.rates.board import MARKET, Board
from bullion.rates.source import TickPublisher

from .live_feed import LiveFeed
from .quote import Item, Source, SourceLost
from .source_settings import GuardNumbers
from .status import FeedStatus

_LEASE_S = 4.0
"""If the node dies, another one takes over after this long."""
_PUBLISH_S = 0.25
_URGENT_S = 0.05
"""The shortest time between two publications."""
_LEASE_RETRY_S = 0.5
_CONTROLS_S = 1.0
_RETRY_S = 0.5
_RETRY_S_MAX = 30.0
_STEADY_S = 60.0
"""A line that lasted so long is tried again at once after a loss."""
_RELEASE_US_MAX = 10_000_000
"""An older release of the desk was for another moment, and perhaps for another node."""

_log = structlog.get_logger("feed")


class Release(msgspec.Struct, frozen=True):
    """The desk believes what is held, near this level."""

    source: str
    instrument: str
    level_e6: int
    at_us: int


class Preference(msgspec.Struct, frozen=True):
    source: str
    at_us: int


class Controls(msgspec.Struct, frozen=True):
    """What the desk has asked of the feed."""

    preferences: Mapping[str, Preference] = {}
    """By instrument."""
    releases: Sequence[Release] = ()
    guards: Mapping[str, GuardNumbers] = {}
    """By instrument."""


class FeedControls(Protocol):
    async def exchange(self, status: FeedStatus) -> Controls:
        """Tell the desk how the feed is, and learn what it asks. May raise StoreFault."""

    async def last_status(self) -> FeedStatus | None:
        """What a node said last; None if it is not known. May raise StoreFault."""


class LiveFeedRunner:
    def __init__(
        self,
        feed: LiveFeed,
        sources: Sequence[Source],
        publisher: TickPublisher,
        controls: FeedControls,
        board: Board,
        now_us: Callable[[], int],
        holder: str,
    ) -> None:
        self.feed = feed
        self._sources = sources
        self._publisher = publisher
        self._controls = controls
        self._board = board
        self._now_us = now_us
        self._holder = holder
        self._urgent = asyncio.Event()
        self._failing = False
        self._applied_us: dict[tuple[str, str], int] = {}
        self.holding = False
        """Whether this node runs the feed."""

    async def run(self) -> None:
        """Run for as long as the node does. Only the holder of the lease is connected."""
        note_start("feed")
        while True:
            if await self._publish(empty=True) and await self._resume():
                await self._hold()
            else:
                await asyncio.sleep(_LEASE_RETRY_S)

    async def _resume(self) -> bool:
        """Go on where the node before stopped. False if the store cannot say where."""
        try:
            last = await self._controls.last_status()
        except StoreFault as fault:
            _log.debug("feed_controls_not_read", fault=repr(fault))
            return False
        self.feed.resume(self._board.ticks(MARKET), last)
        return True

    async def _hold(self) -> None:
        """Connect and publish, until the lease is lost or was not renewed in time. Disconnects first."""
        feed, loop = self.feed, asyncio.get_running_loop()
        self._applied_us.clear()
        tasks = [loop.create_task(self._keep_connected(each)) for each in self._sources]
        tasks.append(loop.create_task(self._exchange()))
        self.holding = True
        _log.info("feed_started", sources=[each.name for each in self._sources])
        try:
            async with asyncio.timeout(_LEASE_S) as lease:
                await self._publish_until_lost(lease, tasks)
        except TimeoutError:
            pass  # Not renewed in time: another node may have the lease now.
        finally:
            self.holding = False
            await _cancel(tasks)
            for source in self._sources:
                feed.lost(source.name, self._now_us(), "this node no longer runs the feed")
        _log.warning("feed_lease_lost")

    async def _publish_until_lost(self, lease: asyncio.Timeout, tasks: Sequence[asyncio.Task[None]]) -> None:
        loop = asyncio.get_running_loop()
        while not any(task.done() for task in tasks):
            asked_at = loop.time()
            if await self._publish():
                lease.reschedule(asked_at + _LEASE_S)
            elif not self._failing:
                return
            await self._wait()

    async def _publish(self, *, empty: bool = False) -> bool:
        ticks = () if empty else self.feed.step(self._now_us())
        held = False
        try:
            held = await self._publisher.publish(self._holder, _LEASE_S, ticks)
        except StoreFault as fault:
            if not self._failing:
                _log.warning("feed_not_published", fault=repr(fault))
            self._failing = True
            return False
        finally:
            if not held:
                # A polled quote is not stamped anew, so nothing else would make it differ from the last one.
                self.feed.forget(ticks)
        self._failing = False
        note_success("feed")
        return held

    async def _wait(self) -> None:
        """Until the next publication is due: sooner if a rate has moved far."""
        await asyncio.sleep(_URGENT_S)
        try:
            async with asyncio.timeout(_PUBLISH_S - _URGENT_S):
                await self._urgent.wait()
        except TimeoutError:
            pass
        self._urgent.clear()

    def _take(self, item: Item) -> None:
        if self.feed.take(item):
            self._urgent.set()

    async def _keep_connected(self, source: Source) -> None:
        wait_s, loop = _RETRY_S, asyncio.get_running_loop()
        reason: str | None = None
        while True:
            began_at = loop.time()
            try:
                await source.run(self._take)
                lost = "the source closed the line"
            except SourceLost as error:
                lost = str(error)
            except Exception as error:  # noqa: BLE001 - one source must not stop the node
                lost = f"it failed with {type(error).__name__}"
                _log.exception("source_failed", source=source.name)
            self.feed.lost(source.name, self._now_us(), lost)
            lasted_s = loop.time() - began_at
            if lost != reason or lasted_s > _STEADY_S:
                _log.warning("source_lost", source=source.name, reason=lost)
            wait_s = _RETRY_S if lasted_s > _STEADY_S else min(2 * wait_s, _RETRY_S_MAX)
            reason = lost
            await asyncio.sleep(wait_s)

    async def _exchange(self) -> None:
        while True:
            status = self.feed.status(self._holder, self._now_us())
            try:
                self._apply(await self._controls.exchange(status))
            except StoreFault as fault:
                _log.debug("feed_controls_not_read", fault=repr(fault))
            await asyncio.sleep(_CONTROLS_S)

    def _apply(self, controls: Controls) -> None:
        feed, now_us = self.feed, self._now_us()
        feed.set_guards(controls.guards)
        for instrument in feed.preferred.keys() - controls.preferences.keys():
            feed.prefer(instrument, None, now_us, at_once=False)
        for instrument, preference in controls.preferences.items():
            new = self._is_new(("prefer", instrument), preference.at_us, now_us)
            feed.prefer(instrument, preference.source, now_us, at_once=new)
        for each in controls.releases:
            if self._is_new((each.source, each.instrument), each.at_us, now_us):
                done = feed.release(each.source, each.instrument, each.level_e6)
                _log.info("quote_released", source=each.source, instrument=each.instrument, done=done)

    def _is_new(self, key: tuple[str, str], at_us: int, now_us: int) -> bool:
        """Whether the desk asked for it just now: each request takes effect once."""
        new = at_us > self._applied_us.get(key, 0) and now_us - at_us <= _RELEASE_US_MAX
        self._applied_us[key] = at_us
        return new


async def _cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Wait until all have ended; raise what one of them failed with."""
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Exception):
            raise result
