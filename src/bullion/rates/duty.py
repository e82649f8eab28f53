"""Import duty: rupees per quoted weight, by date."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DAY_US = 86_400 * 1_000_000
_INDIA_AHEAD_US = (5 * 60 + 30) * 60 * 1_000_000
"""Duty dates are Indian dates. Asia/Kolkata is always 5:30 ahead of UTC, so a constant is enough."""


@dataclass(frozen=True, slots=True)
class Duty:
    from_date: date
    """In force from the start of this day in India until the next entry."""
    rupees_paise: int

    def __post_init__(self) -> None:
        if self.rupees_paise < 0:
            raise ValueError(f"the duty from {self.from_date} is below 0")

    @property
    def from_us(self) -> int:
        return (self.from_date.toordinal() - _EPOCH_DAY) * _DAY_US - _INDIA_AHEAD_US


def duty_day(at_us: int) -> date:
    """The Indian date at that time: duties come into force by it, whatever the broker's trading hours."""
    return date.fromordinal((at_us + _INDIA_AHEAD_US) // _DAY_US + _EPOCH_DAY)


@dataclass(frozen=True, slots=True)
class DutyTable:
    broker: str
    name: str
    duties: tuple[Duty, ...]

    def __post_init__(self) -> None:
        if not self.duties:
            raise ValueError("a duty table needs at least one row")
        for earlier, later in pairwise(self.duties):
            if earlier.from_date == later.from_date:
                raise ValueError(f"there is more than one duty from {later.from_date}")
            if earlier.from_date > later.from_date:
                raise ValueError(
                    f"the rows must be in order of their dates: {later.from_date} comes too late"
                )

    def spans(self) -> list[tuple[Duty, int | None]]:
        """Each entry with the time at which it ends; None for the last."""
        ends: list[int | None] = [duty.from_us for duty in self.duties[1:]]
        return list(zip(self.duties, [*ends, None], strict=True))

    def in_force(self, at_us: int) -> Duty | None:
        """None before the first entry."""
        begun = self._applied_count(at_us)
        return self.duties[begun - 1] if begun else None

    def next_change_us(self, at_us: int) -> int | None:
        """When another duty comes into force; None when no other is known."""
        begun = self._applied_count(at_us)
        return self.duties[begun].from_us if begun < len(self.duties) else None

    def _applied_count(self, at_us: int) -> int:
        return bisect_right(self.duties, at_us, key=lambda duty: duty.from_us)
