"""A process that loses a line and gets it back while it lives: it begins as a new process would."""

import asyncio
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from bullion.hedge.fix.pace import Rate
from bullion.hedge.fix.session_effects import LineState
from bullion.hedge.fix.venue import FixVenue
from bullion.hedge.venue import Confirmed, Duplicate, Unconfirmed, UnknownOrder, VenueUnreachable
from bullion.market_demo.exchange import Mode
from bullion.market_demo.faults import Fault, Faults
from tests.support.fix_venue import contracts, line_of

from .test_order_simulation import STEADY, Hold, SharedLine
from .test_venue import PORT, Stage, on_stage, request


class Node:
    """One process: its adapter lives on while another one has the line."""

    def __init__(self, stage: Stage, line: SharedLine, **profile: Any) -> None:
        self._hold = Hold(line, "node")
        self.venue = FixVenue(
            line_of(PORT, msgspec.structs.replace(STEADY, **profile)),
            stage.records,
            contracts,
            stage.loop.now_us,
            monotonic=stage.loop.time,
            holder=self._hold,
        )
        self._task = asyncio.ensure_future(self.venue.run())

    async def take(self) -> None:
        self._hold.take()
        self.venue.line.connect()
        while self.venue.line.state is not LineState.UP:
            await asyncio.sleep(0.01)

    async def leave(self) -> None:
        self.venue.line.disconnect()
        while self.venue.line.state is not LineState.RESTING:
            await asyncio.sleep(0.01)

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


@pytest.mark.parametrize("asked_before", [False, True], ids=["of-the-other", "of-both"])
def test_an_order_that_the_other_process_sent_just_now_is_not_sent_again(asked_before: bool) -> None:
    """The venue's engine lags behind its answers about orders, and it takes doubled ids."""

    async def work(stage: Stage) -> None:
        stage.behaviour.refuses_doubles = False
        stage.behaviour.lag_ms = 3_000
        line, one = SharedLine(), request()
        ours, theirs = Node(stage, line), Node(stage, line)
        await ours.take()
        if asked_before:  # We have sent it once. The venue never got it.
            assert isinstance(await ours.venue.submit(one), Unconfirmed)
        await asyncio.sleep(600)
        await theirs.take()
        if asked_before:
            await asyncio.sleep(6)
            assert await theirs.venue.order_status(one) == UnknownOrder()
        sending = asyncio.ensure_future(theirs.venue.submit(one))
        await asyncio.sleep(0.2)
        await theirs.leave()
        await ours.take()
        assert ours.venue.line.messages.sent["H"] == 1, "the recovery asks for it"
        await asyncio.sleep(0.8)
        answer = await ours.venue.order_status(one)
        assert isinstance(answer, Unconfirmed)
        assert "too soon after the order" in answer.message
        assert await ours.venue.submit(one) == Duplicate()
        await asyncio.sleep(6)
        assert isinstance(await ours.venue.order_status(one), Confirmed)
        ((_, deals),) = stage.acceptor.exchange.executed_orders().items()
        assert len(deals) == 1
        with suppress(VenueUnreachable):
            await sending
        for node in (ours, theirs):
            await node.end()

    # With `asked_before`, the first order is swallowed, and the second one is late.
    on_stage(work, Faults(at={Fault.SWALLOWED: [1], Fault.LAG: [1]} if asked_before else {Fault.LAG: [1]}))


def test_an_order_that_waited_for_its_turn_is_not_lost_and_not_sent_twice() -> None:
    """The pace lets one message go in two seconds. The line goes to another process and comes back."""

    async def work(stage: Stage) -> None:
        stage.behaviour.refuses_doubles = False
        line = SharedLine()
        ours, theirs = Node(stage, line, rate=Rate(count=1, per_s=2)), Node(stage, line)
        await ours.take()
        calls = [asyncio.ensure_future(ours.venue.submit(request(number))) for number in (1, 2)]
        await asyncio.sleep(0.1)
        await theirs.take()
        await theirs.leave()
        await ours.take()
        first, second = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(first, Confirmed)
        assert isinstance(second, VenueUnreachable)
        # It was recorded, so it was asked for, and the proof that it was not sent takes its time.
        await asyncio.sleep(5)
        assert await ours.venue.order_status(request(2)) == UnknownOrder()
        assert isinstance(await ours.venue.submit(request(2)), Confirmed)
        executed = stage.acceptor.exchange.executed_orders()
        assert [len(executed[request(number).order_id]) for number in (1, 2)] == [1, 1]
        for node in (ours, theirs):
            await node.end()

    on_stage(work)


def test_what_the_other_process_settled_is_not_asked_for_again() -> None:
    async def work(stage: Stage) -> None:
        stage.behaviour.mode = Mode.HOLD
        line, one = SharedLine(), request()
        ours, theirs = Node(stage, line), Node(stage, line)
        await ours.take()
        assert isinstance(await ours.venue.submit(one), Unconfirmed)
        await theirs.take()
        stage.behaviour.mode = Mode.FILL
        stage.acceptor.decide_all()
        await asyncio.sleep(1)
        settled = await theirs.venue.order_status(one)
        assert isinstance(settled, Confirmed)
        await theirs.leave()
        await ours.take()
        assert ours.venue.line.messages.sent["H"] == 0
        assert await ours.venue.order_status(one) == settled
        for node in (ours, theirs):
            await node.end()

    on_stage(work)


def test_a_line_that_no_other_process_had_keeps_what_it_knows() -> None:
    """Otherwise every loss of the line would delay the proof that the venue does not know an order."""

    async def work(stage: Stage) -> None:
        line, one = SharedLine(), request()
        ours = Node(stage, line)
        await ours.take()
        assert isinstance(await ours.venue.submit(one), Unconfirmed)
        await asyncio.sleep(4)
        server = stage.loop.servers.pop(PORT)
        stage.acceptor.cut()
        await asyncio.sleep(2)  # Attempts that fail.
        stage.loop.servers[PORT] = server
        await ours.take()
        assert line.connections > 2
        assert await ours.venue.order_status(one) == UnknownOrder()
        await ours.end()

    on_stage(work, Faults(at={Fault.SWALLOWED: [1]}))


@pytest.mark.parametrize("dies_after_s", [0.5, 600])
def test_an_order_that_the_venue_took_and_forgot_is_not_sent_again_by_another_process(
    dies_after_s: float,
) -> None:
    """As of the day before: many venues know the orders of their trading day alone."""

    async def work(stage: Stage) -> None:
        stage.behaviour.mode = Mode.HOLD
        line, one = SharedLine(), request()
        ours, theirs = Node(stage, line), Node(stage, line)
        await ours.take()
        sending = asyncio.ensure_future(ours.venue.submit(one))
        await asyncio.sleep(dies_after_s)
        await ours.end()
        await asyncio.gather(sending, return_exceptions=True)
        stage.acceptor.exchange._book.execute("DELETE FROM orders")
        await theirs.take()
        await asyncio.sleep(6)
        answer = await theirs.venue.order_status(one)
        assert isinstance(answer, Unconfirmed)
        assert "Not known to the venue, asked before it." in answer.message
        assert await theirs.venue.submit(one) == Duplicate()
        await theirs.end()

    on_stage(work)
