"""The venue `fix`: orders over one FIX line. This process holds the line; see `docs/venues.md`.

Every order is recorded before it is sent, and every outcome before a call returns it or the line's incoming
number moves. After a logon the venue is asked for all orders without a final answer; then new ones are sent.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.hedge.contract import Contract
from bullion.hedge.venue import (
    FIX,
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
    VenueAbilities,
    VenueUnreachable,
)

from .codec import Message
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
    OrderUnknown,
    StatusAnswered,
)
from .order_messages import new_client_order_id
from .orders import OrderTracker
from .profile import Line, OrderType
from .records import LineRecords, StoredOrder
from .session_effects import LOGGED_ON, LineState, NotLoggedOn
from .tradeability import MarketStatus

_RECOVERY_WAIT_S = 1.0
"""How long a new order waits for the end of a recovery."""
_CLAIM_S_MAX = 2.0
"""An order that took longer to record is not sent: another process may have the line by now."""
_SETTLE_S = 0.05
_STORE_PAUSE_S = 0.5
_REMEMBERED = 5_000
"""Orders with a final answer that stay in memory. Others are read from the store when a report names them."""
_REPORTS_MAX = 10_000

_log = structlog.get_logger("hedge")

Reference = Callable[[Contract], int | None]
"""The price of a contract now, in millionths; None if no fresh one is known."""


class _Call(msgspec.Struct, eq=False):
    """A call that waits for the venue."""

    question: str
    """Empty: a `submit`."""
    done: "asyncio.Future[SubmitAnswer | StatusAnswer]"
    names: list[str] = []
    """Under which it is found."""


class FixVenue:
    abilities = VenueAbilities(FIX, partial=True, covers=True)

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
        self.line = FixLine(line, self, now_us, **line_options)
        self._broker = line.broker
        self._profile = line.profile
        self._records = records
        self._contracts = contracts
        self._now_us = now_us
        self._monotonic = monotonic
        self._reference = reference
        self._keep_incoming = keep_incoming
        self._tracker = OrderTracker(line.profile, line.account)
        self.counts = LineCounts()
        self._market = MarketStatus()
        self._calls: dict[str, list[_Call]] = {}
        self._settled: OrderedDict[str, None] = OrderedDict()
        self._events: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue()
        self._reports: deque[OutcomeReport] = deque(maxlen=_REPORTS_MAX)
        self._reported = asyncio.Event()
        self._is_up = asyncio.Event()
        self._restored = False
        self._asking: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Keep the line up and handle what it receives, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._work())
            try:
                await self.line.run()
            finally:
                for task in self._tasks:
                    task.cancel()
            raise asyncio.CancelledError

    # --- The port -------------------------------------------------------------------------------------

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        self._require_broker(request.broker)
        await self._require_up()
        order = self._order(request)
        if isinstance(order, Declined):
            return order
        name = order.client_order_id or order.order_id
        if order.client_order_id in self._tracker or name in self._calls:
            return Duplicate()
        call = self._begin_call(name, "")
        try:
            return await self._send(order, call)
        finally:
            self._end_call(call)

    async def _send(self, order: LineOrder, call: _Call) -> SubmitAnswer:
        connection_no, begun = self.line.connection_no, self._monotonic()
        if order.client_order_id:
            self._tracker.prepare(order)
        claim = asyncio.ensure_future(self._records.claim(order, self._now_us()))
        try:
            claimed = await asyncio.shield(claim)
            if claimed is None:
                self._tracker.forget(order.client_order_id)
                return Duplicate()
            self._tracker.prepare(claimed)
            if claimed.client_order_id != order.client_order_id:
                self._name_call(call, claimed.client_order_id)
            if self._monotonic() - begun > _CLAIM_S_MAX:
                raise VenueUnreachable("recording the order took too long")
            pairs = self._tracker.new_order(claimed, self._now_us())
            number = await self._write(pairs, connection_no)
        except asyncio.CancelledError:
            # It was not written: only waiting can be cancelled, for the store or for the pace.
            self._start(self._withdraw(order, claim))
            raise
        except (StoreFault, VenueUnreachable):
            self.counts.unknown += 1
            self._tracker.give_up(_claimed_id(order, claim), self._monotonic())
            raise
        sent_at = self._monotonic()
        self._tracker.sent(claimed, number, sent_at)
        self.counts.sent(claimed.client_order_id, sent_at)
        answer = await self._wait(call, "The venue has not reported an outcome yet.")
        if isinstance(answer, UnknownOrder):
            answer = Unconfirmed("The venue does not know it yet.")
        self.counts.unknown += isinstance(answer, Unconfirmed)
        return answer

    async def _withdraw(self, order: LineOrder, claim: "asyncio.Future[LineOrder | None]") -> None:
        """A call was cancelled before its order was sent: once it is recorded, it may be claimed again."""
        try:
            claimed = await claim
            if claimed is not None:
                await self._records.release(claimed)
                self._tracker.forget(claimed.client_order_id)
        except StoreFault:
            claimed = None  # The record says that it was sent. The venue will say that it does not know it.
        if claimed is None:
            self._tracker.forget(order.client_order_id)

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        self._require_broker(request.broker)
        # The questions of a recovery go first: behind those of many calls it would take minutes.
        await self._require_up()
        stored = await self._records.find(request.order_id)
        if stored is not None and stored.answer is not None:
            return stored.answer
        order = stored.order if stored is not None else self._order(request)
        if isinstance(order, Declined) or not order.client_order_id:
            # It cannot be sent, or has no number yet: it was never sent, because the record comes first.
            return UnknownOrder()
        if stored is not None:
            self._tracker.restore(stored.order, stored.fills)
        return await self._ask(order)

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        self._require_broker(broker)
        contracts = {each.instrument: each for each in self._contracts() if each.venue == self.line.line.name}
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
        return await self._records.executions(int(after or 0), limit)

    async def reports(self) -> AsyncIterator[OutcomeReport]:
        while True:
            while self._reports:
                yield self._reports.popleft()
            self._reported.clear()
            await self._reported.wait()

    # --- Orders ---------------------------------------------------------------------------------------

    def _order(self, request: HedgeRequest) -> LineOrder | Declined:
        """The order as it is sent, or why it cannot be: its own contract, or the one with the finest step."""
        contract = self._contract(request)
        if contract is None:
            return Declined(request.order_id, f"No contract of line {self.line.line.name} covers it.")
        cover = request.cover
        quantity_e8 = contract.quantity_e8(request.fine_mg) if cover is None else cover.quantity_e8
        if quantity_e8 <= 0:
            return Declined(request.order_id, f"It is below the smallest quantity of {contract.code}.")
        return LineOrder(
            order_id=request.order_id,
            client_order_id=new_client_order_id(request.order_id, self._profile.order_id),
            broker=request.broker,
            instrument=request.instrument,
            trade_type=request.trade_type,
            quantity_e4=request.quantity_e4,
            fine_mg=request.fine_mg,
            quantity_e8=quantity_e8,
            contract=contract,
            limit_e6=self._limit(contract, request.trade_type),
        )

    def _contract(self, request: HedgeRequest) -> Contract | None:
        if request.cover is not None:
            own = request.cover.contract
            return own if own.venue == self.line.line.name else None
        ours = [each for each in self._contracts() if each.venue == self.line.line.name]
        if request.contract:
            return next((each for each in ours if each.code == request.contract), None)
        fitting = [each for each in ours if each.instrument == request.instrument]
        return min(fitting, key=lambda each: (each.step_mg, each.code), default=None)

    def _limit(self, contract: Contract, trade_type: str) -> int | None:
        if self._profile.order_type is OrderType.MARKET or self._reference is None:
            return None
        price_e6 = self._reference(contract)
        if price_e6 is None:
            raise VenueUnreachable(f"there is no fresh price for a limit on {contract.code}")
        bps, tick = self._profile.slippage_bps, contract.tick_e6
        if trade_type == "buy":
            return -(-price_e6 * (10_000 + bps) // (10_000 * tick)) * tick
        return max(price_e6 * (10_000 - bps) // (10_000 * tick) * tick, tick)

    async def _ask(self, order: LineOrder) -> StatusAnswer:
        connection_no = self.line.connection_no
        question, pairs = self._tracker.ask(order, self._monotonic())
        call = self._begin_call(order.client_order_id, question)
        try:
            if pairs:
                number = await self._write(pairs, connection_no)
                self._tracker.numbered(number, order.client_order_id, question)
            answer = await self._wait(call, "The venue has not answered the question yet.")
        finally:
            self._end_call(call)
        return answer if not isinstance(answer, Duplicate) else Unconfirmed("The venue has it.")

    async def _write(self, pairs: Any, connection_no: int) -> int:
        try:
            return await self.line.send(pairs, connection_no)
        except NotLoggedOn as error:
            raise VenueUnreachable(str(error)) from error

    # --- Calls that wait ------------------------------------------------------------------------------

    def _begin_call(self, name: str, question: str) -> _Call:
        call = _Call(question, asyncio.get_running_loop().create_future())
        self._name_call(call, name)
        return call

    def _name_call(self, call: _Call, name: str) -> None:
        call.names.append(name)
        self._calls.setdefault(name, []).append(call)

    def _end_call(self, call: _Call) -> None:
        for name in call.names:
            waiting = self._calls[name]
            waiting.remove(call)
            if not waiting:
                del self._calls[name]

    async def _wait(self, call: _Call, message: str) -> SubmitAnswer | StatusAnswer:
        try:
            async with asyncio.timeout(self._profile.report_ms / 1000):
                return await call.done
        except TimeoutError:
            return Unconfirmed(message)

    def _answer_calls(
        self, client_order_id: str, answer: SubmitAnswer | StatusAnswer, question: str | None
    ) -> bool:
        """Whether a call waited for it. `question`: None for all calls."""
        answered = False
        for call in self._calls.get(client_order_id, ()):
            if question in (None, call.question) and not call.done.done():
                call.done.set_result(answer)
                answered = True
        return answered

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

    # --- What the line tells; handled one by one, in order --------------------------------------------

    def logged_on(self, connection_no: int, logon: Message) -> None:  # noqa: ARG002
        self._events.put_nowait(lambda: self._begin_line(connection_no))

    def received(self, connection_no: int, chunk: Chunk) -> None:
        self._events.put_nowait(lambda: self._take(connection_no, chunk))

    def lost(self, connection_no: int, reason: str) -> None:  # noqa: ARG002
        """Calls end at once: their orders are asked for after the next logon."""
        self._is_up.clear()
        error = VenueUnreachable(f"the line was lost: {reason}")
        for calls in self._calls.values():
            for call in calls:
                if not call.done.done():
                    call.done.set_exception(error)
                    call.done.exception()  # Mark it as retrieved: the caller may be cancelled before.

    async def _work(self) -> None:
        while True:
            if self._tracker.settling:
                try:
                    async with asyncio.timeout(_SETTLE_S):
                        event = await self._events.get()
                except TimeoutError:
                    await self._apply(self._tracker.tick(self._monotonic()))
                    continue
            else:
                event = await self._events.get()
            await event()

    async def _begin_line(self, connection_no: int) -> None:
        self._tracker.logged_on(connection_no, self._monotonic())
        self._market.clear()
        if not self._restored:
            for each in await self._from_store(self._records.unsettled):
                self._restore(each)
            self._restored = True
        self._start(self._recover(connection_no))

    async def _recover(self, connection_no: int) -> None:
        try:
            for order in self._tracker.unsettled():
                question, pairs = self._tracker.ask(order, self._monotonic())
                if pairs:
                    number = await self.line.send(pairs, connection_no)
                    self._tracker.numbered(number, order.client_order_id, question)
        except NotLoggedOn:
            return  # The next logon begins anew.
        self.line.recovered(connection_no)
        if self.line.connection_no == connection_no and self.line.state is LineState.UP:
            self._is_up.set()

    async def _take(self, connection_no: int, chunk: Chunk) -> None:
        """Outcomes are stored before anybody hears of them, and before the incoming number moves."""
        effects: list[Effect] = []
        for message in chunk.messages:
            self._market.note(message)
            named = self._tracker.client_order_id(message)
            if named is not None and named not in self._tracker:
                stored = await self._from_store(lambda named=named: self._records.find_sent(named))  # type: ignore[misc]
                if stored is not None:
                    self._restore(stored)
            effects += self._tracker.received(message, self._monotonic())
        await self._apply(effects)
        if self._keep_incoming is not None and connection_no == self.line.connection_no:
            keep = self._keep_incoming
            with suppress(NotHolder):  # The lease is lost: the line is cut, and the next holder asks.
                await self._from_store(lambda: keep(chunk.incoming))

    def _restore(self, stored: StoredOrder) -> None:
        self._tracker.restore(stored.order, stored.fills, stored.answer, stored.filled_e8)
        if stored.answer is not None:
            self._remember(stored.order.client_order_id)

    def _remember(self, client_order_id: str) -> None:
        self._settled[client_order_id] = None
        if len(self._settled) > _REMEMBERED:
            oldest, _ = self._settled.popitem(last=False)
            self._tracker.forget(oldest)

    async def _apply(self, effects: Sequence[Effect]) -> None:
        learned = [each for each in effects if isinstance(each, FillSeen | OrderFinal | LineBreak)]
        if learned:
            await self._from_store(lambda: self._records.learn(learned, self._now_us()))
        for each in effects:
            if isinstance(each, OrderUnknown):
                await self._from_store(lambda order=each.order: self._records.release(order))  # type: ignore[misc]
            self._tell(each)

    def _tell(self, effect: Effect) -> None:
        match effect:
            case OrderFinal():
                named = effect.order.client_order_id
                self.counts.answered(named, self._monotonic())
                self._remember(named)
                self.line.progressed()
                if not self._answer_calls(named, effect.answer, None):
                    self._reports.append(OutcomeReport(effect.order.order_id, effect.answer))
                    self._reported.set()
            case DuplicateSeen():
                self._answer_calls(effect.order.client_order_id, Duplicate(), "")
                self._ask_later(effect.order)
            case OrderUnknown():
                self.counts.forget(effect.order.client_order_id)
                self._answer_calls(effect.order.client_order_id, UnknownOrder(), None)
            case StatusAnswered(order, question, message):
                self._answer_calls(order.client_order_id, Unconfirmed(message), question or "-")
            case Ask():
                self._ask_later(effect.order)
            case LineBreak():
                self._log_break(effect)
            case FillSeen():
                pass

    def _log_break(self, made: LineBreak) -> None:
        _log.error(
            "line_break",
            line=self.line.line.name,
            reason=made.reason.value,
            execution_id=made.execution_id,
            client_order_id=made.client_order_id,
            message=made.message,
        )

    def _ask_later(self, order: LineOrder) -> None:
        async def ask() -> None:
            try:
                await self._ask(order)
            except VenueUnreachable:
                pass  # It is asked for after the next logon.
            finally:
                self._asking.discard(order.client_order_id)

        if order.client_order_id not in self._asking:
            self._asking.add(order.client_order_id)
            self._start(ask())

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _from_store(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """Until it succeeds: what follows must not happen without it. Meanwhile calls time out."""
        while True:
            try:
                return await call()
            except StoreFault as fault:
                _log.warning("line_not_recorded", line=self.line.line.name, fault=repr(fault))
                await asyncio.sleep(_STORE_PAUSE_S)


def _claimed_id(order: LineOrder, claim: "asyncio.Future[LineOrder | None]") -> str:
    """The ClOrdID that the order was recorded with, as far as it was."""
    claimed = claim.result() if claim.done() and not claim.cancelled() and claim.exception() is None else None
    return order.client_order_id if claimed is None else claimed.client_order_id
