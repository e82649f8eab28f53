"""The venue `simulated`: fills, refuses, holds or is down, as the desk sets it, with a durable book.

Like a real venue it knows every accepted order by its id, also after a restart, and accepts an id only once.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from .venue import (
    SIMULATED,
    Confirmed,
    Declined,
    Duplicate,
    HedgeRequest,
    ListedExecution,
    OutcomeReport,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    Unconfirmed,
    UnknownOrder,
    VenueUnreachable,
    no_reports,
)
from .venues import abilities_of

_US_PER_MS = 1_000
DELAY_MS_MAX = 600_000


class Mode(StrEnum):
    FILL = "fill"
    REFUSE = "refuse"
    HOLD = "hold"
    """Orders are accepted and wait. After a change of mode they are decided by the next status request."""
    DOWN = "down"
    """It cannot be reached, and does not receive orders that are sent meanwhile."""


class VenueBehaviour(msgspec.Struct, frozen=True):
    """How the venue behaves toward one broker."""

    broker: str
    mode: Mode = Mode.FILL
    delay_ms: int = 0
    """How long it takes to decide an order."""
    instruments: Mapping[str, Tradeability] = {}
    """An instrument that is not listed is tradable."""


class VenueOrder(msgspec.Struct, frozen=True):
    """An order in the venue's book."""

    order_id: str
    due_at_us: int
    """The time from which it may be decided."""
    submissions: int
    """How often it was sent."""
    outcome: str | None
    execution_id: str | None


class VenueBook(Protocol):
    """The venue's durable book. A StoreFault counts as an unreachable venue."""

    async def behaviour(self, broker: str) -> VenueBehaviour: ...

    async def take(
        self, request: HedgeRequest, at_us: int, due_at_us: int, outcome: str | None
    ) -> VenueOrder:
        """Add it to the book, with its outcome if it has one; if it is there, count one more submission."""

    async def find(self, order_id: str) -> VenueOrder | None: ...

    async def decide(self, order_id: str, outcome: str, at_us: int) -> VenueOrder:
        """An order that is decided stays as it is."""

    async def executions(self, broker: str, after_no: int, limit: int) -> Sequence[ListedExecution]:
        """Confirmed orders of the broker by number. No number is used after a higher one was listed."""


class SimulatedVenue:
    abilities = abilities_of(SIMULATED)

    def __init__(self, book: VenueBook, now_us: Callable[[], int]) -> None:
        self._book = book
        self._now_us = now_us

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        behaviour = await self._reach(request.broker)
        now_us = self._now_us()
        due_at_us = now_us + behaviour.delay_ms * _US_PER_MS
        # Without a delay it is accepted and decided in one step.
        outcome = None if behaviour.delay_ms else _OUTCOMES.get(behaviour.mode)
        order = await self._book.take(request, now_us, due_at_us, outcome)
        if order.submissions > 1:
            return Duplicate()
        if behaviour.delay_ms and behaviour.mode is not Mode.HOLD:
            await asyncio.sleep(behaviour.delay_ms / 1000)
            behaviour = await self._reach(request.broker)
        return await self._decide(behaviour, order, max(due_at_us, self._now_us()))

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        behaviour = await self._reach(request.broker)
        order = await self._book.find(request.order_id)
        return UnknownOrder() if order is None else await self._decide(behaviour, order, self._now_us())

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        behaviour = await self._reach(broker)
        return {each: behaviour.instruments.get(each, Tradeability.TRADABLE) for each in named}

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        await self._reach(broker)
        return await self._book.executions(broker, int(after or 0), limit)

    def reports(self) -> AsyncIterator[OutcomeReport]:
        return no_reports()

    async def _reach(self, broker: str) -> VenueBehaviour:
        behaviour = await self._book.behaviour(broker)
        if behaviour.mode is Mode.DOWN:
            raise VenueUnreachable("the simulated venue is down")
        return behaviour

    async def _decide(
        self, behaviour: VenueBehaviour, order: VenueOrder, now_us: int
    ) -> Confirmed | Declined | Unconfirmed:
        if order.outcome is None:
            outcome = _OUTCOMES.get(behaviour.mode)
            if outcome is None:
                return Unconfirmed("The simulated venue holds orders.")
            if now_us < order.due_at_us:
                return Unconfirmed("The simulated venue has not decided yet.")
            order = await self._book.decide(order.order_id, outcome, now_us)
        execution_id = order.execution_id or ""
        if order.outcome == CONFIRMED:
            return Confirmed(execution_id)
        return Declined(execution_id, "The simulated venue refuses orders.")


CONFIRMED = "confirmed"
REFUSED = "refused"
_OUTCOMES = {Mode.FILL: CONFIRMED, Mode.REFUSE: REFUSED}
