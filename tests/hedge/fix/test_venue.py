"""The port over a FIX line: what it says about instruments, and what it does with single orders."""

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from typing import Any
from uuid import UUID

import msgspec
import pytest

from bullion.hedge.contract import Contract
from bullion.hedge.fix.codec import frame, message_of, time_text
from bullion.hedge.fix.message_log import Direction
from bullion.hedge.fix.order_effects import LineOrder
from bullion.hedge.fix.order_factory import Reference
from bullion.hedge.fix.pace import Rate
from bullion.hedge.fix.profile import OrderType, StatusQuestion, SymbolForm
from bullion.hedge.fix.records import StoredOrder
from bullion.hedge.fix.schedule import Timetable
from bullion.hedge.fix.session_effects import LineState
from bullion.hedge.fix.tradeability import MarketStatus
from bullion.hedge.fix.venue import FixVenue
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Duplicate,
    HedgeRequest,
    OutcomeReport,
    PartiallyFilled,
    Tradeability,
    Unconfirmed,
    UnknownOrder,
    VenueUnreachable,
)
from bullion.market_demo.exchange import Behaviour, Exchange, Mode
from bullion.market_demo.faults import Fault, Faults
from bullion.market_demo.fix_acceptor import FixAcceptor
from bullion.market_demo.session_acceptor import acceptor_settings
from tests.support.fix_venue import GRAMS, contracts, line_of
from tests.support.line_memory import MemoryRecords
from tests.support.virtual_time import VirtualLoop, run_virtually

from .test_order_simulation import STEADY, KeptInMemory

PORT = 9878


class TypeLog:
    """A message log of types, and of which are sent again."""

    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    def note(self, direction: Direction, raw: bytes) -> None:
        again = " again" if b"\x0143=Y\x01" in raw else ""
        arrow = ">" if direction is Direction.OUT else "<"
        self._seen.append(f"{arrow} {raw.partition(b'35=')[2][:1].decode()}{again}")


class Stage:
    """One line in virtual time."""

    def __init__(self, loop: VirtualLoop, faults: Faults | None = None) -> None:
        self.loop = loop
        self.faults = faults or Faults()
        self.behaviour = Behaviour()
        exchange = Exchange(sqlite3.connect(":memory:"), self.faults, self.behaviour)
        self.acceptor = FixAcceptor(exchange, self.faults, acceptor_settings("THEM", "US"), loop.now_us)
        loop.servers[PORT] = self.acceptor.accept
        self.acceptor.start_timer()
        self.records = MemoryRecords()
        self._task: asyncio.Task[None] | None = None

    async def venue(
        self,
        timetable: Timetable | None = None,
        reference: Reference | None = None,
        order_type: OrderType = OrderType.MARKET,
        log: list[str] | None = None,
        traded: Callable[[], Collection[Contract]] = contracts,
        **profile: Any,
    ) -> FixVenue:
        """`log` gets what is written and read. `profile`: what differs from `STEADY`."""
        changed = msgspec.structs.replace(STEADY, order_type=order_type, **profile)
        line = msgspec.structs.replace(line_of(PORT, changed), timetable=timetable or Timetable())
        kept = KeptInMemory()
        venue = FixVenue(
            line,
            self.records,
            traded,
            self.loop.now_us,
            monotonic=self.loop.time,
            reference=reference,
            kept=kept,
            keep_incoming=None if changed.reset_on_logon else kept.keep_incoming,
            log=None if log is None else TypeLog(log),
        )
        self._task = asyncio.ensure_future(venue.run())
        await asyncio.sleep(1)
        return venue

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.acceptor.stop()


def on_stage(work: Callable[[Stage], Coroutine[Any, Any, None]], faults: Faults | None = None) -> None:
    async def main(loop: VirtualLoop) -> None:
        stage = Stage(loop, faults)
        try:
            await work(stage)
        finally:
            await stage.end()

    run_virtually(1, main)


def request(number: int = 1, fine_mg: int = 100_000, side: str = "buy") -> HedgeRequest:
    order_id = str(UUID(int=number))
    return HedgeRequest(order_id, "main", "GOLD", side, 10 * fine_mg, 7_000_000, "gold", fine_mg)


def test_a_line_closed_by_its_timetable_suspends_and_one_that_should_be_up_is_unreachable() -> None:
    async def work(stage: Stage) -> None:
        stage.loop.servers.clear()
        open_venue = await stage.venue()
        with pytest.raises(VenueUnreachable, match="line spot is waiting"):
            await open_venue.instruments("main", ["GOLD"])
        assert open_venue.tradeability(next(iter(contracts()))) is Tradeability.UNKNOWN
        await stage.end()
        # The virtual clock begins on a Tuesday.
        closed = await stage.venue(Timetable(hours=("sat 09:00-10:00",)))
        assert closed.line.state is LineState.RESTING
        assert await closed.instruments("main", ["GOLD", "TIN"]) == {"GOLD": Tradeability.SUSPENDED}
        assert closed.tradeability(next(iter(contracts()))) is Tradeability.SUSPENDED
        assert await closed.executions("main", "", 10) == []
        with pytest.raises(VenueUnreachable):
            await closed.submit(request())

    on_stage(work)


def test_the_list_of_another_line_begins_anew() -> None:
    """The market file has another line for the broker: the list of the old one was compared up to a place."""

    async def work(stage: Stage) -> None:
        venue = await stage.venue()
        for number in (1, 2):
            await venue.submit(request(number))
        first, second = await venue.executions("main", "", 10)
        assert await venue.executions("main", first.cursor, 10) == [second]
        assert await venue.executions("main", "1", 10) == [second], "as cursors were"
        assert await venue.executions("main", "the old line 7", 10) == [first, second]

    on_stage(work)


def test_an_order_that_was_sent_on_another_line_is_not_sent_on_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def work(stage: Stage) -> None:
        venue = await stage.venue()
        sent = LineOrder(request().order_id, "old", "main", "GOLD", "buy", 5, 5, 5, next(iter(contracts())))

        async def find(_: str) -> StoredOrder:
            return StoredOrder(sent, elsewhere="the old line")

        monkeypatch.setattr(stage.records, "find", find)
        answer = await venue.order_status(request())
        assert answer == Unconfirmed("It was sent on the line the old line, and has no outcome there.")

    on_stage(work)


def test_another_brokers_orders_are_not_taken() -> None:
    async def work(stage: Stage) -> None:
        venue = await stage.venue()
        other = msgspec.structs.replace(request(), broker="other")
        with pytest.raises(VenueUnreachable, match="belongs to broker main"):
            await venue.submit(other)
        with pytest.raises(VenueUnreachable):
            await venue.instruments("other", [])

    on_stage(work)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ([(35, "f"), (55, "XAU/g"), (326, "2")], Tradeability.SUSPENDED),
        ([(35, "f"), (55, "XAU/g"), (326, "17")], Tradeability.TRADABLE),
        ([(35, "f"), (55, "XAU/g"), (326, "20")], Tradeability.UNKNOWN),
        ([(35, "f"), (55, "OTHER"), (326, "2")], Tradeability.TRADABLE),
        ([(35, "h"), (336, "1"), (340, "1")], Tradeability.SUSPENDED),
        ([(35, "h"), (336, "1"), (340, "2")], Tradeability.TRADABLE),
        ([(35, "h"), (336, "1"), (340, "6")], Tradeability.UNKNOWN),
        ([(35, "y"), (146, 2), (55, "A"), (55, "XAU/g")], Tradeability.TRADABLE),
        ([(35, "y"), (146, 1), (55, "A")], Tradeability.SUSPENDED),
        ([(35, "y"), (146, 3), (55, "A")], Tradeability.TRADABLE),
    ],
)
def test_what_the_venue_says_about_an_instrument(
    message: list[tuple[int, str | int]], expected: Tradeability
) -> None:
    market = MarketStatus()
    assert market.tradeability("XAU/g") is Tradeability.TRADABLE
    market.note(message_of(message))
    assert market.tradeability("XAU/g") is expected
    market.clear()
    assert market.tradeability("XAU/g") is Tradeability.TRADABLE


def test_a_late_outcome_comes_unasked() -> None:
    async def work(stage: Stage) -> None:
        venue = await stage.venue()
        stage.behaviour.mode = Mode.HOLD
        one = request()
        assert isinstance(await venue.submit(one), Unconfirmed)
        stage.behaviour.mode = Mode.FILL
        stage.acceptor.decide_all()
        async with asyncio.timeout(1):
            report = await anext(venue.reports())
        assert isinstance(report.answer, Confirmed)
        assert report == OutcomeReport(one.order_id, report.answer)
        assert await venue.order_status(one) == report.answer
        assert [each.order_id for each in await venue.executions("main", "", 10)] == [one.order_id]

    on_stage(work)


def test_a_partly_filled_order_says_what_is_left() -> None:
    async def work(stage: Stage) -> None:
        answer = await (await stage.venue()).submit(request())
        assert isinstance(answer, PartiallyFilled)
        assert answer.fine_mg_left == 50_000
        assert [each.quantity_e8 for each in answer.fills] == [50 * 100_000_000]
        assert answer.message == "No more liquidity"

    on_stage(work, Faults(at={Fault.PARTIAL: [1]}))


def test_a_lagging_engine_is_waited_for() -> None:
    async def work(stage: Stage) -> None:
        stage.behaviour.refuses_doubles = False
        stage.behaviour.lag_ms = 4_000
        venue = await stage.venue()
        one = request()
        assert isinstance(await venue.submit(one), Unconfirmed)
        answer = await venue.order_status(one)
        assert isinstance(answer, Unconfirmed)
        assert "too soon" in answer.message
        assert await venue.submit(one) == Duplicate()
        await asyncio.sleep(4)
        assert isinstance(await venue.order_status(one), Confirmed)

    on_stage(work, Faults(at={Fault.LAG: [1]}))


def test_a_swallowed_order_is_unknown_in_the_end_and_may_be_sent_again() -> None:
    async def work(stage: Stage) -> None:
        venue = await stage.venue()
        one = request()
        assert isinstance(await venue.submit(one), Unconfirmed)
        await asyncio.sleep(5)
        assert await venue.order_status(one) == UnknownOrder()
        assert isinstance(await venue.submit(one), Confirmed)
        assert stage.records.orders[one.order_id].order.sends == 2

    on_stage(work, Faults(at={Fault.SWALLOWED: [1]}))


def test_an_order_below_the_smallest_step_or_without_a_contract_is_declined_and_not_sent() -> None:
    async def work(stage: Stage) -> None:
        venue = await stage.venue()
        small = await venue.submit(request(fine_mg=0))
        other = await venue.submit(msgspec.structs.replace(request(2), instrument="TIN"))
        assert isinstance(small, Declined)
        assert "smallest quantity" in small.message
        assert isinstance(other, Declined)
        assert stage.records.orders == {}

    on_stage(work)


NAMED = {
    SymbolForm.SYMBOL: (msgspec.structs.replace(GRAMS, venue_symbol="", security_id="4001"), "venue_symbol"),
    SymbolForm.SECURITY_ID: (GRAMS, "security_id"),
}
"""By the form of a profile: a contract that it cannot name, and the field that is missing."""


@pytest.mark.parametrize("form", list(SymbolForm))
def test_an_order_whose_contract_the_profile_cannot_name_is_declined_and_not_sent(form: SymbolForm) -> None:
    contract, missing = NAMED[form]

    async def work(stage: Stage) -> None:
        venue = await stage.venue(symbol=form, traded=lambda: (contract,))
        answer = await venue.submit(request())
        assert isinstance(answer, Declined)
        assert answer.message == f"Contract GRAM has no {missing}, by which line spot names it."
        assert stage.records.orders == {}
        assert await venue.order_status(request()) == UnknownOrder()

    on_stage(work)


@pytest.mark.parametrize("form", list(SymbolForm))
def test_an_order_that_cannot_be_asked_for_does_not_keep_the_line_down(form: SymbolForm) -> None:
    """It was recorded as sent, but could not be written. Another one waits behind it for its outcome."""
    contract, missing = NAMED[form]
    whole = msgspec.structs.replace(contract, venue_symbol="XAU/g", security_id="4001")

    async def work(stage: Stage) -> None:
        for number, recorded in ((1, contract), (2, whole)):
            one = request(number)
            order = LineOrder(
                order_id=one.order_id, client_order_id=one.order_id, broker="main", instrument="GOLD",
                trade_type="buy", quantity_e4=one.quantity_e4, fine_mg=one.fine_mg, quantity_e8=10**10,
                contract=recorded,
            )  # fmt: skip
            await stage.records.claim(order, 0)
        now = [contract]
        venue = await stage.venue(symbol=form, traded=lambda: now)
        assert venue.line.state is LineState.UP
        assert venue.line.messages.sent["H"] == 1
        answer = await venue.order_status(request(1))
        assert answer == Unconfirmed(f"It cannot be asked for: contract GRAM has no {missing}.")
        assert isinstance(await venue.submit(request(1)), Duplicate)
        # Once the desk has corrected the contract, the venue says that it does not know the order.
        now[:] = [whole]
        await asyncio.sleep(6)
        for number in (1, 2):
            assert await venue.order_status(request(number)) == UnknownOrder()
            assert isinstance(await venue.submit(request(number)), Confirmed)
            assert stage.records.orders[request(number).order_id].order.contract == whole

    on_stage(work)


def test_a_limit_is_the_reference_with_slippage_to_the_worse_on_a_tick() -> None:
    async def work(stage: Stage) -> None:
        venue = await stage.venue(reference=lambda _: 2_001_003_000, order_type=OrderType.LIMIT)
        for side, limit_e6 in (("buy", 2_011_010_000), ("sell", 1_990_990_000)):
            one = request(7 if side == "buy" else 8, side=side)
            assert isinstance(await venue.submit(one), Confirmed)
            order: LineOrder = stage.records.orders[one.order_id].order
            assert order.limit_e6 == limit_e6
        await stage.end()
        blind = await stage.venue(reference=lambda _: None, order_type=OrderType.LIMIT)
        with pytest.raises(VenueUnreachable):
            await blind.submit(request(9))

    on_stage(work)


def test_one_question_for_all_orders_recovers_them() -> None:
    """Three orders without an outcome after a loss. The one that the venue never got may be sent again."""

    async def work(stage: Stage) -> None:
        stage.behaviour.mode = Mode.HOLD
        venue = await stage.venue(status_question=StatusQuestion.MASS)
        requests = [request(number) for number in (1, 2, 3)]
        for each in requests:
            assert isinstance(await venue.submit(each), Unconfirmed)
        await asyncio.sleep(5)
        stage.behaviour.mode = Mode.FILL
        stage.acceptor.cut()
        await asyncio.sleep(2)
        assert venue.line.messages.sent["AF"] == 1
        assert venue.line.messages.sent["H"] == 0
        assert stage.records.orders[requests[1].order_id].unknown
        answers = [await venue.order_status(each) for each in requests]
        assert [type(each) for each in answers] == [Confirmed, UnknownOrder, Confirmed]
        assert isinstance(await venue.submit(requests[1]), Confirmed)

    on_stage(work, Faults(at={Fault.SWALLOWED: [2]}))


def test_the_questions_of_a_recovery_go_before_those_of_calls() -> None:
    """The line sends a hundred messages a second, and far more calls ask for orders that wait for it."""

    async def work(stage: Stage) -> None:
        for number in range(200):
            asked = request(number)
            order = LineOrder(
                order_id=asked.order_id, client_order_id=asked.order_id, broker="main", instrument="GOLD",
                trade_type="buy", quantity_e4=asked.quantity_e4, fine_mg=asked.fine_mg, quantity_e8=10**10,
                contract=GRAMS, limit_e6=None,
            )  # fmt: skip
            await stage.records.claim(order, 0)
        venue = FixVenue(
            line_of(PORT, STEADY), stage.records, contracts, stage.loop.now_us, monotonic=stage.loop.time
        )
        stage._task = asyncio.ensure_future(venue.run())

        async def ask(number: int) -> None:
            while venue.line.state is not LineState.UP:
                with suppress(VenueUnreachable, TimeoutError):
                    async with asyncio.timeout(3):
                        await venue.order_status(request(number))
                await asyncio.sleep(0.1)

        async with asyncio.timeout(6):
            await asyncio.gather(*(ask(number) for number in range(1_000, 1_600)))
        assert venue.line.state is LineState.UP

    on_stage(work)


def test_an_order_that_was_not_written_is_not_asked_for_and_may_be_sent_again_at_once() -> None:
    """The first order is sent, and the line is lost while the second waits for its turn."""

    async def work(stage: Stage) -> None:
        stage.behaviour.mode = Mode.HOLD
        venue = await stage.venue(rate=Rate(count=1, burst=1))
        first, second = (asyncio.ensure_future(venue.submit(request(number))) for number in (1, 2))
        await asyncio.sleep(0.1)
        stage.acceptor.cut()
        for call in (first, second):
            with pytest.raises(VenueUnreachable):
                await call
        stored = [stage.records.orders[request(number).order_id] for number in (1, 2)]
        assert [each.unknown for each in stored] == [False, True]
        await asyncio.sleep(3)
        assert venue.line.messages.sent["H"] == 1, "only the first was asked for"
        stage.behaviour.mode = Mode.FILL
        assert isinstance(await venue.submit(request(2)), Confirmed)

    on_stage(work)


def test_a_call_that_ends_while_its_order_is_released_leaves_nothing_behind() -> None:
    """The order was not written, and its caller does not wait until the store knows it."""

    async def work(stage: Stage) -> None:
        stage.behaviour.mode = Mode.HOLD
        release, releasing = stage.records.release, asyncio.Event()

        async def slow(order: LineOrder) -> None:
            releasing.set()
            await asyncio.sleep(0.5)
            await release(order)

        stage.records.release = slow  # type: ignore[method-assign]
        venue = await stage.venue(rate=Rate(count=1, burst=1))
        calls = [asyncio.ensure_future(venue.submit(request(number))) for number in (1, 2)]
        await asyncio.sleep(0.1)
        stage.acceptor.cut()
        await releasing.wait()
        calls[1].cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert calls[1].cancelled()
        await asyncio.sleep(3)
        stage.behaviour.mode = Mode.FILL
        assert isinstance(await venue.submit(request(2)), Confirmed)

    on_stage(work)


def test_a_recovery_asks_once_it_has_read_what_the_venue_sends_again() -> None:
    """Its answers would wait behind that. With every loss of the line there would be more to send again."""

    async def work(stage: Stage) -> None:
        stage.behaviour.mode = Mode.HOLD
        seen: list[str] = []
        venue = await stage.venue(log=seen, reset_on_logon=False)
        assert isinstance(await venue.submit(request()), Unconfirmed)
        seen.clear()
        stage.acceptor.cut()
        await asyncio.sleep(2)
        assert seen == ["> A", "< A", "> 2", "< 4 again", "< 8 again", "< 4 again", "> H", "< 8"]

    on_stage(work, Faults(at={Fault.LOST: [1]}))


def test_a_line_is_down_since_it_was_lost_however_often_it_is_tried_again() -> None:
    async def work(stage: Stage) -> None:
        venue = await stage.venue()
        up = venue.line.status()
        assert up.state is LineState.UP
        await stage.acceptor.stop()
        stage.loop.servers.clear()
        await asyncio.sleep(1)
        lost = venue.line.status()
        assert lost.state is not LineState.UP
        assert lost.since_us > up.since_us
        await asyncio.sleep(60)
        later = venue.line.status()
        assert later.connection_no > lost.connection_no
        assert later.since_us == lost.since_us

    on_stage(work)


@pytest.mark.parametrize("ours", [True, False])
def test_a_trade_with_a_field_that_cannot_be_read_is_a_break(ours: bool) -> None:
    """The session rejects the message. Of a trade that nobody asks for, the venue does not tell again."""

    async def work(stage: Stage) -> None:
        venue = await stage.venue()
        assert isinstance(await venue.submit(request()), Confirmed)
        connection = venue.line._connection
        assert connection is not None
        assert connection.session is not None
        named = request().order_id if ours else "theirs"
        at = time_text(stage.loop.now_us())
        for execution_id in ("E7", "E8"):
            fields = (
                f"35=8|49=THEM|56=US|34={connection.session.numbers.incoming}|52={at}|37=V7|11={named}|"
                f"17={execution_id}|150=F|39=2|55=XAU/g|54=1|38=100|14=100|6=2000|32=100|31=2000|58=|60={at}|"
            )
            connection.data_received(frame(fields.replace("|", "\x01")))
        await asyncio.sleep(0.1)
        assert venue.line.messages.sent["3"] == 2, "rejects"
        assert [(each.reason.value, each.execution_id) for each in stage.records.breaks] == [
            ("unreadable", "E7"),
            ("unreadable", "E8"),
        ]

    on_stage(work)
