"""Candles: they begin by the clocks of a zone, and merge in any order."""

from datetime import UTC, datetime
from itertools import permutations
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.rates.candle import Candle, Step, joined, minute_begin_s

INDIA, BERLIN = ZoneInfo("Asia/Kolkata"), ZoneInfo("Europe/Berlin")


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("step", "zone", "time", "begins"),
    [
        (Step.MINUTE, INDIA, "2026-06-10T06:07:59", "2026-06-10T06:07:00"),
        # 11:37 in India: its hours begin at half past of UTC, and its day at 18:30 of UTC.
        (Step.HOUR, INDIA, "2026-06-10T06:07:00", "2026-06-10T05:30:00"),
        (Step.HOUR, INDIA, "2026-06-10T05:30:00", "2026-06-10T05:30:00"),
        (Step.DAY, INDIA, "2026-06-10T06:07:00", "2026-06-09T18:30:00"),
        (Step.DAY, INDIA, "2026-06-09T18:29:59", "2026-06-08T18:30:00"),
        # The day on which summer time ends has 25 hours.
        (Step.DAY, BERLIN, "2026-10-25T22:59:59", "2026-10-24T22:00:00"),
        (Step.HOUR, BERLIN, "2026-10-25T01:30:00", "2026-10-25T01:00:00"),
    ],
)
def test_a_candle_begins_by_the_clocks_of_the_zone(
    step: Step, zone: ZoneInfo, time: str, begins: str
) -> None:
    assert step.begin_s(at(time), zone) == at(begins)


samples = st.lists(
    st.tuples(st.integers(1, 10**13), st.integers(0, 59_999_999)), min_size=1, max_size=4
).filter(lambda each: len({when for _, when in each}) == len(each))


@given(samples)
def test_samples_and_candles_merge_in_any_order(found: list[tuple[int, int]]) -> None:
    in_time = sorted(found, key=lambda each: each[1])
    prices = [price for price, _ in found]
    expected = Candle(
        0, in_time[0][0], max(prices), min(prices), in_time[-1][0], in_time[0][1], in_time[-1][1]
    )
    for order in permutations(found):
        candle = Candle.of(0, *order[0])
        for price, when in order[1:]:
            candle = candle.merge(Candle.of(0, price, when))
        assert candle == expected
        assert candle.merge(candle) == candle
    candle = Candle.of(0, *in_time[0])
    for price, when in in_time[1:]:
        candle = candle.add(price, when)
    assert candle == expected


def test_candles_are_joined_to_longer_ones() -> None:
    minutes = [Candle.of(each * 60, 100 + each, each * 60_000_000) for each in (0, 1, 4, 5, 9)]
    found = joined(minutes, 300, INDIA)
    assert [(each.begins_s, each.open_e4, each.high_e4, each.close_e4) for each in found] == [
        (0, 100, 104, 104),
        (300, 105, 109, 109),
    ]


def test_longer_candles_begin_by_the_clocks_of_the_zone() -> None:
    midnight = at("2026-06-09T18:30:00")
    hours = [Candle.of(midnight + each * 3600, 1 + each, each + 1) for each in range(-1, 6)]
    found = joined(hours, 4 * 3600, INDIA)
    assert [(each.begins_s - midnight) // 3600 for each in found] == [-4, 0, 4]
    assert [each.open_e4 for each in found] == [0, 1, 5]


def test_a_minute_begins_with_its_first_second() -> None:
    assert minute_begin_s(119_999_999) == 60
