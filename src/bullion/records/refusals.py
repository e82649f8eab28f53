"""Filters and results of the desk's list of refused calls."""

from dataclasses import dataclass
from typing import NamedTuple

from bullion.environment import Environment

from .orders import AccountTrace


@dataclass(frozen=True, slots=True)
class RefusalFilter:
    """None matches everything."""

    codes: frozenset[str]
    """The outcomes that are wanted."""
    login_id: str | None = None
    symbol_code: str | None = None
    environment: Environment | None = None
    since_us: int | None = None
    """The instant itself is included."""
    until_us: int | None = None
    """The instant itself is not included."""


class TracePlace(NamedTuple):
    """Where a decision is stored: its row, and its position in that. Later ones were written later."""

    ordinal: int
    position: int


@dataclass(frozen=True, slots=True)
class RefusalPage:
    found: list[AccountTrace]
    """Newest first."""
    older: TracePlace | None
    """The next page has what was written before this; None: there is no more."""
    kept_since_us: int | None
    """When the oldest decision was made that is still stored; None: there is none."""


@dataclass(frozen=True, slots=True)
class RefusalCount:
    code: str
    environment: str
    last_hour: int
    last_day: int


@dataclass(frozen=True, slots=True)
class CountedRefusals:
    counts: list[RefusalCount]
    """The most frequent first."""
    since_us: int
    """They are counted from this time on: a day ago, or later if more decisions are stored than were read."""
    complete: bool
    """Whether all stored decisions of the last day are counted."""
