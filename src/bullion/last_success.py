"""When each background task of this process last did its work, for the metrics.

A process runs one node, so there is one record for all of its tasks.
"""

from collections.abc import Mapping
from time import monotonic_ns

_at_ns: dict[str, int] = {}


def note_start(task: str) -> None:
    """Call when the task begins. A task that never succeeds must not be absent: its age counts from here."""
    _at_ns.setdefault(task, monotonic_ns())


def note_success(task: str) -> None:
    """Call after a turn of the task that did what it should, also if there was nothing to do."""
    _at_ns[task] = monotonic_ns()


def last_successes() -> Mapping[str, int]:
    """By task, in nanoseconds of the monotonic clock. Of one that has not succeeded yet: when it began."""
    return _at_ns
