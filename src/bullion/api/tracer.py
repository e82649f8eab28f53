"""Traces the decision on every order: booked, replayed, or refused by which check."""

from collections.abc import Callable
from typing import Any

from bullion.booking.attempt import Booked, OrderAttempt, Outcome
from bullion.orders.request import PlaceOrder
from bullion.orders.trace import Trace, TraceBook
from bullion.orders.verdict import Refusal
from bullion.refusals.refusal import RefusalError
from bullion.web.calls import Call

from .gate import Caller

_REPLAYED = "replayed"
SCENARIO = "scenario"


class Tracer:
    def __init__(self, traces: TraceBook, now_us: Callable[[], int]) -> None:
        self._traces = traces
        self._now_us = now_us

    def decided(
        self, call: Call, caller: Caller, attempt: OrderAttempt, outcome: Outcome, scenario: str | None
    ) -> None:
        """An order that was checked against the market and the book."""
        order_id: str | None = None
        message: str | None = None
        match outcome:
            case Booked():
                named = _REPLAYED if outcome.replayed else outcome.order.status
                order_id = outcome.order.id
            case Refusal():
                named = outcome.refusal.code
                message = outcome.message or outcome.refusal.message
        self._note(
            call,
            caller,
            named,
            scenario,
            idempotency_key=attempt.idempotency_key,
            asked=attempt.asked,
            order_id=order_id,
            message=message,
            compared=outcome.compared,
        )

    def refused(self, call: Call, caller: Caller, refused: RefusalError, scenario: str | None = None) -> None:
        """A call that was refused before its order was read."""
        code, message = refused.refusal.code, refused.message
        self._note(call, caller, code, scenario, message=message, compared=refused.fields)

    def simulated(
        self, call: Call, caller: Caller, scenario: str, placed: tuple[str, PlaceOrder] | None
    ) -> None:
        """A call that got a simulated answer. `placed`: its idempotency key and order, if they were read."""
        idempotency_key, asked = placed or (None, None)
        self._note(
            call,
            caller,
            SCENARIO,
            scenario,
            idempotency_key=idempotency_key,
            asked=asked,
            message="The answer was simulated, as the caller asked. Nothing was done.",
            compared={},
        )

    def _note(self, call: Call, caller: Caller, outcome: str, scenario: str | None, **more: Any) -> None:
        if scenario is not None:
            more["compared"] = {**more["compared"], SCENARIO: scenario}
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
