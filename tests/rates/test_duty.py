"""Duty by Indian dates: which is in force, and when the next one will be."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.rates.duty import Duty, DutyTable

INDIA = ZoneInfo("Asia/Kolkata")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAY, JUNE = Duty(date(2026, 5, 13), 1_234_500), Duty(date(2026, 6, 1), 1_300_000)
TABLE = DutyTable("main", "gold", (MAY, JUNE))


def us(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


MAY_US = us(datetime(2026, 5, 12, 18, 30, tzinfo=UTC))
JUNE_US = us(datetime(2026, 5, 31, 18, 30, tzinfo=UTC))


def test_before_the_first_date_there_is_none() -> None:
    assert TABLE.in_force(MAY_US - 1) is None
    assert TABLE.next_change_us(MAY_US - 1) == MAY_US


def test_a_duty_begins_with_the_day_in_india() -> None:
    assert TABLE.in_force(MAY_US) is MAY
    assert TABLE.in_force(JUNE_US - 1) is MAY
    assert TABLE.next_change_us(MAY_US) == JUNE_US
    assert TABLE.next_change_us(JUNE_US - 1) == JUNE_US


def test_the_last_duty_stays_in_force() -> None:
    assert TABLE.in_force(JUNE_US) is JUNE
    assert TABLE.in_force(JUNE_US + 10**18) is JUNE
    assert TABLE.next_change_us(JUNE_US) is None


@given(
    st.sets(st.dates(date(1970, 1, 2), date(2100, 1, 1)), min_size=1, max_size=6).map(sorted),
    st.integers(0, 4_102_444_800_000_000),
)
def test_it_goes_by_the_calendar_of_india(dates: list[date], at_us: int) -> None:
    table = DutyTable("main", "gold", tuple(Duty(day, index) for index, day in enumerate(dates)))
    today = (EPOCH + timedelta(microseconds=at_us)).astimezone(INDIA).date()
    begun = [duty for duty in table.duties if duty.from_date <= today]
    to_come = [duty.from_date for duty in table.duties if duty.from_date > today]
    assert table.in_force(at_us) == (begun[-1] if begun else None)
    midnight = datetime.combine(to_come[0], time(0), INDIA) if to_come else None
    assert table.next_change_us(at_us) == (us(midnight) if midnight else None)


def test_the_first_and_the_last_day_of_the_calendar_are_days() -> None:
    table = DutyTable("main", "gold", (Duty(date.min, 1), Duty(date.max, 2)))
    assert table.in_force(0) == Duty(date.min, 1)


@pytest.mark.parametrize(
    ("duties", "why"),
    [
        ((), "at least one row"),
        ((JUNE, MAY), "in order of their dates"),
        ((MAY, Duty(MAY.from_date, 1)), "more than one duty from 2026-05-13"),
    ],
)
def test_a_table_that_could_be_read_two_ways_cannot_be_made(duties: tuple[Duty, ...], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        DutyTable("main", "gold", duties)
