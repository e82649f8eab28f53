"""Placing one order, and never two: which answer ends it, which is tried again, and what is said at the end.

The key and the body are made once and sent unchanged on every try, so the service books at most one order
however often they arrive. What is left to get right is what the caller is told. "Nothing is booked" must be
true, also in a minute; otherwise the caller decides on another order, and has two.

What each end of a try proves:

- An order, or `order_rejected`, is the outcome. So is `price_moved`: it settles the key.
  `idempotency_key_reused` says that the key is settled with another body, so this body never was and never
  will be booked under it.
- No answer proves nothing, unless no connection was made. Neither does an answer that breaks off, cannot be
  read, or has no code of the service. (But for a few statuses by which something on the way says that it has
  passed nothing on.) Nor do three refusals of the service itself: `booking_outcome_unknown`,
  `service_unavailable` and `internal_error` may come after the order was recorded, and so may a 5xx with a
  code that we do not know.
- Any other refusal proves that *this try* booked nothing. Nothing but that: of an earlier try it tells
  something only if the service looked for the key first.
  - The address throttle, credentials, the account's switches, scopes, budgets and the limits of the body all
    refuse before anybody looks. So do `booking_unavailable` and `booking_busy`, which could not look, and
    `booking_conflict`, which may mean that an earlier try is still at work.
  - The checks of the market come after the look, since nothing of the market hides an order that exists. So
    do `production_trading_disabled` and `production_prerequisites_unmet`, and `booking_not_completed`.

So as long as every try was answered, a refusal means that nothing is booked. Once there is **doubt**, from a
try that proves nothing, a refusal from before the look leaves it as it is. A refusal from after the look says
that nothing was recorded *by then*: a try that was on its way longer (in a buffer of the network, in a proxy,
at another node) may be booked after it, since a refusal leaves the key free. But nothing is on its way
forever. The service gives a request up within half a minute; a kernel sends what a closed socket left behind
for up to two minutes more. Hence the one rule for doubt: it ends by a settled key, or by a refusal from after
the look for a try that was begun `LINGER_S` after the last doubtful one had ended. Until then whatever could
tell more is sent again, and at the deadline it is `OutcomeUnknown`.

An intent that is resumed brings its doubt along: it says until when a try of it may have been under way.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from bullion_client.calls import Call, log
from bullion_client.errors import BullionError, NotPlaced, OutcomeUnknown, Refusal
from bullion_client.flow import Flow, Moment, now, sleep
from bullion_client.intent import Intent
from bullion_client.order import Order
from bullion_client.tries import Tries
from bullion_client.verdict import Verdict, judge

LINGER_S = 180.0
"""So long after its caller has given it up, a request may still arrive and be booked."""


@dataclass(slots=True)
class Doubt:
    """Whether a try of which the outcome is not known may have booked the order, or may yet."""

    since: Moment | None = None
    """When the last such try had ended; None if there is none."""

    @classmethod
    def about(cls, intent: Intent, moment: Moment) -> "Doubt":
        """What an intent brings along from tries that were made before this moment, here or elsewhere."""
        if not intent.in_doubt:
            return cls()
        if intent.unanswered_until is None:
            return cls(moment)
        # Of a clock that was set back since, or of tries that still run, nothing is believed.
        ago = max((moment.utc - intent.unanswered_until).total_seconds(), 0.0)
        return cls(Moment(moment.seconds - ago, moment.utc - timedelta(seconds=ago)))

    def learn(self, verdict: Verdict, began: Moment, ended: Moment) -> None:
        """Take in how a try has ended."""
        if verdict.unsure:
            self.since = ended
        elif verdict.looked_up and self.since and began.seconds - self.since.seconds >= LINGER_S:
            self.since = None


def place_until_settled(call: Call[Order], intent: Intent, tries: Tries, doubt: Doubt) -> Flow[Order]:
    """Try until the order is settled, refused for good, or out of time."""
    while True:
        began = yield from now()
        try:
            return (yield from call.once(tries))
        except BullionError as error:
            ended = yield from now()
            verdict = judge(error)
            doubt.learn(verdict, began, ended)
            pause = _pause(verdict, tries, doubt, ended)
            if pause is None:
                end = _end(verdict, error, intent, tries, doubt)
                if end is error:
                    raise
                raise end from error
            log.debug("order %s: trying again in %.2f s: %s", intent.idempotency_key, pause, error)
        yield from sleep(pause)


def _pause(verdict: Verdict, tries: Tries, doubt: Doubt, ended: Moment) -> float | None:
    """How long to wait for the next try; None if this was the last."""
    if verdict.settles:
        return None
    # In doubt the question is no longer whether the order is taken, but what became of it: a refusal from
    # after the look may turn into the order, and a wrong host into the right one. A closed gate stays closed.
    more_to_learn = doubt.since is not None and (verdict.looked_up or verdict.foreign)
    return tries.pause(verdict, ended.seconds) if verdict.again or more_to_learn else None


def _end(verdict: Verdict, error: BullionError, intent: Intent, tries: Tries, doubt: Doubt) -> BullionError:
    """What to raise for the last error of an order."""
    if doubt.since is not None and not verdict.settles:
        doubtful = replace(intent, in_doubt=True, unanswered_until=doubt.since.utc)
        return OutcomeUnknown(doubtful, tries.count, error)
    known = replace(intent, in_doubt=False, unanswered_until=None)
    if isinstance(error, Refusal) and not verdict.again:
        error.intent = known
        return error
    return NotPlaced(known, tries.count, error)
