"""The trace of the decision on an attempt: booked, replayed, or refused by which check."""

from bullion.allocation.book import account_of, environment_of
from bullion.orders.trace import Trace

from .attempt import Booked, OrderAttempt, Outcome

_REPLAYED = "replayed"


def decision_trace(attempt: OrderAttempt, outcome: Outcome, at_us: int) -> Trace:
    order_id: str | None = None
    message: str | None = None
    if isinstance(outcome, Booked):
        named = _REPLAYED if outcome.replayed else outcome.order.status
        order_id = outcome.order.id
    else:
        named = outcome.refusal.code
        message = outcome.message or outcome.refusal.message
    return Trace(
        request_id=attempt.request_id,
        at_us=at_us,
        broker=attempt.broker,
        account_id=account_of(attempt.book_id),
        environment=environment_of(attempt.book_id),
        key_id=attempt.key_id,
        outcome=named,
        idempotency_key=attempt.idempotency_key,
        asked=attempt.asked,
        order_id=order_id,
        message=message,
        compared=outcome.compared,
    )
