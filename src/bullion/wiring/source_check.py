"""Logs on to a source of rates over FIX, subscribes, prints the first quotes and logs off."""

import asyncio
import time
from collections.abc import Callable
from uuid import uuid4

from bullion.hedge.fix.schedule import Schedule
from bullion.market_file import MarketSettings
from bullion.metals.scaled import plain
from bullion.rates.feeds.quote import Item, Quote, SourceLost
from bullion.rates.feeds.source_settings import SourceSettings
from bullion.rates.tick import PLACES
from bullion.settings import Settings
from bullion.store.rates import StoredRates

from .fix_source import FixSource, message_log
from .store import open_store

_QUOTES_S = 10.0
_LEASE_S = 4.0
_RENEW_S = 1.0
_LOOK_S = 0.05

Print = Callable[[str], None]


def _now_us() -> int:
    return time.time_ns() // 1000


class _Seen:
    """What the source delivered."""

    def __init__(self) -> None:
        self.logged_on = False
        self.quotes: dict[str, Quote] = {}
        """By instrument, the first with two sides."""
        self.troubles: dict[str, str] = {}

    def take(self, item: Item) -> None:
        self.logged_on = True
        if isinstance(item, Quote) and item.bid_e6 is not None and item.ask_e6 is not None:
            self.quotes.setdefault(item.instrument, item)

    def told_of(self, source: SourceSettings) -> bool:
        """Whether each instrument has a quote, or a reason why it has none."""
        told = self.quotes.keys() | self.troubles.keys()
        return all(each.instrument in told for each in source.instruments)

    def note_trouble(self, instrument: str, reason: str) -> None:
        self.troubles[instrument] = reason


async def check_source(settings: Settings, market: MarketSettings, name: str, show: Print) -> bool | None:
    """Whether every instrument has a quote; None if a node runs the feed, which is not touched then."""
    line = market.source_lines[name]
    (source,) = (each for each in (market.feed.sources if market.feed else ()) if each.name == name)
    async with open_store(settings, migrate=False) as store:
        rates, holder = StoredRates(store.engine), f"check-{uuid4().hex}"
        if not await rates.publish(holder, _LEASE_S, ()):
            show(f"A node runs the feed with the source {name}. Stop the nodes to check it: a second logon "
                 "would cut its line.")  # fmt: skip
            return None
        ends = f"{line.sender} to {line.target} at {line.host}:{line.port}"
        show(f"Source {name}: {ends}, profile {line.profile.name}.")
        if not Schedule(line.timetable).is_open(_now_us()):
            show("The timetable says that it is closed now.")
            return False
        renewing = asyncio.create_task(_renew(rates, holder))
        seen, log = _Seen(), message_log(source, market, _now_us)
        following = asyncio.create_task(
            FixSource(source, line, log, _now_us, seen.note_trouble).run(seen.take)
        )
        try:
            await _wait(source, seen, following)
            return _tell(source, seen, following, show)
        finally:
            following.cancel()
            renewing.cancel()
            await asyncio.gather(following, renewing, return_exceptions=True)
            await rates.publish(holder, 0, ())  # A node that starts now need not wait.
            show(f"Messages: {market.messages.folder}/sources/{name}-<date>.log")


async def _renew(rates: StoredRates, holder: str) -> None:
    while True:
        await asyncio.sleep(_RENEW_S)
        await rates.publish(holder, _LEASE_S, ())


async def _wait(source: SourceSettings, seen: _Seen, following: "asyncio.Task[None]") -> None:
    try:
        async with asyncio.timeout(_QUOTES_S):
            while not seen.told_of(source) and not following.done():
                await asyncio.wait([following], timeout=_LOOK_S)
    except TimeoutError:
        pass  # What is missing is told.


def _tell(source: SourceSettings, seen: _Seen, following: "asyncio.Task[None]", show: Print) -> bool:
    if following.done() and isinstance(lost := following.exception(), SourceLost):
        show(f"The line was lost: {lost}." if seen.logged_on else f"It cannot be reached: {lost}.")
        return False
    if not seen.logged_on:
        show(f"No logon within {_QUOTES_S:g} seconds.")
        return False
    show("Logged on.")
    for each in source.instruments:
        quote = seen.quotes.get(each.instrument)
        if quote is not None and quote.bid_e6 is not None and quote.ask_e6 is not None:
            sides = f"bid {plain(quote.bid_e6, PLACES)}, ask {plain(quote.ask_e6, PLACES)}"
            show(f"{each.instrument}: {sides}, from {each.symbol}.")
        else:
            reason = seen.troubles.get(each.instrument, f"no quote within {_QUOTES_S:g} seconds")
            show(f"{each.instrument}: nothing from {each.symbol}: {reason}.")
    return len(seen.quotes) == len(source.instruments)
