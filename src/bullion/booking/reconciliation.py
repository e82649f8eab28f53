"""Compares the venue's executions with our requests, so that no execution is missed, however late it is.

The venue lists its executions in its own order. The store keeps the cursor up to which they were compared.
Every step may be repeated, also by several nodes at once: the cursor moves last.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Protocol, TypeVar

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.hedge.cover import SENT, BookCover
from bullion.hedge.venue import (
    Confirmed,
    FinalAnswer,
    ListedExecution,
    PartiallyFilled,
    Venue,
    VenueUnreachable,
    cancelled_by_adapter,
)
from bullion.last_success import note_start, note_success
from bullion.metals.metal import Metal

from .attempt import ToHedge
from .breaks import Mismatch, UnmatchedExecution, signed_weight, weight_beyond
from .cover_fills import cover_mismatch, cover_weight_beyond, has_execution
from .cover_sending import cover_request
from .hedge_requests import HedgeRequests
from .partial_fills import TOLERANCE_E4, part_of

EVERY_S = 3.0
_LISTED_MAX = 500
_BROKERS_AT_ONCE = 64
"""A venue that hangs for some brokers must not delay the others."""
_LIST_S = 5.0
"""How long the venue may take to list its executions."""

T = TypeVar("T")

_log = structlog.get_logger("hedge")


class HedgedOrder(msgspec.Struct, frozen=True):
    """An order, or a child of one, that an execution names, with the execution that its request has."""

    to_hedge: ToHedge
    confirmed_as: str | None
    """None: its request is not confirmed."""
    quantity_e4: int
    """What was filled of it; if that is not known, what was sent."""


class HedgedCover(msgspec.Struct, frozen=True):
    """A cover of a hedge book that an execution names."""

    cover: BookCover
    filled_e8: int


class ExecutionRecords(Protocol):
    """How far executions were compared, and which of them no order accounts for. May raise StoreFault."""

    @property
    def failovers(self) -> int:
        """How often another server has taken over as the store, which may lack the last commits."""

    async def cursor(self, broker: str) -> str: ...

    async def move_cursor(self, broker: str, before: str, after: str) -> bool:
        """Move it from `before`. False: another node has moved it, and it stays there."""

    async def unaccounted(
        self, broker: str, executions: Sequence[ListedExecution]
    ) -> Sequence[ListedExecution]:
        """Those that their order's request, or their cover, does not have with the same side and weight."""

    async def hedged_order(self, broker: str, sent_id: str) -> HedgedOrder | None:
        """`sent_id`: the id of an order or of a child."""

    async def hedged_cover(self, broker: str, cover_id: str) -> HedgedCover | None: ...

    async def add_unmatched(self, broker: str, unmatched: UnmatchedExecution) -> None:
        """Add it, unless it is there already, also if the desk has resolved it."""


class Reconciliation:
    def __init__(
        self,
        venue: Venue,
        requests: HedgeRequests,
        records: ExecutionRecords,
        brokers: Callable[[], Collection[str]],
        metal_of: Callable[[str, str], Metal | None],
        answer_cover: Callable[[BookCover, FinalAnswer], Awaitable[None]] | None = None,
    ) -> None:
        """`metal_of`: the metal that a broker hedges in an instrument. `answer_cover` records the venue's
        answer to a cover. None: there are no covers."""
        self._venue = venue
        self._requests = requests
        self._records = records
        self._brokers = brokers
        self._metal_of = metal_of
        self._answer_cover = answer_cover
        self._cursors: dict[str, str] = {}
        """The store's cursors as this node saw them last. An old cursor only repeats comparisons."""
        self._known_failovers = records.failovers

    async def run(self) -> None:
        """Run for as long as the node does."""
        note_start("reconciliation")
        turns = asyncio.Semaphore(_BROKERS_AT_ONCE)
        while True:
            more = await asyncio.gather(*(self._try(broker, turns) for broker in list(self._brokers())))
            if None not in more:
                note_success("reconciliation")
            await asyncio.sleep(0 if any(more) else EVERY_S)

    async def _try(self, broker: str, turns: asyncio.Semaphore) -> bool | None:
        """Whether there may be more; None if the broker's executions could not be compared."""
        try:
            async with turns:
                return await self.reconcile(broker)
        except VenueUnreachable:
            pass  # `VenueWatch` logs it.
        except StoreFault as fault:
            _log.warning("reconciliation_failed", broker=broker, fault=repr(fault))
        except Exception:  # noqa: BLE001 - the cursor stays, and the next turn tries again
            _log.exception("reconciliation_failed", broker=broker)
        return None

    async def reconcile(self, broker: str) -> bool:
        """Compare one page of a broker's executions. Returns whether there may be more."""
        failovers = self._records.failovers
        if failovers != self._known_failovers:
            self._known_failovers = failovers
            self._cursors.clear()
        cursor = self._cursors.get(broker)
        if cursor is None:
            cursor = self._cursors[broker] = await self._records.cursor(broker)
        listed = await self._list(broker, cursor)
        if not listed:
            return False
        failed: Exception | None = None
        for execution in await self._records.unaccounted(broker, listed):
            try:
                await self._account(broker, execution)
            except Exception as error:  # noqa: BLE001 - raised below, after the others
                failed = failed or error
        if failed is not None:
            raise failed
        moved = await self._records.move_cursor(broker, cursor, listed[-1].cursor)
        if moved and self._records.failovers == failovers:
            self._cursors[broker] = listed[-1].cursor
        else:
            self._cursors.pop(broker, None)
        return len(listed) == _LISTED_MAX

    async def _list(self, broker: str, cursor: str) -> Sequence[ListedExecution]:
        return await _in_time(self._venue.executions(broker, cursor, _LISTED_MAX), "no list of executions")

    async def _account(self, broker: str, execution: ListedExecution) -> None:
        """Record it: as the answer to its request, as a break of its own, or both."""
        found = await self._records.hedged_order(broker, execution.order_id)
        if found is None and await self._account_cover(broker, execution):
            return
        if found is None:
            metal = self._metal_of(broker, execution.instrument)
            await self._add(broker, execution, Mismatch.UNKNOWN_ORDER, metal, signed_weight(execution))
            return
        order, quantity_e4 = found.to_hedge.order, found.quantity_e4
        if found.confirmed_as not in (None, execution.execution_id):
            await self._add(
                broker, execution, Mismatch.SECOND_EXECUTION, order.metal, signed_weight(execution)
            )
            return
        if found.confirmed_as is None:
            # A pending order becomes a deal by this. A deleted one gets a break.
            answer = await self._answer(found, execution)
            await self._requests.answer(found.to_hedge, answer)
            quantity_e4 = part_of(found.to_hedge.request(), answer).filled_e4
        excess_e4 = weight_beyond(order.asked.trade_type, quantity_e4, execution)
        is_part = quantity_e4 < order.asked.quantity_e4
        if abs(excess_e4) > (TOLERANCE_E4 if is_part else 0):
            await self._add(broker, execution, Mismatch.DIFFERS, order.metal, excess_e4)

    async def _account_cover(self, broker: str, execution: ListedExecution) -> bool:
        """False: no cover has the id that the execution names."""
        found = await self._records.hedged_cover(broker, execution.order_id)
        if found is None:
            return False
        unanswered = found.cover.state == SENT or found.cover.settled_by is not None
        if unanswered and self._answer_cover is not None:
            status = self._venue.order_status(cover_request(found.cover))
            answer = await _in_time(status, "no status")
            if isinstance(answer, Confirmed | PartiallyFilled):
                await self._answer_cover(found.cover, answer)
                found = await self._records.hedged_cover(broker, execution.order_id) or found
            elif found.cover.state == SENT:
                raise VenueUnreachable("it lists the execution of a cover, and has no final answer for it")
        cover = found.cover
        if not has_execution(cover, execution.execution_id):
            reason, excess_e4 = cover_mismatch(cover), signed_weight(execution)
        else:
            reason, excess_e4 = Mismatch.DIFFERS, cover_weight_beyond(cover, found.filled_e8, execution)
        if excess_e4:
            await self._add(broker, execution, reason, cover.metal, excess_e4)
        return True

    async def _answer(self, found: HedgedOrder, execution: ListedExecution) -> Confirmed | PartiallyFilled:
        """The list has no fills, and not what is left of an order: the venue is asked for both."""
        abilities = self._venue.abilities
        is_part = abilities.partial and execution.quantity_e4 < found.quantity_e4
        if is_part or abilities.covers:
            answer = await _in_time(self._venue.order_status(found.to_hedge.request()), "no status")
            if isinstance(answer, Confirmed | PartiallyFilled) and (
                answer.execution_id == execution.execution_id
            ):
                return answer
            if is_part:
                raise VenueUnreachable("it lists a part of an order, and has no final answer for the order")
        return Confirmed(execution.execution_id)

    async def _add(
        self,
        broker: str,
        execution: ListedExecution,
        reason: Mismatch,
        metal: Metal | None,
        excess_e4: int,
    ) -> None:
        _log.error(
            "execution_unmatched",
            broker=broker,
            reason=reason.value,
            execution_id=execution.execution_id,
            order_id=execution.order_id,
        )
        await self._records.add_unmatched(broker, UnmatchedExecution(execution, reason, metal, excess_e4))


async def _in_time(call: Awaitable[T], missing: str) -> T:
    try:
        async with asyncio.timeout(_LIST_S):
            return await call
    except TimeoutError:
        raise VenueUnreachable(f"{missing} within {_LIST_S:g} seconds") from None
    except asyncio.CancelledError as error:
        if not cancelled_by_adapter():
            raise
        raise VenueUnreachable(f"{missing}: the adapter cancelled the call") from error
