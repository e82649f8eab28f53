"""The venue `simulated`: fills, refuses, holds or is down, as the desk sets it, with a durable book.

Like a real venue it knows every accepted order by its id, also after a restart, and accepts an id only once.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Protocol

import msgspec

from bullion.metals.rounding import half_up
from bullion.metals.weight import weight_text

from .venue import (
    Confirmed,
    CoverTerms,
    Declined,
    Duplicate,
    Fill,
    FinalAnswer,
    HedgeRequest,
    ListedExecution,
    OutcomeReport,
    PartiallyFilled,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    Unconfirmed,
    UnknownOrder,
    VenueUnreachable,
)
from .venues import SIMULATED, abilities_of

_US_PER_MS = 1_000
_US_PER_S = 1_000_000
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
    fill_percent: int = 100
    """How much of an order it fills. It cancels the rest."""
    unasked: bool = False
    """It does not answer a submission, and reports the outcome by itself."""


class VenueOrder(msgspec.Struct, frozen=True):
    """An order in the venue's book."""

    order_id: str
    due_at_us: int
    """The time from which it may be decided."""
    submissions: int
    """How often it was sent."""
    outcome: str | None
    execution_id: str | None
    executed_at_us: int | None = None
    filled_e4: int | None = None
    """The weight that it executed; None: all, or nothing."""


class VenueBook(Protocol):
    """The venue's durable book. A StoreFault counts as an unreachable venue."""

    async def behaviour(self, broker: str) -> VenueBehaviour: ...

    async def take(
        self,
        request: HedgeRequest,
        at_us: int,
        due_at_us: int,
        outcome: str | None,
        filled_e4: int | None = None,
    ) -> VenueOrder:
        """Add it to the book, with its outcome if it has one; if it is there, count one more submission.

        `filled_e4`: the weight that is executed if it is only a part.
        """

    async def find(self, order_id: str) -> VenueOrder | None: ...

    async def decide(
        self, order_id: str, outcome: str, at_us: int, filled_e4: int | None = None
    ) -> VenueOrder:
        """An order that is decided stays as it is."""

    async def executions(self, broker: str, after_no: int, limit: int) -> Sequence[ListedExecution]:
        """Confirmed orders of the broker by number. No number is used after a higher one was listed."""


class SimulatedVenue:
    abilities = abilities_of(SIMULATED)

    def __init__(self, book: VenueBook, now_us: Callable[[], int]) -> None:
        self._book = book
        self._now_us = now_us
        self._unreported: asyncio.Queue[tuple[int, HedgeRequest]] = asyncio.Queue()

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        behaviour = await self._reach(request.broker)
        now_us = self._now_us()
        due_at_us = now_us + behaviour.delay_ms * _US_PER_MS
        # Without a delay it is accepted and decided in one step.
        at_once = not behaviour.delay_ms and not behaviour.unasked
        outcome, filled_e4 = _decision(behaviour, request) if at_once else (None, None)
        order = await self._book.take(request, now_us, due_at_us, outcome, filled_e4)
        if order.submissions > 1:
            return Duplicate()
        if behaviour.unasked:
            self._unreported.put_nowait((due_at_us, request))
            return Unconfirmed("The simulated venue will report the outcome.")
        if behaviour.delay_ms and behaviour.mode is not Mode.HOLD:
            await asyncio.sleep(behaviour.delay_ms / 1000)
            behaviour = await self._reach(request.broker)
        return await self._decide(behaviour, request, order, max(due_at_us, self._now_us()))

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        behaviour = await self._reach(request.broker)
        order = await self._book.find(request.order_id)
        if order is None:
            return UnknownOrder()
        return await self._decide(behaviour, request, order, self._now_us())

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        behaviour = await self._reach(broker)
        return {each: behaviour.instruments.get(each, Tradeability.TRADABLE) for each in named}

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        await self._reach(broker)
        return await self._book.executions(broker, int(after or 0), limit)

    async def reports(self) -> AsyncIterator[OutcomeReport]:
        """Only those of orders that this node sent. After a restart it must ask for the others."""
        while True:
            due_at_us, request = await self._unreported.get()
            await asyncio.sleep(max(0, due_at_us - self._now_us()) / _US_PER_S)
            answer: StatusAnswer | None = None
            with suppress(VenueUnreachable):
                answer = await self.order_status(request)
            if isinstance(answer, Confirmed | Declined | PartiallyFilled):
                yield OutcomeReport(request.order_id, answer)

    async def _reach(self, broker: str) -> VenueBehaviour:
        behaviour = await self._book.behaviour(broker)
        if behaviour.mode is Mode.DOWN:
            raise VenueUnreachable("the simulated venue is down")
        return behaviour

    async def _decide(
        self, behaviour: VenueBehaviour, request: HedgeRequest, order: VenueOrder, now_us: int
    ) -> FinalAnswer | Unconfirmed:
        if order.outcome is None:
            outcome, filled_e4 = _decision(behaviour, request)
            if outcome is None:
                return Unconfirmed("The simulated venue holds orders.")
            if now_us < order.due_at_us:
                return Unconfirmed("The simulated venue has not decided yet.")
            order = await self._book.decide(order.order_id, outcome, now_us, filled_e4)
        return _answer(request, order)


def _decision(behaviour: VenueBehaviour, request: HedgeRequest) -> tuple[str | None, int | None]:
    """The outcome, and the weight that is executed if it is only a part. No outcome: it is held."""
    match behaviour.mode:
        case Mode.REFUSE:
            return REFUSED, None
        case Mode.FILL if behaviour.fill_percent == _ALL_PERCENT:
            return CONFIRMED, None
        case Mode.FILL if request.cover is not None:
            return _part_of_cover(request, request.cover, behaviour.fill_percent)
        case Mode.FILL:
            filled_e4 = request.quantity_e4 * behaviour.fill_percent // _ALL_PERCENT
            return (CONFIRMED, filled_e4) if _fine_mg(request, filled_e4) else (REFUSED, None)
        case _:
            return None, None


def _answer(request: HedgeRequest, order: VenueOrder) -> FinalAnswer:
    """The answer to an order that is decided: always the same."""
    execution_id, filled_e4 = order.execution_id or "", order.filled_e4
    if order.outcome != CONFIRMED:
        return Declined(execution_id, "The simulated venue refuses orders.")
    if request.cover is not None:
        return _cover_answer(request, request.cover, order)
    if filled_e4 is None:
        return Confirmed(execution_id)
    price_e6 = request.price_paise * _E6_PER_PAISA
    fill = Fill(execution_id, filled_e4 * _E8_PER_E4, price_e6, order.executed_at_us or 0)
    left_mg = request.fine_mg - _fine_mg(request, filled_e4)
    if left_mg <= 0:
        return Confirmed(execution_id, (fill,))
    message = f"The simulated venue filled {weight_text(filled_e4)} of {weight_text(request.quantity_e4)}."
    return PartiallyFilled(execution_id, (fill,), left_mg, message, below_step=left_mg < STEP_FINE_MG)


def _part_of_cover(
    request: HedgeRequest, cover: CoverTerms, fill_percent: int
) -> tuple[str | None, int | None]:
    """In whole steps of the contract."""
    steps = cover.quantity_e8 * fill_percent // (_ALL_PERCENT * cover.contract.step_e8)
    if not steps:
        return REFUSED, None
    return CONFIRMED, half_up(request.quantity_e4 * steps * cover.contract.step_e8, cover.quantity_e8)


def _cover_answer(request: HedgeRequest, cover: CoverTerms, order: VenueOrder) -> FinalAnswer:
    """A cover is filled in the measure of its contract, at the market's price when it was sent."""
    execution_id, filled_e8 = order.execution_id or "", cover.quantity_e8
    if order.filled_e4 is not None:
        steps = half_up(cover.quantity_e8 * order.filled_e4, request.quantity_e4 * cover.contract.step_e8)
        filled_e8 = min(max(steps, 1) * cover.contract.step_e8, cover.quantity_e8)
    fills = (Fill(execution_id, filled_e8, cover.reference_e6, order.executed_at_us or 0),)
    left_mg = request.fine_mg * (cover.quantity_e8 - filled_e8) // cover.quantity_e8
    if left_mg <= 0:
        return Confirmed(execution_id, fills)
    return PartiallyFilled(execution_id, fills, left_mg, "The simulated venue filled a part of it.")


def _fine_mg(request: HedgeRequest, filled_e4: int) -> int:
    return request.fine_mg * filled_e4 // request.quantity_e4


CONFIRMED = "confirmed"
REFUSED = "refused"
STEP_FINE_MG = 1_000
"""The smallest weight that it deals in after a partial fill: a gram."""
_ALL_PERCENT = 100
_E6_PER_PAISA = 10_000
_E8_PER_E4 = 10_000
