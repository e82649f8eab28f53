"""The price history that the desk reads: candles of each span, and the day of every symbol."""

from collections.abc import Awaitable, Callable

import pytest

from bullion.accounts.switches import DEFAULT_ZONE
from bullion.desk.actions.price_history import SPANS, day_summaries, last_hour, price_history, price_text
from bullion.desk.actions.rates import put_rate
from bullion.desk.actions.symbols import put_symbol
from bullion.desk.bodies import RateBody, SymbolBody
from bullion.desk.conversion import convert
from bullion.desk.desk import Desk
from bullion.orders.instant import instant_text
from bullion.rates.candle import Candle, Step, SymbolCandle
from bullion.refusals.refusal import RefusalError
from bullion.store.engine import Engine
from bullion.store.rate_candles import StoredCandles
from tests.support.desk import SYMBOL

from .desk_over import ADMIN, OTHER

pytestmark = pytest.mark.anyio

E4 = 10_000
Put = Callable[..., Awaitable[None]]


@pytest.fixture
async def now_s(desk: Desk) -> int:
    body = convert({**SYMBOL, "rate_age_s_max": None, "freeze_after_s": None}, SymbolBody)
    for actor in (ADMIN, OTHER):
        await put_symbol(desk, actor, "GOLD", body)
    return await desk.store.read("now", lambda records: records.now_us()) // 1_000_000


@pytest.fixture
def put(engine: Engine) -> Put:
    async def put(step: Step, *candles: Candle, code: str = "GOLD", broker: str = "main") -> None:
        found = [SymbolCandle(broker, code, step, each) for each in candles]
        assert await StoredCandles(engine, {}).write("test", 60, found)

    return put


def candle(begins_s: int, *prices: int) -> Candle:
    found = Candle.of(begins_s, prices[0] * E4, begins_s * 1_000_000)
    for number, price in enumerate(prices[1:], 1):
        found = found.add(price * E4, begins_s * 1_000_000 + number)
    return found


async def test_each_span_has_its_own_candles(desk: Desk, put: Put, now_s: int) -> None:
    for step in Step:
        begins_s = step.begin_s(now_s - 120, DEFAULT_ZONE)
        await put(step, candle(begins_s, 100, len(step) * 100, 50, 70))
    for name, span in SPANS.items():
        found = await price_history(desk, ADMIN, "GOLD", name)
        begins_s = span.step.begin_s(now_s - 120, DEFAULT_ZONE)
        begins_s -= (begins_s + 19_800) % span.candle_s
        assert found["items"] == [
            {
                "begins_at": instant_text(begins_s * 1_000_000),
                "open": "100.00",
                "high": f"{len(span.step) * 100}.00",
                "low": "50.00",
                "close": "70.00",
            }
        ], name
        assert (found["live"], found["zone"], found["span"]) == (False, "Asia/Kolkata", name)


async def test_older_candles_and_those_of_others_are_left_out(desk: Desk, put: Put, now_s: int) -> None:
    minute_s = now_s // 60 * 60
    await put(Step.MINUTE, candle(minute_s - 16 * 60, 1), candle(minute_s - 10 * 60, 2))
    await put(Step.MINUTE, candle(minute_s - 9 * 60, 3), broker="other")
    found = await price_history(desk, ADMIN, "GOLD", "15m")
    assert [each["close"] for each in found["items"]] == ["2.00"]
    assert await last_hour(desk, OTHER) == {"GOLD": [(minute_s - 9 * 60, 3 * E4)]}


async def test_the_current_price_is_the_last_one(desk: Desk, put: Put, now_s: int) -> None:
    await put(Step.MINUTE, candle(now_s // 60 * 60 - 600, 100))
    await put_rate(desk, ADMIN, "GOLD", RateBody(bid="99.01", ask="99.02"))
    found = await price_history(desk, ADMIN, "GOLD", "1h")
    assert found["live"]
    assert [each["close"] for each in found["items"]] == ["100.00", "99.015"]


async def test_a_day_has_its_change_from_the_close_before(desk: Desk, put: Put, now_s: int) -> None:
    day_s = Step.DAY.begin_s(now_s, DEFAULT_ZONE)
    assert await day_summaries(desk, ADMIN) == []
    await put(Step.DAY, candle(day_s, 100, 120, 90, 110))
    (day,) = await day_summaries(desk, ADMIN)
    assert day.pop("at") == instant_text(day_s * 1_000_000 + 3)
    assert day == {
        "symbol_code": "GOLD",
        "open": "100.00",
        "high": "120.00",
        "low": "90.00",
        "last": "110.00",
        "previous_close": None,
        "change": "10.00",
        "change_percent": "10.00",
    }
    # Saturday and Sunday have none: the last day that has one counts.
    await put(Step.DAY, candle(day_s - 4 * 86_400, 1, 10), candle(day_s - 3 * 86_400, 1, 120))
    await put(Step.DAY, candle(day_s - 86_400, 5), broker="other")
    (day,) = await day_summaries(desk, ADMIN)
    assert (day["previous_close"], day["change"], day["change_percent"]) == ("120.00", "-10.00", "-8.33")
    await put_rate(desk, ADMIN, "GOLD", RateBody(bid="150", ask="150"))
    (day,) = await day_summaries(desk, ADMIN)
    assert (day["high"], day["last"], day["change"]) == ("150.00", "150.00", "30.00")


async def test_what_is_not_there_is_refused(desk: Desk, now_s: int) -> None:
    with pytest.raises(RefusalError, match="not_found"):
        await price_history(desk, ADMIN, "SILVER", "1d")
    with pytest.raises(RefusalError) as refused:
        await price_history(desk, ADMIN, "GOLD", "2d")
    assert refused.value.refusal.code == "invalid_request"


def test_prices_are_exact_text() -> None:
    shown = {1_504_630_050: "150463.005", 1_504_630_000: "150463.00", 1: "0.0001", -50: "-0.005", 0: "0.00"}
    assert {price: price_text(price) for price in shown} == shown
