"""Market data over FIX for tests: the acceptor in this process, and sources on lines to it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from bullion.hedge.fix.message_log import MessageLog
from bullion.hedge.fix.pace import Rate
from bullion.hedge.fix.profile import RESETTING, Line, Profile
from bullion.market_demo.fix_quotes import QuoteAcceptor, QuoteEngine
from bullion.market_demo.prices import Prices
from bullion.market_demo.session_acceptor import acceptor_settings, clock_us
from bullion.rates.feeds.live_feed import LiveFeed
from bullion.rates.feeds.quote import Item, SourceLost
from bullion.rates.feeds.source_settings import FeedSettings, SourceSettings
from bullion.rates.feeds.status import InstrumentStatus
from bullion.rates.tick import Tick
from bullion.wiring.fix_source import FixSource

WAIT_S = 30.0
BASE_E6 = 4_000_000_000
QUICK = msgspec.structs.replace(RESETTING, heartbeat_s=1, rate=Rate(count=0))


@contextlib.asynccontextmanager
async def quoting() -> AsyncIterator[QuoteAcceptor]:
    engine = QuoteEngine(Prices({"XAU/USD": BASE_E6}, seed=1), every_ms=40)
    acceptor = QuoteAcceptor(engine, acceptor_settings("VENUE", "BULLION"))
    await acceptor.start()
    try:
        yield acceptor
    finally:
        await acceptor.stop()


def line_to(port: int, profile: Profile = QUICK) -> Line:
    return Line(
        name="venue", broker="", host="127.0.0.1", port=port, sender="BULLION", target="VENUE",
        profile=profile, tls=None,
    )  # fmt: skip


class RunningFeed:
    """A live feed whose sources run, as the node's runner keeps them, but with short pauses."""

    def __init__(
        self,
        settings: FeedSettings,
        lines: Sequence[Line],
        log: MessageLog | None,
        published_e6: int | None,
    ) -> None:
        """`published_e6`: the rate that another node published last, so that first quotes are not held."""
        assert list(settings.problems()) == []
        self.feed = LiveFeed(settings)
        self.set_back_us = 0
        """By how much the clock was set back."""
        if published_e6 is not None:
            now_us = clock_us()
            self.feed.resume([Tick("GOLD", published_e6, published_e6, now_us, now_us)])
        self.items: list[Item] = []
        self.losses: list[str] = []
        self._tasks = [
            asyncio.ensure_future(self._keep(FixSource(each, line, log, self.now_us)))
            for each, line in zip(settings.sources, lines, strict=True)
        ]

    def now_us(self) -> int:
        return clock_us() - self.set_back_us

    async def _keep(self, source: FixSource) -> None:
        while True:
            try:
                await source.run(self._take)
            except SourceLost as lost:
                self.losses.append(str(lost))
                self.feed.lost(source.name, self.now_us(), str(lost))
            await asyncio.sleep(0.05)

    def _take(self, item: Item) -> None:
        self.items.append(item)
        self.feed.take(item)

    def instrument(self) -> InstrumentStatus:
        """Chosen now, as at a publication."""
        self.feed.step(self.now_us())
        (found,) = self.feed.status("test", self.now_us()).instruments
        return found

    def drops(self, source: str = "venue") -> dict[str, int]:
        (found,) = (each.drops for each in self.instrument().quotes if each.source == source)
        return found

    def publishes(self) -> bool:
        return self.instrument().publishes

    async def until(self, seen: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not seen():
                for task in self._tasks:
                    assert not task.done(), task
                await asyncio.sleep(0.01)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def following(
    sources: Sequence[SourceSettings],
    lines: Sequence[Line],
    settings: FeedSettings | None = None,
    log: MessageLog | None = None,
    published_e6: int | None = BASE_E6,
) -> AsyncIterator[RunningFeed]:
    found = settings or FeedSettings(sources=())
    running = RunningFeed(msgspec.structs.replace(found, sources=tuple(sources)), lines, log, published_e6)
    try:
        yield running
    finally:
        await running.stop()
