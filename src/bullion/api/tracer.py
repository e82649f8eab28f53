"""Notes the decision on every order: taken, replayed, or refused by whichever check."""

from collections.abc import Callable
from typing import Any

from bullion.booking.placing import Booked, Outcome, Placing
from bullion.orders.trace import Trace, TraceBook
from bullion.orders.verdict import Denied
from bullion.refusals.refusal import Refused
from bullion.web.calls import Call

from .gate import Caller

_REPLAYED = "replayed"


class Tracer:
    def __init__(self, traces: TraceBook, now_us: Callable[[], int]) -> None:
        self._traces = traces
        self._now_us = now_us

    def judged(self, call: Call, caller: Caller, placing: Placing, outcome: Outcome) -> None:
        """An order that came as far as the market and the book."""
        order_id: str | None = None
        message: str | None = None
        match outcome:
            case Booked():
                named = _REPLAYED if outcome.replayed else outcome.order.status
                order_id = outcome.order.id
            case Denied():
                named = outcome.refusal.code
                message = outcome.message or outcome.refusal.message
        self._note(
            call,
            caller,
            named,
            idempotency_key=placing.idempotency_key,
            asked=placing.asked,
            order_id=order_id,
            message=message,
            compared=outcome.compared,
        )

    def refused(self, call: Call, caller: Caller, refused: Refused) -> None:
        """A call that was refused before there was an order to judge."""
        self._note(call, caller, refused.refusal.code, message=refused.message, compared=refused.fields)

    def _note(self, call: Call, caller: Caller, outcome: str, **more: Any) -> None:
        self._traces.note(
            Trace(
                request_id=call.request_id.decode("ascii"),
                at_us=self._now_us(),
                broker=caller.account.broker,
                account_id=caller.account.id,
                environment=caller.key.environment,
                key_id=caller.key.key_id,
                outcome=outcome,
                **more,
            )
        )
