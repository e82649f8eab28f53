"""Whether trading is open at an instant, by the clocks and the calendar of the broker's zone."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.accounts.trading_hours import Opening, TradingHours

INDIA, BERLIN = ZoneInfo("Asia/Kolkata"), ZoneInfo("Europe/Berlin")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CLOSED: tuple[Opening, ...] = ()
ALL_DAY = (Opening(time(0), None),)
DEALER = TradingHours(
    INDIA,
    (*[(Opening(time(10), time(23, 30)),)] * 5, (Opening(time(10), time(14)),), CLOSED),
    frozenset({date(2026, 11, 9)}),
)


def us(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


def india(day: int, hour: int, minute: int = 0) -> int:
    """In November 2026, of which the 2nd is a Monday."""
    return us(datetime(2026, 11, day, hour, minute, tzinfo=INDIA))


def test_the_start_is_open_and_the_end_is_closed() -> None:
    assert not DEALER.is_open(india(2, 10) - 1)
    assert DEALER.is_open(india(2, 10))
    assert DEALER.is_open(india(2, 23, 30) - 1)
    assert not DEALER.is_open(india(2, 23, 30))


def test_each_day_has_its_own_hours() -> None:
    assert DEALER.is_open(india(6, 15))
    assert DEALER.is_open(india(7, 13, 59))
    assert not DEALER.is_open(india(7, 15))
    assert not DEALER.is_open(india(8, 12))


def test_a_holiday_is_closed_by_the_zones_own_date() -> None:
    round_the_clock = TradingHours(INDIA, (ALL_DAY,) * 7, frozenset({date(2026, 11, 9)}))
    begins_us, ends_us = (us(datetime(2026, 11, day, 18, 30, tzinfo=UTC)) for day in (8, 9))
    assert round_the_clock.is_open(begins_us - 1)
    assert not round_the_clock.is_open(begins_us)
    assert not round_the_clock.is_open(ends_us - 1)
    assert round_the_clock.is_open(ends_us)
    assert not DEALER.is_open(india(9, 12))
    assert DEALER.is_open(india(10, 12))


def test_an_end_of_none_is_midnight_and_not_a_moment_before() -> None:
    monday_evening = TradingHours(INDIA, ((Opening(time(18), None),), *[CLOSED] * 6), frozenset())
    assert monday_evening.is_open(india(3, 0) - 1)
    assert not monday_evening.is_open(india(3, 0))
    assert not monday_evening.is_open(india(2, 18) - 1)


def test_a_break_at_noon_is_closed() -> None:
    openings = (Opening(time(9), time(12)), Opening(time(13), time(17)))
    hours = TradingHours(INDIA, (openings,) * 7, frozenset())
    assert [hours.is_open(india(2, hour)) for hour in (8, 9, 11, 12, 13, 16, 17)] == [
        False,
        True,
        True,
        False,
        True,
        True,
        False,
    ]


def test_openings_that_touch_leave_no_gap() -> None:
    openings = (Opening(time(9), time(12)), Opening(time(12), time(17)))
    hours = TradingHours(INDIA, (openings,) * 7, frozenset())
    assert hours.is_open(india(2, 12) - 1)
    assert hours.is_open(india(2, 12))


@pytest.mark.parametrize(("month", "utc_hour"), [(1, 8), (7, 7)])
def test_nine_in_berlin_is_nine_in_winter_and_in_summer(month: int, utc_hour: int) -> None:
    hours = TradingHours(BERLIN, ((Opening(time(9), time(17)),),) * 7, frozenset())
    opens_us = us(datetime(2026, month, 5, utc_hour, tzinfo=UTC))
    assert not hours.is_open(opens_us - 1)
    assert hours.is_open(opens_us)
    assert hours.is_open(opens_us + 8 * 3_600_000_000 - 1)
    assert not hours.is_open(opens_us + 8 * 3_600_000_000)


def test_an_hour_that_is_left_out_is_never_open() -> None:
    """On 29 March 2026 Berlin's clocks go from 2:00 to 3:00, at 1:00 UTC."""
    hours = TradingHours(BERLIN, ((Opening(time(2), time(3)),),) * 7, frozenset())
    change_us = us(datetime(2026, 3, 29, 1, tzinfo=UTC))
    for minutes in range(-120, 120):
        assert not hours.is_open(change_us + minutes * 60_000_000)
    assert hours.is_open(change_us + 24 * 3_600_000_000 - 1)


def test_an_hour_that_comes_twice_is_open_twice() -> None:
    """On 25 October 2026 Berlin's clocks go from 3:00 back to 2:00, at 1:00 UTC."""
    hours = TradingHours(BERLIN, ((Opening(time(2), time(3)),),) * 7, frozenset())
    first_us = us(datetime(2026, 10, 25, 0, tzinfo=UTC))
    assert not hours.is_open(first_us - 1)
    assert hours.is_open(first_us)
    assert hours.is_open(first_us + 3_600_000_000)
    assert hours.is_open(first_us + 2 * 3_600_000_000 - 1)
    assert not hours.is_open(first_us + 2 * 3_600_000_000)


def test_the_microsecond_counts() -> None:
    hours = TradingHours(INDIA, ((Opening(time(12, 0, 0, 500_000), None),),) * 7, frozenset())
    opens_us = us(datetime(2099, 12, 31, 12, 0, 0, 500_000, tzinfo=INDIA))
    assert not hours.is_open(opens_us - 1)
    assert hours.is_open(opens_us)


@given(
    st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    st.sampled_from([INDIA, BERLIN, ZoneInfo("America/New_York"), ZoneInfo("Pacific/Chatham")]),
    st.integers(0, 6),
    st.times(),
    st.times(),
)
def test_it_is_open_when_a_clock_on_the_wall_says_so(
    at: datetime, zone: ZoneInfo, weekday: int, one: time, other: time
) -> None:
    start, end = sorted((one, other))
    opening = Opening(start, end if start < end else None)
    week = [CLOSED] * 7
    week[weekday] = (opening,)
    wall = at.astimezone(zone)
    clock = wall.replace(tzinfo=None, fold=0).time()
    expected = wall.weekday() == weekday and start <= clock and (opening.end is None or clock < opening.end)
    assert TradingHours(zone, tuple(week), frozenset()).is_open(us(at)) is expected
    assert not TradingHours(zone, tuple(week), frozenset({wall.date()})).is_open(us(at))


def test_the_next_change_is_the_next_edge_over_weekends_and_holidays() -> None:
    assert DEALER.next_change_us(india(2, 10)) == india(2, 23, 30)
    assert DEALER.next_change_us(india(2, 9, 59)) == india(2, 10)
    # Saturday afternoon; Sunday is closed, and Monday is a holiday.
    assert DEALER.next_change_us(india(7, 15)) == india(10, 10)


def test_a_timetable_that_never_changes_has_no_next_change() -> None:
    for week in ((ALL_DAY,) * 7, (CLOSED,) * 7):
        assert TradingHours(INDIA, week, frozenset()).next_change_us(india(2, 10)) is None


def test_the_next_change_heeds_clocks_that_are_changed() -> None:
    """On 28 March 2027 clocks in Berlin go from 2 to 3, on 31 October from 3 back to 2."""
    week = ((Opening(time(2, 30), time(3, 30)),),) * 7
    night = TradingHours(BERLIN, week, frozenset())
    for day in (datetime(2027, 3, 28, tzinfo=BERLIN), datetime(2027, 10, 31, tzinfo=BERLIN)):
        at_us, found = us(day), []
        for minute in range(6 * 60):
            if night.is_open(at_us + minute * 60_000_000) is not night.is_open(
                at_us + (minute - 1) * 60_000_000
            ):
                found.append(at_us + minute * 60_000_000)
        told: list[int] = []
        while len(told) < len(found):
            change_us = night.next_change_us(told[-1] if told else at_us)
            assert change_us is not None
            told.append(change_us)
        assert told == found


@given(st.integers(0, 400 * 24 * 60))
def test_until_the_next_change_nothing_changes(minute: int) -> None:
    at_us = india(1, 0) + minute * 60_000_000
    change_us = DEALER.next_change_us(at_us)
    assert change_us is not None
    assert DEALER.is_open(change_us) is not DEALER.is_open(at_us)
    assert DEALER.is_open(change_us - 1) is DEALER.is_open(at_us)
