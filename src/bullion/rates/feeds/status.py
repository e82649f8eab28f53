"""What the node that runs the live feed says about it, for other nodes, consoles and commands."""

import msgspec

from .source_settings import GuardNumbers


class HeldStatus(msgspec.Struct, frozen=True):
    bid_e6: int
    ask_e6: int
    since_us: int
    count: int


class QuoteStatus(msgspec.Struct, frozen=True):
    """One instrument at one source."""

    source: str
    good: bool
    bid_e6: int | None
    ask_e6: int | None
    """The last good quote."""
    at_us: int | None
    received_us: int | None
    held: HeldStatus | None
    drops: dict[str, int]
    """By reason, since the node took over."""


class InstrumentStatus(msgspec.Struct, frozen=True):
    instrument: str
    source: str | None
    """Where its rate comes from."""
    publishes: bool
    differs_from: str | None
    """The source that should replace it, but differs too much: nothing is published."""
    disputed_by: str | None
    """Another good source whose price differs too much. An alarm, no more."""
    off_parity: bool
    preferred: str | None
    """By the desk."""
    quotes: tuple[QuoteStatus, ...]
    guard: GuardNumbers = GuardNumbers()
    """By which its quotes are believed: the desk's numbers, or those of the market file."""


class SourceStatus(msgspec.Struct, frozen=True):
    name: str
    kind: str
    connected: bool
    is_open: bool
    """By its timetable."""
    heard_us: int | None
    away_since_us: int | None
    """None: it is connected."""
    error: str | None


class FeedStatus(msgspec.Struct, frozen=True):
    at_us: int
    holder: str
    sources: tuple[SourceStatus, ...]
    instruments: tuple[InstrumentStatus, ...]
    switches: int
