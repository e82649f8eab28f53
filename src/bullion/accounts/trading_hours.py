"""The broker's weekly timetable in its own time zone, with holidays."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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

        The instant is converted, never the timetable: on the days on which clocks are changed an hour may
        be left out, or come twice, and it is then left out or open twice.
        """
        local = (_EPOCH + timedelta(microseconds=at_us)).astimezone(self.zone)
        if local.date() in self.holidays:
            return False
        clock = local.time()
        return any(opening.has(clock) for opening in self.week[local.weekday()])
