"""The price history of symbols before premiums: candles for charts, and how each symbol moved today."""

from collections.abc import Mapping
from typing import NamedTuple

from bullion.desk.bodies import Option
from bullion.desk.desk import Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.metals.rupees import PLACES as RUPEES_PLACES
from bullion.metals.scaled import plain
from bullion.metals.symbol import Symbol
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.orders.rate_sampler import middle_price_e4
from bullion.rates.candle import PLACES, Candle, Step, joined
from bullion.rates.freshness import US_PER_S
from bullion.records.token import Actor
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalCode, RefusalError
from bullion.store.records import Records
from bullion.unreadable import Unreadable

from .quotes import is_live, offers_at_cost
from .switches import find_switches

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400
_EARLIER_S = 30 * _DAY_S
"""How far back the close of an earlier day is looked for."""
_PERCENT_E2 = 10_000


class Span(NamedTuple):
    """How far back a chart goes, and the candles that it is made of."""

    length_s: int
    step: Step
    candle_s: int
    """The length of each candle: several of the stored ones may be joined."""


SPANS: Mapping[str, Span] = {
    "15m": Span(15 * _MINUTE_S, Step.MINUTE, _MINUTE_S),
    "1h": Span(_HOUR_S, Step.MINUTE, _MINUTE_S),
    "1d": Span(_DAY_S, Step.MINUTE, 5 * _MINUTE_S),
    "1w": Span(7 * _DAY_S, Step.HOUR, _HOUR_S),
    "1mo": Span(30 * _DAY_S, Step.HOUR, 4 * _HOUR_S),
    "1y": Span(365 * _DAY_S, Step.DAY, _DAY_S),
}


@action(
    "GET /quotes/{code}/history",
    command="rates history",
    columns="begins_at open high low close",
    query={"span": Option("How far back.", choices=tuple(SPANS), default="1d")},
)
async def price_history(desk: Desk, actor: Actor, code: str, span: str = "1d") -> View:
    """Show how the price of the symbol CODE moved, before premiums.

    Each row has the first, highest, lowest and last price of its time: the middle between bid and ask.

    \b
    Examples:
      bullion desk rates history GOLD --span 1h
      bullion desk rates history SILVER --span 1y
    """
    chosen = SPANS.get(span)
    if chosen is None:
        raise invalid_field(("span",), f"is one of {', '.join(SPANS)}", "not_a_choice", within="query")

    async def work(records: Records) -> View:
        held = await records.symbol(actor.broker, code)
        if held is None:
            raise RefusalError(NOT_FOUND, f"There is no symbol {code}.")
        symbol, now_us = held.symbol, await records.now_us()
        zone = (await find_switches(records, actor.broker))[0].zone
        since_s = now_us // US_PER_S - chosen.length_s
        found = await records.candles(actor.broker, code, chosen.step, since_s)
        live_e4 = (await _live_prices(records, actor.broker, [symbol], now_us)).get(code)
        if live_e4 is not None:
            begins_s = chosen.step.begin_s(now_us // US_PER_S, zone)
            found = [*found, Candle.of(begins_s, live_e4, now_us)]
        return {
            "symbol_code": code,
            "unit": symbol.unit,
            "quoted_weight": weight_text(symbol.quoted_weight_e4),
            "span": span,
            "zone": zone.key,
            "live": live_e4 is not None,
            "items": [_candle_view(each) for each in joined(found, chosen.candle_s, zone)],
        }

    return await desk.read(actor, "price_history", work)


@action(
    "GET /quotes/today",
    command="rates today",
    columns="symbol_code open high low last previous_close change change_percent",
)
async def day_summaries(desk: Desk, actor: Actor) -> list[View]:
    """List today's first, highest, lowest and last price of each symbol, before premiums, and its change.

    The day begins at midnight in the broker's time zone. The change is the one from the last close of an
    earlier day; from today's first price if there is none.
    """

    async def work(records: Records) -> list[View]:
        broker, now_us = actor.broker, await records.now_us()
        zone = (await find_switches(records, broker))[0].zone
        day_s = Step.DAY.begin_s(now_us // US_PER_S, zone)
        today = await records.candles_of_all(broker, Step.DAY, day_s)
        earlier = await records.last_candles(broker, Step.DAY, day_s, day_s - _EARLIER_S)
        symbols = [each for each in await records.all_symbols(broker) if not isinstance(each, Unreadable)]
        live = await _live_prices(records, broker, symbols, now_us)
        shown = []
        for code in sorted(each.code for each in symbols):
            parts = today.get(code, [])
            if code in live:
                parts = [*parts, Candle.of(day_s, live[code], now_us)]
            if parts:
                shown.append(_day_view(code, joined(parts, _DAY_S, zone)[-1], earlier.get(code)))
        return shown

    return await desk.read(actor, "day_summaries", work)


async def last_hour(desk: Desk, actor: Actor) -> dict[str, list[tuple[int, int]]]:
    """For small charts: by symbol, the begin of each minute of the last hour, in seconds, and its close."""

    async def work(records: Records) -> dict[str, list[tuple[int, int]]]:
        since_s = await records.now_us() // US_PER_S - _HOUR_S
        found = await records.candles_of_all(actor.broker, Step.MINUTE, since_s)
        return {code: [(each.begins_s, each.close_e4) for each in candles] for code, candles in found.items()}

    return await desk.read(actor, "last_hour", work)


async def _live_prices(records: Records, broker: str, symbols: list[Symbol], now_us: int) -> dict[str, int]:
    """The prices at which orders would be accepted now."""
    found: dict[str, int] = {}
    for offer in await offers_at_cost(records, broker, symbols, now_us):
        if not isinstance(offer.price, RefusalCode) and is_live(offer, now_us):
            price_e4 = middle_price_e4(offer.price)
            if price_e4 is not None:
                found[offer.symbol.code] = price_e4
    return found


def _candle_view(candle: Candle) -> View:
    return {
        "begins_at": instant_text(candle.begins_s * US_PER_S),
        "open": price_text(candle.open_e4),
        "high": price_text(candle.high_e4),
        "low": price_text(candle.low_e4),
        "close": price_text(candle.close_e4),
    }


def _day_view(code: str, day: Candle, earlier: Candle | None) -> View:
    base_e4 = day.open_e4 if earlier is None else earlier.close_e4
    change_e4 = day.close_e4 - base_e4
    return {
        "symbol_code": code,
        "open": price_text(day.open_e4),
        "high": price_text(day.high_e4),
        "low": price_text(day.low_e4),
        "last": price_text(day.close_e4),
        "at": instant_text(day.closed_at_us),
        "previous_close": None if earlier is None else price_text(earlier.close_e4),
        "change": price_text(change_e4),
        "change_percent": plain(_half_away(change_e4 * _PERCENT_E2, base_e4), 2),
    }


def price_text(price_e4: int) -> str:
    """Rupees with at least two decimals, and no more than are needed."""
    whole, _, part = plain(price_e4, PLACES).partition(".")
    return f"{whole}.{part.rstrip('0').ljust(RUPEES_PLACES, '0')}"


def _half_away(numerator: int, denominator: int) -> int:
    """Rounded to a whole number, halves away from zero."""
    rounded = (2 * abs(numerator) + denominator) // (2 * denominator)
    return rounded if numerator >= 0 else -rounded
