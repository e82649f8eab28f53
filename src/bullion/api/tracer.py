"""Notes the decision on every order: taken, replayed, or refused by whichever check."""

from collections.abc import Callable
from typing import Any

from bullion.booking.placing import Booked, Outcome, Placing
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

    def judged(self, call: Call, caller: Caller, placing: Placing, outcome: Outcome) -> None:
        """An order that came as far as the market and the book."""
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
            idempotency_key=placing.idempotency_key,
            asked=placing.asked,
            order_id=order_id,
            message=message,
            compared=outcome.compared,
        )

    def refused(self, call: Call, caller: Caller, refused: RefusalError) -> None:
        """A call that was refused before there was an order to judge."""
        self._note(call, caller, refused.refusal.code, message=refused.message, compared=refused.fields)

    def pretended(
        self, call: Call, caller: Caller, scenario: str, placed: tuple[str, PlaceOrder] | None
    ) -> None:
        """A call whose answer was made up. `placed`: its idempotency key and order, if they were read."""
        idempotency_key, asked = placed or (None, None)
        self._note(
            call,
            caller,
            SCENARIO,
            idempotency_key=idempotency_key,
            asked=asked,
            message="The answer was made up, as the caller asked. Nothing was done.",
            compared={SCENARIO: scenario},
        )

    def marked(self, scenario: str) -> "Tracer":
        """For an order that is placed in earnest, and answered otherwise."""
        return _Marked(self._traces, self._now_us, scenario)

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


class _Marked(Tracer):
    """Apart, so that an order without a scenario is not asked whether it has one."""

    def __init__(self, traces: TraceBook, now_us: Callable[[], int], scenario: str) -> None:
        super().__init__(traces, now_us)
        self._scenario = scenario

    def _note(self, call: Call, caller: Caller, outcome: str, **more: Any) -> None:
        more["compared"] = {**more["compared"], SCENARIO: self._scenario}
        super()._note(call, caller, outcome, **more)
