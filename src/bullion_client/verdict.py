"""What the end of a try means: whether to try again, when, and what it tells about the order."""

from dataclasses import dataclass

from bullion_client.advice import Advice, Family, Retry
from bullion_client.errors import BullionError, NoAnswer, Refusal, UnexpectedAnswer
from bullion_client.retry_table import RETRY_TABLE

_FAMILIES = {401: Family.CREDENTIAL, 403: Family.ACCESS, 429: Family.RATE_LIMIT}
_AGAIN = {Retry.SAME_KEY, Retry.SAME_KEY_AFTER}
_PASSES = {408, 429}
"""Without a code these come from a proxy, and go away by themselves like its 5xx."""
_NEVER_CAME_IN = {301, 307, 308, 404, 405}
"""Without a code these say that the request was for another place: nobody has acted on it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be made of an error."""

    again: bool
    """Sending the same once more may help."""

    after: int | None = None
    """Seconds to wait, if they were named."""

    at_once: bool = False
    """The connection broke, perhaps because it had been idle for too long: a new one is tried first."""

    settles: bool = False
    """For an order: this is its outcome for good."""

    looked_up: bool = False
    """For an order: the service looked for its key, and no order was recorded under it then."""

    unsure: bool = False
    """For an order: this try may have booked it."""

    foreign: bool = False
    """Not the service answered, but something on the way to it, or in its place."""


def advice_on(code: str, status: int) -> Advice:
    """The table's advice; for a code that it does not have, the specification's rule.

    429 and 503 are sent again later, and so is every other 5xx: to send the same order again is always safe.
    An unknown 5xx could be one more way to lose sight of a booking, so it proves nothing.
    """
    known = RETRY_TABLE.get(code)
    if known is not None:
        return known
    if status >= 500:
        return Advice(Retry.SAME_KEY_AFTER, Family.UNAVAILABLE, unsure=True)
    retry = Retry.SAME_KEY_AFTER if status == 429 else Retry.NEVER
    return Advice(retry, _FAMILIES.get(status, Family.REQUEST))


def judge(error: BullionError) -> Verdict:
    """What an error means for whoever has tried to place an order."""
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
        case UnexpectedAnswer() if error.status in _NEVER_CAME_IN:
            return Verdict(again=False, foreign=True)
        case UnexpectedAnswer():
            return Verdict(again=True, after=error.retry_after, unsure=True, foreign=True)
        case _:
            raise error


def judge_read(error: BullionError) -> Verdict:
    """What an error means for whoever has tried to read.

    The same, but for what is not the service's answer and will hardly become one: a page in place of JSON, a
    field that is missing. An order has to be found out about in spite of them; a read is better told.
    """
    verdict = judge(error)
    if isinstance(error, UnexpectedAnswer):
        passes = error.status is None or error.status >= 500 or error.status in _PASSES
        return Verdict(again=passes, after=error.retry_after, foreign=True)
    return verdict
