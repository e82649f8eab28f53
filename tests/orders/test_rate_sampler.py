"""Samples of prices become candles. One node at a time writes them, and no minute is lost between two."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from structlog.testing import capture_logs

from bullion.accounts.trading_hours import Opening, TradingHours
from bullion.faults import StoreUnavailable
from bullion.metals.pricing import Fixed
from bullion.metals.symbol import Side
from bullion.orders.rate_sampler import LEASE_S, MINUTES_KEPT, RateSampler
from bullion.rates.board import MARKET, Board
from bullion.rates.candle import Candle, Step, SymbolCandle
from bullion.rates.duty import Duty, DutyTable
from bullion.rates.tick import Tick

from .market_place import LANDED, NOW_US, SWITCHES, SYMBOL, Memory, S

pytestmark = pytest.mark.anyio

MINUTE_S = NOW_US // S


def finish(work: Iterator[None]) -> None:
    for _ in work:
        pass


class Store:
    """Takes rows while nobody else has the lease, and the store is there."""

    def __init__(self) -> None:
        self.rows: list[SymbolCandle] = []
        self.leases: list[float] = []
        self.leased = self.away = False

    async def write(self, holder: str, lease_s: float, candles: Sequence[SymbolCandle]) -> bool:
        if self.away:
            raise StoreUnavailable("away")
        self.leases.append(lease_s)
        if not self.leased:
            self.rows += candles
        return not self.leased

    def candles(self, step: Step = Step.MINUTE) -> list[Candle]:
        return [each.candle for each in self.rows if each.step is step]


class Node:
    def __init__(self) -> None:
        self.memory, self.board, self.store = Memory(), Board(), Store()
        self.sampler = RateSampler(self.memory, self.board, self.store, "node")
        self._version = 0

    @property
    def now_us(self) -> int:
        return self.memory.clock.now_us

    def quote(self, bid: int, ask: int) -> None:
        """A rate of this moment, in rupees."""
        self._version += 1
        tick = Tick("GOLD", bid * S, ask * S, self.now_us, self.now_us)
        self.board.apply([(MARKET, tick)], self._version)

    def sample(self, after_s: int = 0) -> None:
        self.memory.clock.now_us += after_s * S
        self.memory.put()
        finish(self.sampler.sample())

    async def write(self) -> None:
        await self.sampler.write(self.now_us // S // 60 * 60)


async def test_a_minute_becomes_a_candle_of_middle_prices() -> None:
    node = Node()
    for bid, ask in ((70_000, 70_001), (70_010, 70_010), (69_000, 69_003), (69_999, 70_000)):
        node.quote(bid, ask)
        node.sample(1)
    node.memory.clock.now_us += 60 * S
    await node.write()
    candle = Candle(MINUTE_S, 700_005_000, 700_100_000, 690_015_000, 699_995_000, NOW_US + S, NOW_US + 4 * S)
    assert node.store.candles() == [candle]
    # Half past eleven in India is the begin of no hour there, but of one in UTC.
    assert [each.begins_s for each in node.store.candles(Step.HOUR)] == [MINUTE_S - 1800]
    assert [each.begins_s for each in node.store.candles(Step.DAY)] == [MINUTE_S - int(11.5 * 3600)]
    assert {(each.broker, each.symbol_code) for each in node.store.rows} == {("main", "GOLD")}


async def test_the_minute_that_has_begun_is_written_at_a_stop() -> None:
    node = Node()
    node.quote(70_000, 70_000)
    node.sample()
    await node.write()
    assert node.store.candles() == []
    await node.sampler.stop()
    assert [each.close_e4 for each in node.store.candles()] == [700_000_000]
    assert node.store.leases == [LEASE_S, 0]


async def test_a_node_without_the_lease_keeps_the_minutes_until_it_gets_it() -> None:
    node = Node()
    node.store.leased = True
    for minute in range(MINUTES_KEPT + 3):
        node.quote(70_000 + minute, 70_000 + minute)
        node.sample()
        node.memory.clock.now_us += 60 * S
        await node.write()
    assert MINUTES_KEPT * 60 > 2 * 60 + LEASE_S - 60, "more than may pass before the lease ends"
    node.store.leased = False
    await node.write()
    begun = [(each.begins_s - MINUTE_S) // 60 for each in node.store.candles()]
    assert begun == list(range(3, MINUTES_KEPT + 3))
    (hour,) = node.store.candles(Step.HOUR)
    assert (hour.open_e4, hour.close_e4) == (700_030_000, 700_000_000 + (MINUTES_KEPT + 2) * 10_000)
    node.store.rows.clear()
    await node.write()
    assert node.store.rows == []


async def test_a_store_that_is_away_is_written_to_later() -> None:
    node = Node()
    node.quote(70_000, 70_000)
    node.sample()
    node.memory.clock.now_us += 60 * S
    node.store.away = True
    await node.write()
    node.store.away = False
    await node.write()
    assert len(node.store.candles()) == 1


async def sampled(node: Node) -> list[int]:
    node.sample()
    await node.sampler.stop()
    return [each.close_e4 for each in node.store.candles()]


async def test_what_has_no_price_is_not_sampled() -> None:
    assert await sampled(Node()) == [], "no rate"
    node = Node()
    node.quote(70_000, 70_000)
    node.memory.clock.now_us += 31 * S
    node.memory.put()
    assert await sampled(node) == [], "too old"
    node.memory.change(SYMBOL, rate_age_s_max=None)
    assert await sampled(node) == [700_000_000]
    node.store.rows.clear()
    node.memory.change(SYMBOL, rate_age_s_max=None, trading=False)
    assert await sampled(node) == [], "not traded"


async def test_a_source_that_hangs_is_not_sampled() -> None:
    node = Node()
    node.board.apply([(MARKET, Tick("GOLD", S, S, NOW_US, NOW_US - 300 * S))], 1)
    assert await sampled(node) == []


async def test_a_closed_market_is_not_sampled_and_a_halted_one_is() -> None:
    node = Node()
    node.quote(70_000, 70_000)
    hours = TradingHours(
        ZoneInfo("Asia/Kolkata"), ((Opening(time(12), None),),) * 7, frozenset()
    )  # It is half past eleven.
    node.memory.put(replace(SWITCHES, trading_hours=hours))
    assert await sampled(node) == []
    node.memory.put(replace(SWITCHES, halted=True))
    assert await sampled(node) == [700_000_000]


async def test_a_node_that_lost_its_store_does_not_sample() -> None:
    node = Node()
    node.quote(70_000, 70_000)
    node.memory.clock.now_us += 3 * S
    finish(node.sampler.sample())
    await node.sampler.stop()
    assert node.store.rows == []


async def test_a_symbol_with_one_side_has_its_price() -> None:
    node = Node()
    node.quote(1, 1)
    pricing = Fixed(buy_paise=7_000_050, sell_paise=None)
    node.memory.change(SYMBOL, pricing=pricing, sides=frozenset({Side.BUY}))
    assert await sampled(node) == [700_005_000]


async def test_others_get_their_turn_between_many_symbols() -> None:
    node = Node()
    node.memory.put(*(replace(SYMBOL, code=f"GOLD{number}") for number in range(200)))
    node.quote(70_000, 70_000)
    turns = len(list(node.sampler.sample()))
    assert turns == 4
    await node.sampler.stop()
    assert len(node.store.candles()) == 201


async def test_a_rate_from_before_the_clock_was_set_back_is_not_sampled() -> None:
    node = Node()
    node.quote(70_000, 70_000)
    node.sample(-3600)
    await node.sampler.stop()
    assert node.store.candles() == []


async def test_a_price_changes_with_its_duty() -> None:
    node = Node()
    ticks = [Tick(name, 100 * S, 100 * S, node.now_us, node.now_us) for name in ("XAUUSD", "USDINR")]
    node.board.apply([(MARKET, tick) for tick in ticks], 1)
    free = replace(
        LANDED, premium_usd=Decimal(0), interbank=Decimal(0), conversion=Decimal(1), margin_paise=0
    )
    node.memory.put(replace(SYMBOL, pricing=free, rate_age_s_max=None))
    node.sample()
    today = date(2026, 6, 10)
    duties = (Duty(today, 100), Duty(today + timedelta(days=1), 500))
    node.memory.put(DutyTable("main", "gold", duties))
    node.sample(1)
    node.sample(13 * 3600)
    await node.sampler.stop()
    assert [each.close_e4 for each in node.store.candles()] == [100_010_000, 100_050_000]


async def test_a_price_beyond_all_bounds_is_not_sampled() -> None:
    node = Node()
    node.quote(1, 1)
    most_paise = (2**63 - 1) // 100
    most = Fixed(buy_paise=most_paise, sell_paise=most_paise)
    node.memory.change(SYMBOL, pricing=most)
    assert await sampled(node) == [most_paise * 100]
    node.store.rows.clear()
    node.memory.change(SYMBOL, pricing=replace(most, buy_paise=most_paise + 1))
    assert await sampled(node) == []


async def test_an_error_of_ours_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    node, turns = Node(), 0

    async def broken(*_: object) -> bool:
        nonlocal turns
        turns += 1
        raise RuntimeError("a mistake")

    monkeypatch.setattr(node.store, "write", broken)
    monkeypatch.setattr("bullion.orders.rate_sampler._EVERY_S", 0)
    with capture_logs() as logs:
        running = asyncio.create_task(node.sampler.run())
        while turns < 3:
            node.memory.clock.now_us += 60 * S
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait([running])
        await node.sampler.stop()
    assert [each["event"] for each in logs] == ["rate_samples_failed"]
    assert running.cancelled()
