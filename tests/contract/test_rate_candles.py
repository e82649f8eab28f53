"""Candles in the store: merged in any order, written by one node at a time, deleted when they are old."""

import time

import pytest

from bullion.desk.desk import Desk
from bullion.rates.candle import Candle, Step, SymbolCandle
from bullion.store.engine import Engine
from bullion.store.rate_candles import StoredCandles
from tests.booking.fixtures import rows

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("desk")]

KEPT = {Step.MINUTE: 7, Step.HOUR: 400, Step.DAY: 3660}
HOUR_S, DAY_S = 3600, 86_400
NOW_S = int(time.time()) // 60 * 60
SYMBOL = "GOLD"


def candle(price: int, begins_s: int = NOW_S, after_us: int = 0) -> Candle:
    return Candle.of(begins_s, price, begins_s * 1_000_000 + after_us)


def row(candle: Candle, step: Step = Step.MINUTE, broker: str = "main", code: str = SYMBOL) -> SymbolCandle:
    return SymbolCandle(broker, code, step, candle)


async def stored(engine: Engine, step: Step = Step.MINUTE) -> list[Candle]:
    names = ", ".join(Candle.__struct_fields__)
    found = await rows(
        engine,
        f"SELECT {names} FROM rate_candles WHERE step = '{step}' ORDER BY broker, symbol_code, begins_s",
    )
    return [Candle(*(each[name] for name in Candle.__struct_fields__)) for each in found]


@pytest.fixture
def candles(engine: Engine) -> StoredCandles:
    return StoredCandles(engine, KEPT)


async def test_parts_of_a_candle_merge_in_any_order(engine: Engine, candles: StoredCandles) -> None:
    parts = [candle(price, after_us=number) for number, price in enumerate((500, 900, 100, 700))]
    expected = parts[0]
    for part in parts[1:]:
        expected = expected.merge(part)
    for part in (parts[number] for number in (2, 0, 3, 1, 2)):
        assert await candles.write("one", 60, [row(part)])
    assert await stored(engine) == [expected]
    assert (expected.open_e4, expected.high_e4, expected.low_e4, expected.close_e4) == (500, 900, 100, 700)


async def test_one_node_writes_until_its_lease_ends(
    engine: Engine, other_engine: Engine, candles: StoredCandles
) -> None:
    other = StoredCandles(other_engine, KEPT)
    assert await candles.write("one", 60, [row(candle(500))])
    assert not await other.write("two", 60, [row(candle(900, after_us=1))])
    assert [each.high_e4 for each in await stored(engine)] == [500]
    # The first one dies. Its lease ends, and the other writes the same minute.
    await rows(engine, "UPDATE leases SET until_us = 0")
    assert await other.write("two", 60, [row(candle(900, after_us=1))])
    assert not await candles.write("one", 60, [row(candle(100, after_us=2))])
    assert [(each.open_e4, each.close_e4) for each in await stored(engine)] == [(500, 900)]


async def test_a_node_that_stops_leaves_the_lease(candles: StoredCandles) -> None:
    assert await candles.write("one", 60, [])
    assert await candles.write("one", 0, [])
    assert await candles.write("two", 60, [])


async def test_old_candles_are_deleted_each_kind_after_its_own_time(
    engine: Engine, candles: StoredCandles
) -> None:
    for step, days in KEPT.items():
        old, kept = (candle(days, NOW_S - days * DAY_S + off_s) for off_s in (-HOUR_S, HOUR_S))
        await candles.write("one", 60, [row(old, step), row(kept, step)])
    await candles.write("one", 60, [])
    for step, days in KEPT.items():
        assert [each.begins_s for each in await stored(engine, step)] == [NOW_S - days * DAY_S + HOUR_S]


async def test_some_at_a_time_are_deleted(engine: Engine, candles: StoredCandles) -> None:
    old = [row(candle(1, NOW_S - 8 * DAY_S - each * 60)) for each in range(2_500)]
    await StoredCandles(engine, {}).write("one", 60, old)
    left = []
    for _ in range(3):
        await candles.write("one", 60, [])
        left.append(len(await stored(engine)))
    assert left == [1_500, 500, 0]


async def test_a_broker_that_is_gone_is_left_out(engine: Engine, candles: StoredCandles) -> None:
    assert await candles.write("one", 60, [row(candle(1), broker="nobody"), row(candle(2))])
    assert [each.open_e4 for each in await stored(engine)] == [2]


async def test_the_desk_reads_its_own_candles(desk: Desk, candles: StoredCandles) -> None:
    parts = [row(candle(each + 1, NOW_S + each * 60)) for each in range(3)]
    hour = row(candle(9, NOW_S), Step.HOUR)
    foreign = row(candle(7), broker="other")
    await candles.write("one", 60, [*parts, hour, foreign])
    found = await desk.store.read(
        "candles", lambda records: records.candles("main", SYMBOL, Step.MINUTE, NOW_S + 60)
    )
    assert found == [each.candle for each in parts[1:]]


async def test_the_highest_price_is_kept_exactly(engine: Engine, candles: StoredCandles) -> None:
    most = 2**63 - 1
    assert await candles.write("one", 60, [row(candle(most))])
    assert [each.high_e4 for each in await stored(engine)] == [most]
