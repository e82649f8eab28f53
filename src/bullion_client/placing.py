"""Places one order and never two: which response is final, which is retried, and what the caller is told.

The key and the body are created once and sent unchanged on every try, so the service books at most one
order however often they arrive. What remains is to tell the caller the truth. "Nothing is booked" must be
true, also a minute later; otherwise the caller places another order, and has two.

What the end of a try proves:

- An order and `order_rejected` are the outcome. So is `price_moved`: it settles the key.
  `idempotency_key_reused` says that the key is settled with another body, so this body was not booked under
  it and never will be.
- No response proves nothing, unless no connection was made. Neither does a response that breaks off, cannot
be
  read, or has no code of the service, except for a few statuses that mean a wrong address. Nor do three
  refusals of the service: `booking_outcome_unknown`, `service_unavailable` and `internal_error` may come
  after the order was recorded, and so may a 5xx with an unknown code.
- Any other refusal proves that *this try* booked nothing. It proves something about earlier tries only if the
  service looked up the key first.
  - The address throttle, credentials, the account's switches, scopes, budgets and the limits of the body all
    refuse before the lookup. So do `booking_unavailable` and `booking_busy`, which could not look it up, and
    `booking_conflict`, which may mean that an earlier try is still running.
  - The checks of the market come after the lookup, because an order that exists is returned whatever the
    market. So do `production_trading_disabled`, `production_prerequisites_unmet` and `booking_not_completed`.

So if every try was answered, a refusal means that nothing is booked. A try that proves nothing creates
**doubt**. A refusal from before the lookup does not change it. A refusal from after the lookup says that
nothing was recorded *by then*: an earlier try that is still in flight (in a network buffer, in a proxy, at
another node) may be booked later, because a refusal leaves the key free. But no try is in flight forever.
The service drops a request within half a minute; a kernel sends the rest of a closed socket for up to two
minutes more. So doubt ends in two ways: by a settled key, or by a refusal from after the lookup to a try
that began `LINGER_S` after the last doubtful try had ended. Until then every error that could still change
is retried, and at the deadline it is `OutcomeUnknown`.

A resumed intent keeps its doubt: it says until when a try may have been in flight.

To ask what became of an intent, its key is sent with another body: one that no service can place, because it
names no side. `idempotency_key_reused` then says that the key is settled; another refusal from after the
lookup says that nothing is recorded under it, to which the rule above applies.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NoReturn

from bullion_client.calls import Call, log
from bullion_client.enums import TradeType
from bullion_client.errors import BullionError, KeyReused, NotPlaced, OutcomeUnknown, Refusal
from bullion_client.flow import Flow, Moment, Value, now, sleep
from bullion_client.intent import Intent
from bullion_client.retry import Tries, Verdict, judge, judge_read

LINGER_S = 180.0
"""For this long after its caller gave up, a request may still arrive and be booked."""


_NO_SIDE = TradeType("hold")
_PRODUCTION_CLOSED = {"production_trading_disabled", "production_prerequisites_unmet"}


@dataclass(slots=True)
class Doubt:
    """Whether a try with an unknown outcome may have booked the order, or may still book it."""

    since: Moment | None = None
    """When the last such try ended; None if there is none."""

    tries: int = 0
    """The tries that have ended."""

    @classmethod
    def about(cls, intent: Intent, moment: Moment) -> "Doubt":
        """The doubt from earlier tries of an intent, in this program or another."""
        if not intent.in_doubt:
            return cls()
        if intent.unanswered_until is None:
            return cls(moment)
        # A time in the future means that a clock was set back or that tries still run: it counts as now.
        ago = max((moment.utc - intent.unanswered_until).total_seconds(), 0.0)
        return cls(Moment(moment.seconds - ago, moment.utc - timedelta(seconds=ago)))

    def learn(self, verdict: Verdict, began: Moment, ended: Moment) -> None:
        """Update it by the end of a try."""
        self.tries += 1
        if verdict.unsure:
            self.since = ended
        elif verdict.looked_up and self.since and began.seconds - self.since.seconds >= LINGER_S:
            self.since = None


def place_until_settled(call: Call[Value], intent: Intent, tries: Tries, doubt: Doubt) -> Flow[Value]:
    """Retry until the order is settled, refused finally, or out of time."""
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


def question_about(intent: Intent) -> Intent:
    """What to send to ask about an intent: its key, and an order for neither side."""
    return replace(intent, trade_type=_NO_SIDE)


def is_settled(question: Call[NoReturn], intent: Intent, tries: Tries) -> Flow[bool]:
    """Ask until it is answered whether the intent's key has an outcome. Raises `OutcomeUnknown` in doubt."""
    doubt = Doubt.about(intent, (yield from now()))
    while True:
        began = yield from now()
        try:
            yield from question.once(tries)
        except KeyReused:
            return True
        except BullionError as error:
            ended = yield from now()
            verdict = judge_read(error)
            if verdict.looked_up and not _hides_other_bodies(error):
                doubt.learn(verdict, began, ended)
                if doubt.since is None:
                    return False
                # The refusal is that of the question, which says nothing to the caller.
                raise _unknown(intent, tries, doubt.since) from None
            pause = tries.pause(verdict, ended.seconds) if verdict.again else None
            if pause is None:
                if doubt.since is None:
                    raise
                raise _unknown(intent, tries, doubt.since, error) from error
            log.debug("asking about %s again in %.2f s: %s", intent.idempotency_key, pause, error)
            yield from sleep(pause)


def _hides_other_bodies(error: BullionError) -> bool:
    """While production is closed, a settled key is answered only with its own body."""
    return isinstance(error, Refusal) and error.code in _PRODUCTION_CLOSED


def _pause(verdict: Verdict, tries: Tries, doubt: Doubt, ended: Moment) -> float | None:
    """The seconds until the next try; None if this was the last."""
    if verdict.settles:
        return None
    # With doubt the question is what became of the order: after a refusal from after the lookup the order may
    # still appear, and a wrong host may be corrected. Other refusals will not change.
    more_to_learn = doubt.since is not None and (verdict.looked_up or verdict.foreign)
    return tries.pause(verdict, ended.seconds) if verdict.again or more_to_learn else None


def _end(verdict: Verdict, error: BullionError, intent: Intent, tries: Tries, doubt: Doubt) -> BullionError:
    """The error to raise for the last error of an order."""
    if doubt.since is not None and not verdict.settles:
        return _unknown(intent, tries, doubt.since, error)
    known = replace(intent, in_doubt=False, unanswered_until=None)
    if isinstance(error, Refusal) and not verdict.again:
        error.intent = known
        return error
    return NotPlaced(known, tries.count, error)


def _unknown(
    intent: Intent, tries: Tries, since: Moment, error: BullionError | None = None
) -> OutcomeUnknown:
    doubtful = replace(intent, in_doubt=True, unanswered_until=since.utc)
    return OutcomeUnknown(doubtful, tries.count, error)
