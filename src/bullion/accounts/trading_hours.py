"""The broker's weekly timetable in its own time zone, with holidays."""

from dataclasses import dataclass
from datetime import date, time
from itertools import pairwise
from zoneinfo import ZoneInfo

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class Opening:
    """From `start` up to, but not including, `end`. An end of None is the end of the day."""

    start: time
    end: time | None

    def __post_init__(self) -> None:
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"an opening that starts at {self.start:%H:%M} must end later the same day")


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
