"""When each background task of this process last did its work, for the metrics.

A process runs one node, so there is one record for all of its tasks.
"""

from collections.abc import Mapping
from time import monotonic_ns

_at_ns: dict[str, int] = {}


def note_success(task: str) -> None:
    """Call after a turn of the task that did what it should, also if there was nothing to do."""
    _at_ns[task] = monotonic_ns()


def last_successes() -> Mapping[str, int]:
    """By task, in nanoseconds of the monotonic clock. Without tasks that have not succeeded yet."""
    return _at_ns
