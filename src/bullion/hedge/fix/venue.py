"""The venue `fix`: orders over one FIX line. This process holds the line; see `docs/venues.md`.

Every order is recorded before it is sent, and every outcome before a call returns it or the line's incoming
number moves. After a logon the venue is asked for all orders without a final answer; then new ones are sent.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from bullion.faults import StoreFault
from bullion.hedge.contract import Contract
from bullion.hedge.venue import (
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
)
from bullion.hedge.venues import FIX, abilities_of

from .order_effects import LineOrder
from .order_factory import OrderFactory, Reference
from .pending_calls import PendingCall
from .profile import Line
from .records import LineRecords
from .report_handler import NotWritten, ReportHandler
from .session_effects import LOGGED_ON, LineState

_RECOVERY_WAIT_S = 1.0
"""How long a new order waits for the end of a recovery."""
_CLAIM_S_MAX = 2.0
"""An order that took longer to record is not sent: another process may have the line by now."""


class FixVenue(ReportHandler):
    abilities = abilities_of(FIX)

    def __init__(
        self,
        line: Line,
        records: LineRecords,
        contracts: Callable[[], Collection[Contract]],
        now_us: Callable[[], int],
        *,
        reference: Reference | None = None,
        keep_incoming: Callable[[int], Awaitable[None]] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        **line_options: Any,
    ) -> None:
        """`keep_incoming` stores the number of the next message, if numbers are kept."""
        super().__init__(line, records, now_us, monotonic, keep_incoming, **line_options)
        self._broker = line.broker
        self._orders = OrderFactory(line, contracts, reference)

    # --- The port -------------------------------------------------------------------------------------

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        self._require_broker(request.broker)
        await self._require_up()
        order = self._orders.order(request)
        if isinstance(order, Declined):
            # The contract may have been another one when an earlier call sent it.
            stored = await self._records.find(request.order_id)
            return order if stored is None or stored.unknown else Duplicate()
        name = order.client_order_id or order.order_id
        if order.client_order_id in self._tracker or name in self._calls:
            return Duplicate()
        call = self._calls.begin(name, "")
        try:
            return await self._send(order, call)
        finally:
            self._calls.end(call)

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        self._require_broker(request.broker)
        # The questions of a recovery go first: behind those of many calls it would take minutes.
        await self._require_up()
        stored = await self._records.find(request.order_id)
        if stored is not None and stored.answer is not None:
            return stored.answer
        if stored is not None and stored.elsewhere:
            return Unconfirmed(f"It was sent on the line {stored.elsewhere}, and has no outcome there.")
        order = self._orders.order(request) if stored is None else self._orders.with_identifier(stored.order)
        if isinstance(order, Declined) or not order.client_order_id:
            # It cannot be sent, or has no number yet: it was never sent, because the record comes first.
            return UnknownOrder()
        if stored is not None:
            self._tracker.restore(order, stored.fills, seen=stored.seen)
        return await self._ask(order)

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        self._require_broker(broker)
        contracts = {each.instrument: each for each in self._orders.contracts()}
        traded = {name: contracts[name] for name in named if name in contracts}
        if not self.line.is_open():
            return dict.fromkeys(traded, Tradeability.SUSPENDED)
        if self.line.state is not LineState.UP:
            raise VenueUnreachable(self._why_down())
        return {name: self._market.tradeability(contract.venue_symbol) for name, contract in traded.items()}

    def tradeability(self, contract: Contract) -> Tradeability:
        """Whether a contract of this line can be dealt now, for the process that holds the line."""
        if not self.line.is_open():
            return Tradeability.SUSPENDED
        if self.line.state is not LineState.UP:
            return Tradeability.UNKNOWN
        return self._market.tradeability(contract.venue_symbol)

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        self._require_broker(broker)
        if self.line.is_open():
            self._require_logged_on()
        line, _, position = after.rpartition(" ")
        own = self.line.line.name
        begin, line = int(position or 0), line or own
        listed = await self._records.executions(begin, limit, line)
        if not listed and line != own:  # The broker had another line before, and its list is at its end.
            line, listed = own, await self._records.executions(0, limit, own)
        return [msgspec.structs.replace(each, cursor=f"{line} {each.cursor}") for each in listed]

    async def reports(self) -> AsyncIterator[OutcomeReport]:
        while True:
            while self._reports:
                yield self._reports.popleft()
            self._reported.clear()
            await self._reported.wait()

    # --- Sending --------------------------------------------------------------------------------------

    async def _send(self, order: LineOrder, call: PendingCall) -> SubmitAnswer:
        connection_no, begun = self.line.connection_no, self._monotonic()
        if order.client_order_id:
            self._tracker.prepare(order)
        loop = asyncio.get_running_loop()
        claim = loop.create_task(self._records.claim(order, self._now_us()))
        ended: asyncio.Future[None] = loop.create_future()
        claim.add_done_callback(partial(_wake, ended))
        try:
            # If this call is cancelled, the claim goes on: `asyncio.shield`, at 5 % less CPU for the cover.
            await ended
            claimed = claim.result()
            if claimed is None:
                self._tracker.forget(order.client_order_id)
                return Duplicate()
            self._tracker.prepare(claimed)
            if claimed.client_order_id != order.client_order_id:
                self._calls.add_name(call, claimed.client_order_id)
            if self._monotonic() - begun > _CLAIM_S_MAX:
                raise VenueUnreachable("recording the order took too long")
            pairs = self._tracker.new_order(claimed, self._now_us())
            number = await self._write(pairs, connection_no)
        except asyncio.CancelledError:
            # It was not written: only waiting can be cancelled, for the store or for the pace.
            self._start(self._withdraw(order, claim))
            raise
        except NotWritten:
            await asyncio.shield(self._start(self._withdraw(order, claim)))
            raise
        except (StoreFault, VenueUnreachable):
            self.counts.unknown += 1
            self._tracker.give_up(_claimed_id(order, claim), self._monotonic())
            raise
        sent_at = self._monotonic()
        self._tracker.sent(claimed, number, sent_at)
        self.counts.sent(claimed.client_order_id, sent_at)
        answer = await self._calls.wait(call, "The venue has not reported an outcome yet.")
        if isinstance(answer, UnknownOrder):
            answer = Unconfirmed("The venue does not know it yet.")
        self.counts.unknown += isinstance(answer, Unconfirmed)
        return answer

    async def _withdraw(self, order: LineOrder, claim: "asyncio.Future[LineOrder | None]") -> None:
        """The order was not sent: once it is recorded, it may be claimed again."""
        named = order.client_order_id
        try:
            claimed = await claim
            if claimed is not None:
                named = claimed.client_order_id
                await self._records.release(claimed)
        except StoreFault:
            pass  # The record says that it was sent. The venue will say that it does not know it.
        self._tracker.forget(named)

    # --- Whether it can be called ---------------------------------------------------------------------

    def _require_broker(self, broker: str) -> None:
        if broker != self._broker:
            raise VenueUnreachable(f"line {self.line.line.name} belongs to broker {self._broker}")

    def _require_logged_on(self) -> None:
        if self.line.state not in LOGGED_ON:
            raise VenueUnreachable(self._why_down())

    async def _require_up(self) -> None:
        self._require_logged_on()
        if not self._is_up.is_set():
            try:
                async with asyncio.timeout(_RECOVERY_WAIT_S):
                    await self._is_up.wait()
            except TimeoutError:
                raise VenueUnreachable("the line still asks for earlier orders") from None
        if self.line.state is not LineState.UP:
            raise VenueUnreachable(self._why_down())

    def _why_down(self) -> str:
        status = self.line.status()
        return f"line {status.name} is {status.state.value}. {status.alarm or status.reason}".strip()


def _wake(waiting: "asyncio.Future[None]", _: object) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _claimed_id(order: LineOrder, claim: "asyncio.Future[LineOrder | None]") -> str:
    """The ClOrdID that the order was recorded with, as far as it was."""
    claimed = claim.result() if claim.done() and not claim.cancelled() and claim.exception() is None else None
    return order.client_order_id if claimed is None else claimed.client_order_id
