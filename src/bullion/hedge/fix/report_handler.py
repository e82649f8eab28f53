"""What a line tells about its orders, handled one by one and in order.

Outcomes are stored before a call returns them and before the line's incoming number moves. After a logon the
venue is asked for all orders without a final answer.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import structlog

from bullion.faults import StoreFault
from bullion.hedge.venue import (
    Duplicate,
    OutcomeReport,
    StatusAnswer,
    Unconfirmed,
    UnknownOrder,
    VenueUnreachable,
)

from .codec import Message, Pair
from .connection import Chunk
from .lease import NotHolder
from .line import FixLine
from .line_counts import LineCounts
from .order_effects import (
    Ask,
    DuplicateSeen,
    Effect,
    FillSeen,
    LineBreak,
    LineOrder,
    OrderFinal,
    OrderSeen,
    OrderUnknown,
    StatusAnswered,
)
from .orders import OrderTracker
from .pending_calls import PendingCalls
from .profile import Line
from .records import Learned, LineRecords, StoredOrder
from .session_effects import LineState, LostInWrite, NotLoggedOn
from .step_queue import StepQueue
from .tradeability import MARKET_TYPES, MarketStatus

_SETTLE_S = 0.05
_STORE_PAUSE_S = 0.5
_REMEMBERED = 5_000
"""Orders with a final answer that stay in memory. Others are read from the store when a report names them."""
_REPORTS_MAX = 10_000

_log = structlog.get_logger("hedge")
T = TypeVar("T")


class NotWritten(VenueUnreachable):
    """The line was lost before the message was written."""


class ReportHandler:
    def __init__(
        self,
        line: Line,
        records: LineRecords,
        now_us: Callable[[], int],
        monotonic: Callable[[], float],
        keep_incoming: Callable[[int], Awaitable[None]] | None,
        **line_options: Any,
    ) -> None:
        self.line = FixLine(line, self, now_us, **line_options)
        self.counts = LineCounts()
        self._records = records
        self._now_us = now_us
        self._monotonic = monotonic
        self._keep_incoming = keep_incoming
        self._tracker = OrderTracker(line.profile, line.account)
        self._calls = PendingCalls(line.profile.report_ms / 1000)
        self._market = MarketStatus()
        self._settled: OrderedDict[str, None] = OrderedDict()
        self._steps = StepQueue()
        self._tick_timer: asyncio.TimerHandle | None = None
        self._reports: deque[OutcomeReport] = deque(maxlen=_REPORTS_MAX)
        self._reported = asyncio.Event()
        self._is_up = asyncio.Event()
        self._restored_no: int | None = None
        """The first connection of this process's hold on the line for which orders were restored."""
        self._asking: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Keep the line up and handle what it receives, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._steps.run())
            try:
                await self.line.run()
            finally:
                if self._tick_timer is not None:
                    self._tick_timer.cancel()
                for task in self._tasks:
                    task.cancel()
            raise asyncio.CancelledError

    # --- What the line tells --------------------------------------------------------------------------

    def logged_on(self, connection_no: int, logon: Message) -> None:  # noqa: ARG002
        self._steps.put(lambda: self._begin_line(connection_no))

    def received(self, connection_no: int, chunk: Chunk) -> None:
        self._steps.put(lambda: self._take(connection_no, chunk))

    def lost(self, connection_no: int, reason: str) -> None:  # noqa: ARG002
        """Calls end at once: their orders are asked for after the next logon."""
        self._is_up.clear()
        self._calls.fail_all(VenueUnreachable(f"the line was lost: {reason}"))

    # --- Recovery -------------------------------------------------------------------------------------

    async def _begin_line(self, connection_no: int) -> None:
        first_no = self.line.first_connection_no
        stored: Sequence[StoredOrder] = ()
        if self._restored_no != first_no:
            # Another process had the line: begin as a new process would. Read before anything is forgotten,
            # so that nothing of before comes back while this waits for the store.
            stored = await self._from_store(self._records.unsettled)
            self._tracker.forget_all()
            self._settled.clear()
            self.counts.forget_all()
            self._restored_no = first_no
        self._tracker.logged_on(connection_no, self._monotonic())
        self._market.clear()
        for each in stored:
            self._restore(each)
        self._start(self._recover(connection_no))

    async def _recover(self, connection_no: int) -> None:
        try:
            for order in self._tracker.unsettled():
                # Answers would wait behind what the venue sends again. If the line is lost meanwhile, they
                # are sent again too, and the next connection has even more to read.
                await self.line.gap_filled(connection_no)
                if connection_no != self.line.connection_no:
                    return  # The order may be forgotten by now, and must not come back as it was.
                try:
                    question, pairs = self._tracker.ask(order, self._monotonic())
                    if pairs:
                        number = await self.line.send(pairs, connection_no)
                        self._tracker.numbered(number, order.client_order_id, question)
                except ValueError as error:  # The other orders must not wait for this one.
                    self._cannot_ask(order, error)
        except NotLoggedOn:
            return  # The next logon begins anew.
        self.line.recovered(connection_no)
        if self.line.connection_no == connection_no and self.line.state is LineState.UP:
            self._is_up.set()

    def _restore(self, stored: StoredOrder) -> None:
        self._tracker.restore(stored.order, stored.fills, stored.answer, stored.filled_e8, stored.seen)
        if stored.answer is not None:
            self._remember(stored.order.client_order_id)

    async def _restore_foreign(self, name: str) -> None:
        if name:
            seen = await self._from_store(self._records.find_seen, name)
            if seen is not None:
                self._tracker.foreign.restore(seen)

    def _remember(self, client_order_id: str) -> None:
        self._settled[client_order_id] = None
        if len(self._settled) > _REMEMBERED:
            oldest, _ = self._settled.popitem(last=False)
            self._tracker.forget(oldest)

    # --- Reports --------------------------------------------------------------------------------------

    async def _take(self, connection_no: int, chunk: Chunk) -> None:
        """Outcomes are stored before anybody hears of them, and before the incoming number moves."""
        tracker, now = self._tracker, self._monotonic()
        effects: list[Effect] = []
        broken = [each for each in chunk.unreadable if each.type == "8"]  # They may tell of an execution.
        for message in (*chunk.messages, *broken):
            if message.type in MARKET_TYPES:
                self._market.note(message)
            named = tracker.client_order_id(message)
            if named is not None and named not in tracker:
                stored = await self._from_store(self._records.find_sent, named)
                if stored is not None:
                    self._restore(stored)
            if named is None or named not in tracker:
                await self._restore_foreign(tracker.foreign_order(message))
            effects += tracker.received(message, now)
        if effects:
            await self._apply(effects)
        if tracker.settling and self._tick_timer is None:
            self._tick_later()
        if self._keep_incoming is not None and connection_no == self.line.connection_no:
            with suppress(NotHolder):  # The lease is lost: the line is cut, and the next holder asks.
                await self._from_store(self._keep_incoming, chunk.incoming)

    def _tick_later(self) -> None:
        """Settle orders whose fills are not reported in time."""
        loop = asyncio.get_running_loop()
        self._tick_timer = loop.call_later(_SETTLE_S, self._steps.put, self._tick)

    async def _tick(self) -> None:
        self._tick_timer = None
        await self._apply(self._tracker.tick(self._monotonic()))
        if self._tracker.settling:
            self._tick_later()

    async def _apply(self, effects: Sequence[Effect]) -> None:
        learned = [each for each in effects if isinstance(each, Learned)]
        if learned:
            await self._from_store(self._records.learn, learned, self._now_us())
        for each in effects:
            if isinstance(each, OrderUnknown):
                await self._from_store(self._records.release, each.order)
            self._tell(each)

    def _tell(self, effect: Effect) -> None:
        match effect:
            case FillSeen() | OrderSeen():
                pass
            case OrderFinal():
                named = effect.order.client_order_id
                self.counts.answered(named, self._monotonic())
                self._remember(named)
                self.line.progressed()
                if not self._calls.answer(named, effect.answer, None):
                    self._reports.append(OutcomeReport(effect.order.order_id, effect.answer))
                    self._reported.set()
            case DuplicateSeen():
                self._calls.answer(effect.order.client_order_id, Duplicate(), "")
                self._ask_later(effect.order)
            case OrderUnknown():
                self.line.progressed()
                self.counts.forget(effect.order.client_order_id)
                self._calls.answer(effect.order.client_order_id, UnknownOrder(), None)
            case StatusAnswered(order, question, message):
                self._calls.answer(order.client_order_id, Unconfirmed(message), question or "-")
            case Ask():
                self._ask_later(effect.order)
            case LineBreak():
                self._log_break(effect)

    def _log_break(self, made: LineBreak) -> None:
        _log.error(
            "line_break",
            line=self.line.line.name,
            reason=made.reason.value,
            execution_id=made.execution_id,
            client_order_id=made.client_order_id,
            message=made.message,
        )

    # --- Questions ------------------------------------------------------------------------------------

    def _ask_later(self, order: LineOrder) -> None:
        async def ask() -> None:
            try:
                if order.client_order_id in self._tracker:  # Not forgotten meanwhile.
                    await self._ask(order)
            except VenueUnreachable:
                pass  # It is asked for after the next logon.
            finally:
                self._asking.discard(order.client_order_id)

        if order.client_order_id not in self._asking:
            self._asking.add(order.client_order_id)
            self._start(ask())

    def _cannot_ask(self, order: LineOrder, error: ValueError) -> None:
        """No question about it can be written. The next call reads it from the store, and names it as its
        contract is named then."""
        words = f"It cannot be asked for: {error}"
        _log.warning("venue_did_not_answer", order_id=order.order_id, error=words)
        self._tracker.forget(order.client_order_id)

    async def _ask(self, order: LineOrder) -> StatusAnswer:
        connection_no = self.line.connection_no
        try:
            question, pairs = self._tracker.ask(order, self._monotonic())
        except ValueError as error:
            self._cannot_ask(order, error)
            return Unconfirmed(f"It cannot be asked for: {error}.")
        call = self._calls.begin(order.client_order_id, question)
        try:
            if pairs:
                number = await self._write(pairs, connection_no)
                self._tracker.numbered(number, order.client_order_id, question)
            answer = await self._calls.wait(call, "The venue has not answered the question yet.")
        finally:
            self._calls.end(call)
        return answer if not isinstance(answer, Duplicate) else Unconfirmed("The venue has it.")

    async def _write(self, pairs: Sequence[Pair], connection_no: int) -> int:
        try:
            return await self.line.send(pairs, connection_no)
        except LostInWrite as error:
            raise VenueUnreachable(str(error)) from error
        except NotLoggedOn as error:
            raise NotWritten(str(error)) from error

    # --- Tasks and the store --------------------------------------------------------------------------

    def _start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _from_store(self, call: Callable[..., Awaitable[T]], *values: Any) -> T:
        """Until it succeeds: what follows must not happen without it. Meanwhile calls time out."""
        while True:
            try:
                return await call(*values)
            except StoreFault as fault:
                _log.warning("line_not_recorded", line=self.line.line.name, fault=repr(fault))
                await asyncio.sleep(_STORE_PAUSE_S)
