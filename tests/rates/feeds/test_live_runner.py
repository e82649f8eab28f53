"""The runner of the live feed, with a source and a store that the test plays."""

import asyncio
from collections.abc import Sequence

import pytest

from bullion.faults import StoreFault
from bullion.rates.board import Board
from bullion.rates.feeds.live_feed import LiveFeed
from bullion.rates.feeds.live_runner import Controls, LiveFeedRunner
from bullion.rates.feeds.quote import Take
from bullion.rates.feeds.status import FeedStatus
from bullion.rates.tick import Tick

from .feed_settings import T0, S, feed_settings, quote, source

pytestmark = pytest.mark.anyio

WAIT_S = 60


class OneQuote:
    """A polled source whose time does not move after its first quote."""

    name = "one"

    async def run(self, take: Take) -> None:
        take(quote(4_800, T0))
        await asyncio.Event().wait()


class FailingOnce:
    """The store fails when the first ticks are published."""

    def __init__(self) -> None:
        self.failed: Sequence[Tick] = ()
        self.published: asyncio.Queue[Sequence[Tick]] = asyncio.Queue()

    async def publish(self, holder: str, lease_s: float, ticks: Sequence[Tick]) -> bool:
        if ticks and not self.failed:
            self.failed = ticks
            raise StoreFault("the store is away")
        if ticks:
            self.published.put_nowait(ticks)
        return True


class NoControls:
    async def exchange(self, status: FeedStatus) -> Controls:
        return Controls()

    async def last_status(self) -> FeedStatus | None:
        return None


class Unknown(NoControls):
    """Controls of a store that cannot say at first what was chosen last."""

    def __init__(self, status: FeedStatus) -> None:
        self.faults = 1
        self.status = status

    async def last_status(self) -> FeedStatus | None:
        self.faults -= 1
        if self.faults >= 0:
            raise StoreFault("the store is away")
        return self.status


async def test_it_connects_when_it_knows_which_source_was_chosen_last() -> None:
    settings = feed_settings(source("two", kind="http", poll_ms=60_000), source("one"))
    before = LiveFeed(settings)
    before.resume([Tick("XAUUSD", 4_799 * S, 4_801 * S, T0 - S, T0 - S)])
    before.take(quote(4_800, T0))
    before.step(T0)
    live, controls, store = LiveFeed(settings), Unknown(before.status("b", T0)), FailingOnce()
    runner = LiveFeedRunner(live, [OneQuote()], store, controls, Board(), lambda: T0, "a node")
    task = asyncio.create_task(runner.run())
    try:
        async with asyncio.timeout(WAIT_S):
            while not live.status("a", T0).sources[1].connected:
                await asyncio.sleep(0.01)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert controls.faults == -1
    assert [each.source for each in live.status("a", T0).instruments] == ["one"]


async def test_a_polled_quote_that_the_store_did_not_take_is_published_again() -> None:
    live = LiveFeed(feed_settings(source("one", kind="http", poll_ms=60_000)))
    live.resume([Tick("XAUUSD", 4_799 * S, 4_801 * S, T0 - S, T0 - S)])
    store = FailingOnce()
    runner = LiveFeedRunner(live, [OneQuote()], store, NoControls(), Board(), lambda: T0, "a node")
    task = asyncio.create_task(runner.run())
    try:
        async with asyncio.timeout(WAIT_S):
            ticks = await store.published.get()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [tick.at_us for tick in ticks] == [T0]
    assert ticks == store.failed
