"""Candles: the first, highest, lowest and last price of a symbol in a minute, an hour or a day."""

from collections.abc import Sequence
from datetime import datetime, time
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

import msgspec

PLACES = 4
"""The middle of two prices in whole paise may have half a paisa."""
_MINUTE_S = 60
_HOUR_S = 3600
_US_PER_S = 1_000_000


class Step(StrEnum):
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"

    def begin_s(self, at_s: int, zone: ZoneInfo) -> int:
        """When the candle that contains this time begins, by the clocks of the zone."""
        return _begin_s(self, at_s, zone)


@lru_cache(maxsize=256)
def _begin_s(step: Step, at_s: int, zone: ZoneInfo) -> int:
    """Cached: the candles of all symbols begin at the same times."""
    if step is Step.MINUTE:
        return at_s - at_s % _MINUTE_S
    if step is Step.DAY:
        today = datetime.fromtimestamp(at_s, zone).date()
        return int(datetime.combine(today, time(0), zone).timestamp())
    return at_s - (at_s + _ahead_s(at_s, zone)) % _HOUR_S


def _ahead_s(at_s: int, zone: ZoneInfo) -> int:
    """How far the zone's clocks are ahead of UTC."""
    offset = datetime.fromtimestamp(at_s, zone).utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


def minute_begin_s(at_us: int) -> int:
    at_s = at_us // _US_PER_S
    return at_s - at_s % _MINUTE_S


class Candle(msgspec.Struct, frozen=True):
    """Middle prices before premiums, in ten-thousandths of a rupee."""

    begins_s: int
    open_e4: int
    high_e4: int
    low_e4: int
    close_e4: int
    opened_at_us: int
    closed_at_us: int

    @classmethod
    def of(cls, begins_s: int, price_e4: int, at_us: int) -> "Candle":
        return cls(begins_s, price_e4, price_e4, price_e4, price_e4, at_us, at_us)

    def merge(self, other: "Candle") -> "Candle":
        """The candle of both, with this one's begin. The order does not matter."""
        first = other if other.opened_at_us < self.opened_at_us else self
        last = other if other.closed_at_us > self.closed_at_us else self
        return Candle(
            self.begins_s,
            first.open_e4,
            max(self.high_e4, other.high_e4),
            min(self.low_e4, other.low_e4),
            last.close_e4,
            first.opened_at_us,
            last.closed_at_us,
        )

    def add(self, price_e4: int, at_us: int) -> "Candle":
        """With a later price. Like `merge`, but faster: it is done for every symbol each second."""
        return Candle(
            self.begins_s,
            self.open_e4,
            price_e4 if price_e4 > self.high_e4 else self.high_e4,  # noqa: FURB136
            price_e4 if price_e4 < self.low_e4 else self.low_e4,  # noqa: FURB136
            price_e4,
            self.opened_at_us,
            at_us,
        )

    def within(self, step: Step, zone: ZoneInfo) -> "Candle":
        """The same prices as a part of a longer candle."""
        return msgspec.structs.replace(self, begins_s=step.begin_s(self.begins_s, zone))


class SymbolCandle(NamedTuple):
    broker: str
    symbol_code: str
    step: Step
    candle: Candle


def joined(candles: Sequence[Candle], length_s: int, zone: ZoneInfo) -> list[Candle]:
    """Candles in ascending order, joined to longer ones: at multiples of that length by the zone's clocks."""
    found: list[Candle] = []
    for each in candles:
        begins_s = each.begins_s - (each.begins_s + _ahead_s(each.begins_s, zone)) % length_s
        if found and found[-1].begins_s == begins_s:
            found[-1] = found[-1].merge(each)
        else:
            found.append(msgspec.structs.replace(each, begins_s=begins_s))
    return found


class CandleStore(Protocol):
    async def write(self, holder: str, lease_s: float, candles: Sequence[SymbolCandle]) -> bool:
        """Merge candles with those of the store. False if another node holds the lease.

        The lease is taken or renewed in the same step. May raise StoreFault.
        """
