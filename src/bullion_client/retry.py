"""Retries: what an error means for the next try, and when that begins. Without clock or network."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from bullion_client.advice import Advice, Family, Retry
from bullion_client.errors import BullionError, NoAnswer, Refusal, UnexpectedAnswer
from bullion_client.retry_table import RETRY_TABLE

_FAMILIES = {
    401: Family.CREDENTIAL,
    403: Family.ACCESS,
    404: Family.NOT_FOUND,
    410: Family.EVENTS_GONE,
    429: Family.RATE_LIMIT,
}
_AGAIN = {Retry.SAME_KEY, Retry.SAME_KEY_AFTER}
_TEMPORARY = {408, 429}
"""Without a code these come from a proxy, and are temporary like its 5xx."""
_NOT_DELIVERED = {301, 307, 308, 404, 405}
"""Without a code these mean a wrong address: the service never got the request."""
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0
_SHORTEST_TIMEOUT_S = 1.0
"""The timeout of a try right before the deadline is not shorter than this."""
_SPREAD_S = 0.25
"""Added at random to `Retry-After`, so that callers with the same wait do not all come back at once."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an error means."""

    again: bool
    """Sending the same once more may help."""

    after: int | None = None
    """Seconds to wait, if the response named them."""

    at_once: bool = False
    """The connection broke, perhaps because it was idle for too long: retry on a new one first."""

    settles: bool = False
    """For an order: this is its final outcome."""

    looked_up: bool = False
    """For an order: the service looked up its key, and no order was recorded under it then."""

    unsure: bool = False
    """For an order: this try may have booked it."""

    foreign: bool = False
    """The response is not from the service, but from something between or in its place."""


def advice_on(code: str, status: int) -> Advice:
    """The advice of the table; for a code that it does not have, the specification's rule.

    429, 503 and every other 5xx are retried later: sending the same order again is always safe. An unknown
    5xx may hide a booking, so it proves nothing.
    """
    known = RETRY_TABLE.get(code)
    if known is not None:
        return known
    if status >= 500:
        return Advice(Retry.SAME_KEY_AFTER, Family.UNAVAILABLE, unsure=True)
    retry = Retry.SAME_KEY_AFTER if status == 429 else Retry.NEVER
    return Advice(retry, _FAMILIES.get(status, Family.REQUEST))


def judge(error: BullionError) -> Verdict:
    """What an error means for an order."""
    match error:
        case Refusal():
            advice = advice_on(error.code, error.status)
            return Verdict(
                again=advice.retry in _AGAIN,
                after=error.retry_after,
                settles=advice.settles,
                looked_up=advice.looked_up,
                unsure=advice.unsure,
            )
        case NoAnswer():
            return Verdict(again=True, at_once=error.broke, unsure=error.sent)
        case UnexpectedAnswer() if error.status in _NOT_DELIVERED:
            return Verdict(again=False, foreign=True)
        case UnexpectedAnswer():
            return Verdict(again=True, after=error.retry_after, unsure=True, foreign=True)
        case _:
            raise error


def judge_read(error: BullionError) -> Verdict:
    """What an error means for a read.

    The same as for an order, except for a response that is not from the service or cannot be read. An order
    must be resolved in spite of it; a read is retried only if the cause looks temporary.
    """
    if isinstance(error, UnexpectedAnswer):
        temporary = error.status is None or error.status >= 500 or error.status in _TEMPORARY
        return Verdict(again=temporary, after=error.retry_after, foreign=True)
    return judge(error)


def check_seconds(name: str, seconds: float) -> float:
    """A number of seconds that a caller gives. It may be infinite."""
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
        """Count a try that begins now, and return its network timeout.

        The first try has the whole timeout, whatever the deadline; later ones what is left until the
        deadline.
        """
        self.count += 1
        if self.count == 1:
            return self.timeout_s
        return min(self.timeout_s, max(self.left(now), _SHORTEST_TIMEOUT_S))

    def left(self, now: float) -> float:
        """The seconds until the deadline."""
        return self.began + self.deadline_s - now

    def pause(self, verdict: Verdict, now: float) -> float | None:
        """The seconds to wait before the next try; None if there is no time for one.

        A broken connection is replaced once, immediately and whatever the deadline: the other side may have
        closed an idle connection just when it was used.
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
