"""How long, and how patiently, a call is tried: shared by reading and placing. Without clock or network."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from bullion_client.verdict import Verdict

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0
_SHORTEST_TIMEOUT_S = 1.0
"""A try that is worth beginning is worth that much patience, even right before the deadline."""
_SPREAD_S = 0.25
"""Callers who were all told to come back after the same time do not come back at the same time."""


def check_seconds(name: str, seconds: float) -> float:
    """A time that a caller gives, which may be endless but must be a time."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"{name} must be a number of seconds, not {type(seconds).__name__}")
    if math.isnan(seconds) or seconds < 0:
        raise ValueError(f"{name} must be a number of seconds from 0 up")
    return float(seconds)


@dataclass(slots=True)
class Tries:
    """The tries of one call. Times are those of one monotonic clock."""

    began: float
    deadline_s: float
    timeout_s: float
    chance: Callable[[], float]
    count: int = 0
    _pauses: int = field(default=0, repr=False)
    _reconnected: bool = field(default=False, repr=False)

    def next_timeout(self, now: float) -> float:
        """Count a try that begins now, and say how long it may wait for the network.

        The first has all the time there is to a try, whatever the deadline; later ones what is left of it.
        """
        self.count += 1
        if self.count == 1:
            return self.timeout_s
        return min(self.timeout_s, max(self.left(now), _SHORTEST_TIMEOUT_S))

    def left(self, now: float) -> float:
        """How much time is left until the deadline."""
        return self.began + self.deadline_s - now

    def pause(self, verdict: Verdict, now: float) -> float | None:
        """How long to wait before the next try; None if there is no time for another one.

        A connection that breaks is replaced once, at once and whatever the deadline: a kept one may have been
        closed by the other side just when it was used.
        """
        if verdict.at_once and not self._reconnected:
            self._reconnected = True
            return 0.0
        if verdict.after:
            pause = verdict.after + _SPREAD_S * self.chance()
        else:
            longest = min(_FIRST_PAUSE_S * 2**self._pauses, _LONGEST_PAUSE_S)
            pause = longest * (1 + self.chance()) / 2
            self._pauses = min(self._pauses + 1, 16)
        return pause if pause < self.left(now) else None
