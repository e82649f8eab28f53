"""When PostgreSQL made checkpoints, and when it vacuumed or analyzed a table by itself: read from its log."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from .filling_results import ServerEvent

SETTINGS = {
    "log_checkpoints": "on",
    "log_autovacuum_min_duration": "0",
    "log_timezone": "'UTC'",
    "log_line_prefix": "'%m [%p] '",
}
"""With which a server says all that is read here."""

_ENTRY = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) UTC \[\d+\] LOG:  ", re.MULTILINE)
_OF_TABLE = re.compile(r'automatic (vacuum|analyze) of table "(\w+)\.\w+\.(\w+)"')
_ELAPSED = re.compile(r"elapsed: ([0-9.]+) s")
_CHECKPOINT = re.compile(r"checkpoint complete: .* total=([0-9.]+) s", re.DOTALL)
_BEGINS = "checkpoint starting"


def events_in(log: str, database: str, began_at_s: float, seconds: float) -> list[ServerEvent]:
    """What fell into these seconds, in their own time. Only tables of this database count."""
    found = [
        ServerEvent(what, from_s - began_at_s, to_s - began_at_s)
        for what, from_s, to_s in _read(_entries(log), database, began_at_s + seconds)
    ]
    return sorted((each for each in found if each.to_s >= 0 and each.from_s < seconds), key=_begin)


def _begin(event: ServerEvent) -> float:
    return event.from_s


def _entries(log: str) -> list[tuple[float, str]]:
    """When each was written, and its words."""
    _, *parts = _ENTRY.split(log)
    return [
        (datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp(), words)
        for at, words in zip(parts[::2], parts[1::2], strict=True)
    ]


def _read(
    entries: Sequence[tuple[float, str]], database: str, ended_at_s: float
) -> Iterator[tuple[str, float, float]]:
    checkpoint_s: float | None = None
    for at_s, words in entries:
        if words.startswith(_BEGINS):
            checkpoint_s = at_s
        elif done := _CHECKPOINT.match(words):
            yield "checkpoint", at_s - float(done[1]), at_s
            checkpoint_s = None
        elif (about := _OF_TABLE.search(words)) and about[2] == database:
            took = _ELAPSED.search(words)
            yield f"{about[1]} of {about[3]}", at_s - (float(took[1]) if took else 0), at_s
    if checkpoint_s is not None:  # One that was still under way.
        yield "checkpoint", checkpoint_s, ended_at_s
