"""The hours of a line, in its own time zone."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from bullion.hedge.fix.schedule import Schedule, Timetable

NEW_YORK = Timetable(hours=("sun 17:05 - fri 16:55",), zone="America/New_York")
MUMBAI = Timetable(hours=("mon-fri 09:00-23:30",), zone="Asia/Kolkata", closed_on=("2026-11-24",))


def us(text: str, zone: str = "America/New_York") -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("at", "is_open"),
    [
        ("2026-11-15 17:04:59", False),  # A Sunday.
        ("2026-11-15 17:05:00", True),
        ("2026-11-18 03:00:00", True),
        ("2026-11-20 16:54:59", True),
        ("2026-11-20 16:55:00", False),
        ("2026-11-21 12:00:00", False),
        # In summer time: the same on the wall clock.
        ("2026-07-12 17:04:59", False),
        ("2026-07-12 17:05:00", True),
    ],
)
def test_a_weekly_session(at: str, is_open: bool) -> None:
    assert Schedule(NEW_YORK).is_open(us(at)) is is_open


@pytest.mark.parametrize(
    ("at", "is_open"),
    [
        ("2026-11-16 08:59:59", False),
        ("2026-11-16 09:00:00", True),
        ("2026-11-16 23:29:59", True),
        ("2026-11-16 23:30:00", False),
        ("2026-11-22 12:00:00", False),
        ("2026-11-24 12:00:00", False),  # A holiday.
        ("2026-11-25 12:00:00", True),
    ],
)
def test_a_session_each_day(at: str, is_open: bool) -> None:
    assert Schedule(MUMBAI).is_open(us(at, "Asia/Kolkata")) is is_open


def test_a_session_over_midnight_and_one_around_the_clock() -> None:
    night = Schedule(Timetable(hours=("sat-sun 22:00-02:00",)))
    opened = [
        night.is_open(us(f"2026-11-{day} {hour}:30", "UTC"))
        for day, hour in [(21, 22), (22, "01"), (22, "02"), (23, "01")]
    ]
    assert opened == [True, True, False, True]
    assert Schedule(Timetable(hours=("mon-sun 00:00-24:00",))).is_open(us("2026-11-22 23:59", "UTC"))
    assert Schedule(Timetable()).is_open(0)


def test_when_the_window_began() -> None:
    schedule = Schedule(NEW_YORK)
    assert schedule.opened_us(us("2026-11-18 03:00")) == us("2026-11-15 17:05")
    assert schedule.opened_us(us("2026-11-15 17:05")) == us("2026-11-15 17:05")
    assert schedule.opened_us(us("2026-11-14 12:00")) is None
    assert Schedule(Timetable()).opened_us(us("2026-11-14 12:00")) is None


def test_when_it_opens_or_closes_next() -> None:
    schedule = Schedule(NEW_YORK)
    assert schedule.next_change_us(us("2026-11-18 03:00")) == us("2026-11-20 16:55")
    assert schedule.next_change_us(us("2026-11-20 16:55")) == us("2026-11-22 17:05")
    mumbai = Schedule(MUMBAI)
    at = [us(text, "Asia/Kolkata") for text in ("2026-11-23 10:00", "2026-11-23 23:30", "2026-11-25 09:00")]
    assert mumbai.next_change_us(at[0]) == at[1]
    assert mumbai.next_change_us(at[1]) == at[2], "the day between is a holiday"
    assert Schedule(Timetable()).next_change_us(0) is None
    assert Schedule(Timetable(closed_on=("2026-12-25",))).next_change_us(at[0]) is None


def test_whether_it_closes_soon() -> None:
    schedule = Schedule(NEW_YORK)
    assert schedule.closes_within(us("2026-11-20 16:50"), 300)
    assert not schedule.closes_within(us("2026-11-20 16:50"), 299)
    assert not schedule.closes_within(us("2026-11-21 16:50"), 300)


def test_every_mistake_is_told() -> None:
    wrong = Timetable(
        hours=("mon-fri 09:00", "xyz 09:00-10:00", "mon 25:00-26:00", "mon 09:00-10:00"),
        zone="Asia/Nowhere",
        closed_on=("2026-02-30",),
    )
    found = list(wrong.problems())
    assert len(found) == 5
    assert all(
        word in text
        for word, text in zip(
            ["fri 16:55", "'xyz'", "'25:00'", "Asia/Nowhere", "2026-02-30"], found, strict=True
        )
    )
    assert list(NEW_YORK.problems()) == list(MUMBAI.problems()) == []
