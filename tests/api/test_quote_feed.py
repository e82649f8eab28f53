"""Which prices a stream is sent, and when. Prices and connections are fakes."""

import asyncio
import json
from typing import Any, cast

import pytest

from bullion.accounts.account import Account
from bullion.accounts.switches import Switches
from bullion.api.market_data import MarketData
from bullion.api.quote_stream import QuoteStreams
from bullion.api.wire.market import Quote
from bullion.faults import StoreUnavailable
from bullion.refusals.catalogue import TRADING_HALTED
from bullion.refusals.refusal import RefusalCode
from bullion.web.response import StreamResponse

from .test_open_streams import Line, Streams

pytestmark = pytest.mark.anyio


class Prices:
    """The market, as a test sets it."""

    def __init__(self) -> None:
        self.buy = {"GOLD": "100.00", "SILVER": "10.00"}
        self.made = 0
        self.lost = False
        self.closed: RefusalCode | None = None

    def quotes_for(self, _account: Account, wanted: str | None) -> list[Quote]:
        if self.lost:
            raise StoreUnavailable
        self.made += 1
        reason = None if self.closed is None else self.closed.code
        shown = {code: buy for code, buy in self.buy.items() if wanted in (None, code)}
        return [Quote(code, buy, None, None, reason is None, reason) for code, buy in shown.items()]

    def why_closed(self, _account: Account) -> RefusalCode | None:
        return self.closed


class Feed(Streams):
    def __init__(self) -> None:
        super().__init__()
        self.prices = Prices()
        self.catalogue.switches["main"] = Switches("main", quote_stream_interval_ms=1000)
        self.quotes = QuoteStreams(self.catalogue, cast("MarketData", self.prices), self.streams)
        self.now_s = asyncio.get_running_loop().time()

    async def follow(self, query: bytes = b"") -> Line:
        request = self.request()
        request.scope["query_string"] = query
        response = await self.quotes.open(request)
        assert isinstance(response, StreamResponse)
        line = Line()
        response.opened(line.stream)
        return line

    def tick(self) -> None:
        """An interval later."""
        self.now_s += 1
        self.quotes._publish("main", self.now_s + 0.5, 1.0)


def taken(line: Line) -> list[dict[str, Any]]:
    """What came since the last look."""
    received, line.received = line.received, b""
    return [json.loads(each[6:]) for each in received.split(b"\n") if each.startswith(b"data: ")]


def bought(line: Line) -> dict[str, str]:
    return {each["symbol_code"]: each["buy"] for each in taken(line)}


async def test_prices_are_made_once_for_all_who_see_the_same() -> None:
    feed = Feed()
    lines = [await feed.follow() for _ in range(20)]
    assert all(bought(line) == feed.prices.buy for line in lines)
    feed.prices.made = 0
    feed.tick()
    assert [line.received for line in lines] == [b""] * 20
    feed.prices.buy["GOLD"] = "101.00"
    feed.tick()
    assert all(bought(line) == {"GOLD": "101.00"} for line in lines)
    assert feed.prices.made == 2


async def test_a_stream_has_one_price_of_a_symbol_in_an_interval() -> None:
    feed = Feed()
    line = await feed.follow()
    taken(line)
    feed.prices.buy["GOLD"] = "101.00"
    feed.quotes._publish("main", feed.now_s + 0.5, 1.0)
    assert line.received == b"", "half an interval after the first prices"
    feed.tick()
    assert bought(line) == {"GOLD": "101.00"}


async def test_a_client_that_is_behind_gets_the_newest_price_alone() -> None:
    feed = Feed()
    line, other = await feed.follow(), await feed.follow(b"symbol_code=SILVER")
    assert bought(other) == {"SILVER": "10.00"}
    taken(line)
    line.write_paused = True
    for buy in ("101.00", "102.00", "103.00"):
        feed.prices.buy["GOLD"] = buy
        feed.tick()
    line.write_paused = False
    feed.prices.buy["SILVER"] = "11.00"
    feed.tick()
    assert bought(line) == {"GOLD": "103.00", "SILVER": "11.00"}
    assert bought(other) == {"SILVER": "11.00"}


async def test_a_symbol_that_is_gone_has_no_price() -> None:
    feed = Feed()
    line = await feed.follow()
    taken(line)
    del feed.prices.buy["SILVER"]
    feed.tick()
    (gone,) = taken(line)
    assert (gone["symbol_code"], gone["buy"], gone["tradable"]) == ("SILVER", None, False)
    assert gone["reason"] == "unknown_symbol"
    feed.tick()
    assert line.received == b""


async def test_a_halt_is_told_with_the_price() -> None:
    feed = Feed()
    line = await feed.follow(b"symbol_code=GOLD")
    taken(line)
    feed.prices.closed = TRADING_HALTED
    feed.tick()
    (halted,) = taken(line)
    assert (halted["tradable"], halted["reason"]) == (False, "trading_halted")


async def test_a_node_without_its_store_ends_the_stream() -> None:
    feed = Feed()
    line = await feed.follow()
    feed.prices.lost = True
    feed.tick()
    assert line.is_closed()
    assert b"service_unavailable" in line.received
    with pytest.raises(StoreUnavailable):
        await feed.follow()


async def test_nothing_is_kept_of_streams_that_ended() -> None:
    feed = Feed()
    line = await feed.follow()
    running = asyncio.create_task(feed.quotes.run())
    await asyncio.sleep(0)
    feed.catalogue.switches["main"] = Switches("main")
    await feed.check()
    assert line.is_closed()
    assert b"quote_stream_disabled" in line.received
    assert feed.quotes._by_broker == {}
    running.cancel()
    await asyncio.wait([running])
