"""Traces the decision on every order: booked, replayed, or refused by which check."""

from collections.abc import Callable
from typing import Any

import msgspec

from bullion.booking.attempt import OrderAttempt, Outcome
from bullion.booking.decision_trace import decision_trace
from bullion.orders.request import PlaceOrder
from bullion.orders.trace import Trace, TraceLog
from bullion.refusals.refusal import RefusalError
from bullion.web.calls import Call

from .gate import Caller

SCENARIO = "scenario"


class Tracer:
    def __init__(self, traces: TraceLog, now_us: Callable[[], int]) -> None:
        self._traces = traces
        self._now_us = now_us

    def trace_decision(self, attempt: OrderAttempt, outcome: Outcome, scenario: str | None) -> None:
        """Trace an order that was checked against the market and the book."""
        trace = decision_trace(attempt, outcome, self._now_us())
        if scenario is not None:
            trace = msgspec.structs.replace(trace, compared={**trace.compared, SCENARIO: scenario})
        self._traces.add(trace)

    def trace_refusal(
        self, call: Call, caller: Caller, refused: RefusalError, scenario: str | None = None
    ) -> None:
        """Trace a call that was refused before its order was read."""
        compared = refused.fields if scenario is None else {**refused.fields, SCENARIO: scenario}
        self._add(call, caller, refused.refusal.code, message=refused.message, compared=compared)

    def trace_simulated(
        self, call: Call, caller: Caller, scenario: str, placed: tuple[str, PlaceOrder] | None
    ) -> None:
        """Trace a simulated response. `placed`: the call's idempotency key and order, if they were read."""
        idempotency_key, asked = placed or (None, None)
        self._add(
            call,
            caller,
            SCENARIO,
            idempotency_key=idempotency_key,
            asked=asked,
            message="The answer was simulated, as the caller asked. Nothing was done.",
            compared={SCENARIO: scenario},
        )

    def _add(self, call: Call, caller: Caller, outcome: str, **more: Any) -> None:
        self._traces.add(
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
