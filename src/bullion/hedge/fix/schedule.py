"""When a line is open: windows of the week in the venue's own time zone, and days on which it is closed."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import msgspec

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MINUTES_OF_DAY = 24 * 60
_MINUTES_OF_WEEK = 7 * _MINUTES_OF_DAY
_US_PER_S = 1_000_000
_DAYS_AHEAD = 15
_SPAN = re.compile(
    r"(?P<first>[a-z]{3}) (?P<from>\d\d:\d\d) ?- ?(?P<last>[a-z]{3}) (?P<to>\d\d:\d\d)"
    r"|(?P<days>[a-z]{3}(?:-[a-z]{3})?) (?P<each_from>\d\d:\d\d) ?- ?(?P<each_to>\d\d:\d\d)"
)
EXPECTED = 'hours such as "sun 17:05 - fri 16:55" or "mon-fri 09:00-23:30"'

Window = tuple[int, int]
"""From and to, in minutes of the week; `to` may be beyond its end."""


def windows_of(text: str) -> list[Window]:
    """One long window from a day to another, or one on each of some days. A ValueError if it is neither."""
    match = _SPAN.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError(f"{text!r}: expected {EXPECTED}")
    if match["days"]:
        first, _, last = match["days"].partition("-")
        begin, end = _minute(match["each_from"]), _minute(match["each_to"])
        days = _days(first, last or first)
        length = (end - begin) % _MINUTES_OF_DAY or _MINUTES_OF_DAY
        return [(day * _MINUTES_OF_DAY + begin, day * _MINUTES_OF_DAY + begin + length) for day in days]
    start = _day(match["first"]) * _MINUTES_OF_DAY + _minute(match["from"])
    end = _day(match["last"]) * _MINUTES_OF_DAY + _minute(match["to"])
    return [(start, start + ((end - start) % _MINUTES_OF_WEEK or _MINUTES_OF_WEEK))]


class Timetable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Without hours a line is always open."""

    hours: tuple[str, ...] = ()
    zone: str = "UTC"
    closed_on: tuple[str, ...] = ()
    """Dates such as 2026-12-25, whole days in that zone."""

    def problems(self) -> Iterable[str]:
        """Every mistake in it, as sentences."""
        for each in self.hours:
            try:
                windows_of(each)
            except ValueError as error:
                yield f"hours: {error}"
        try:
            ZoneInfo(self.zone)
        except (ValueError, KeyError, OSError):
            yield f"zone: {self.zone!r} is not a time zone such as Asia/Kolkata"
        for each in self.closed_on:
            try:
                date.fromisoformat(each)
            except ValueError:
                yield f"closed_on: {each!r} is not a date such as 2026-12-25"


class Schedule:
    """A timetable that can be asked."""

    def __init__(self, timetable: Timetable) -> None:
        self._zone = ZoneInfo(timetable.zone)
        self._windows = [window for each in timetable.hours for window in windows_of(each)]
        self._closed_on = frozenset(date.fromisoformat(each) for each in timetable.closed_on)

    def is_open(self, at_us: int) -> bool:
        local = self._local(at_us)
        return local.date() not in self._closed_on and (
            not self._windows or any(self._within(window, local) for window in self._windows)
        )

    def opened_us(self, at_us: int) -> int | None:
        """When the window began that is open now; None if it is closed, or has no hours."""
        if not self._windows or not self.is_open(at_us):
            return None
        local = self._local(at_us)
        ago = min(
            (_week_minute(local) - begin) % _MINUTES_OF_WEEK
            for begin, end in self._windows
            if self._within((begin, end), local)
        )
        # Counted on the wall clock, so a change to summer time in between moves nothing.
        began = local.replace(second=0, microsecond=0, tzinfo=None, fold=0) - timedelta(minutes=ago)
        return round(began.replace(tzinfo=self._zone).timestamp()) * _US_PER_S

    def closes_within(self, at_us: int, seconds: int) -> bool:
        """Whether it is open now and will not be then."""
        return self.is_open(at_us) and not self.is_open(at_us + seconds * _US_PER_S)

    def next_change_us(self, at_us: int) -> int | None:
        """When it opens or closes next; None if it does neither within two weeks."""
        if not self._windows and not self._closed_on:
            return None
        today, is_open = self._local(at_us).date(), self.is_open(at_us)
        minutes = {0} | {edge % _MINUTES_OF_DAY for window in self._windows for edge in window}
        for day in range(_DAYS_AHEAD):
            midnight = datetime.combine(today + timedelta(days=day), time())
            for minute in sorted(minutes):
                moment = (midnight + timedelta(minutes=minute)).replace(tzinfo=self._zone)
                moment_us = round(moment.timestamp()) * _US_PER_S
                if moment_us > at_us and self.is_open(moment_us) is not is_open:
                    return moment_us
        return None

    def _local(self, at_us: int) -> datetime:
        return datetime.fromtimestamp(at_us // _US_PER_S, UTC).astimezone(self._zone)

    def _within(self, window: Window, local: datetime) -> bool:
        begin, end = window
        return (_week_minute(local) - begin) % _MINUTES_OF_WEEK < end - begin


def _week_minute(local: datetime) -> int:
    return local.weekday() * _MINUTES_OF_DAY + local.hour * 60 + local.minute


def _day(name: str) -> int:
    if name not in _DAYS:
        raise ValueError(f"{name!r} is not a day: expected one of {', '.join(_DAYS)}")
    return _DAYS.index(name)


def _days(first: str, last: str) -> list[int]:
    begin = _day(first)
    return [(begin + day) % 7 for day in range((_day(last) - begin) % 7 + 1)]


def _minute(text: str) -> int:
    hour, minute = int(text[:2]), int(text[3:])
    if hour * 60 + minute > _MINUTES_OF_DAY or minute > 59:
        raise ValueError(f"{text!r} is not a time of the day")
    return hour * 60 + minute
