"""The broker's weekly timetable in its own time zone, with holidays."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_US = timedelta(microseconds=1)
_DAY = timedelta(days=1)
_MINUTE_US = 60 * 1_000_000
_DAYS_AHEAD = 400
"""How far ahead the next change is looked for: more than a year of holidays."""


@dataclass(frozen=True, slots=True)
class Opening:
    """From `start` up to, but not including, `end`. An end of None is the end of the day."""

    start: time
    end: time | None

    def __post_init__(self) -> None:
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"an opening that starts at {self.start:%H:%M} must end later the same day")

    def has(self, clock: time) -> bool:
        return self.start <= clock and (self.end is None or clock < self.end)


@dataclass(frozen=True, slots=True)
class TradingHours:
    zone: ZoneInfo
    week: tuple[tuple[Opening, ...], ...]
    """Seven days, Monday first; a day without openings is closed."""
    holidays: frozenset[date]

    def __post_init__(self) -> None:
        if len(self.week) != len(DAYS):
            raise ValueError("a week has seven days")
        for openings in self.week:
            for earlier, later in pairwise(openings):
                if earlier.end is None or later.start < earlier.end:
                    raise ValueError("the openings of a day must follow each other without overlap")

    def is_open(self, at_us: int) -> bool:
        """Whether the zone's own clocks and calendar, at that instant, are within an opening.

        The instant is converted to local time, never the timetable to UTC: when clocks change, an hour that
        is missing or occurs twice is then skipped or open twice.
        """
        local = (_EPOCH + timedelta(microseconds=at_us)).astimezone(self.zone)
        if local.date() in self.holidays:
            return False
        clock = local.time()
        return any(opening.has(clock) for opening in self.week[local.weekday()])

    def next_change_us(self, at_us: int) -> int | None:
        """When it next opens or closes; None if it does not change within a year."""
        now = self.is_open(at_us)
        return next((edge_us for edge_us in self._edges_us(at_us) if self.is_open(edge_us) is not now), None)

    def _edges_us(self, after_us: int) -> Iterator[int]:
        """Every instant at which it may change, in order."""
        today = (_EPOCH + timedelta(microseconds=after_us)).astimezone(self.zone).date()
        for ahead in range(_DAYS_AHEAD):
            day = today + timedelta(days=ahead)
            begins, ends = (datetime.combine(each, time(0), self.zone) for each in (day, day + _DAY))
            edges = {begins}
            for opening in self.week[day.weekday()]:
                clocks = (opening.start, opening.end or time(0))
                edges |= {datetime.combine(day, clock, self.zone) for clock in clocks}
            found_us = {(edge - _EPOCH) // _US for edge in edges}
            if begins.utcoffset() != ends.utcoffset():
                # Clocks change on this day, at a full minute: an edge may be missing, or occur twice.
                first_us, last_us = ((each - _EPOCH) // _US for each in (begins, ends))
                found_us |= set(range(first_us, last_us, _MINUTE_US))
            yield from sorted(edge_us for edge_us in found_us if edge_us > after_us)
