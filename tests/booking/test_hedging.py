"""What is done with each word of the venue, on requests in memory and by a clock in the test's hand."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any

import pytest
import structlog

from bullion.booking import hedging as hedging_module
from bullion.booking.attempt import ToHedge
from bullion.booking.hedge_requests import LEASE_US, Claimed, HedgeBacklog
from bullion.booking.hedging import Hedging
from bullion.faults import StoreUnavailable
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Duplicate,
    FinalAnswer,
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
from bullion.orders.life import after
from bullion.orders.order import Order
from bullion.orders.status import Event, Status
from tests.orders.orders import BOOKED_AT_US, order_in
from tests.support.venues import ScriptedAbilities

pytestmark = pytest.mark.anyio

HANGS = "it hangs"
FILL, REFUSAL, WAITS = Confirmed("E1"), Declined("E1", "no"), Unconfirmed("later")


class Venue(ScriptedAbilities):
    """It says what it is told to, one word after the other, the last one for ever."""

    def __init__(self) -> None:
        self.submits: list[Any] = [FILL]
        self.asks: list[Any] = [UnknownOrder()]
        self.calls: list[str] = []

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        self.calls.append(f"submit {request.order_id}")
        word: SubmitAnswer = await _say(self.submits)
        return word

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        self.calls.append(f"order_status {request.order_id}")
        word: StatusAnswer = await _say(self.asks)
        return word

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        raise AssertionError("that is for the watch")

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        raise AssertionError("that is for the reconciliation")


async def _say(words: list[Any]) -> Any:
    word = words.pop(0) if len(words) > 1 else words[0]
    if word is HANGS:
        await asyncio.Event().wait()
    if isinstance(word, BaseException):
        raise word
    return word


class Requests:
    def __init__(self) -> None:
        self.due: list[Claimed] = []
        self.done: list[tuple[str, Any]] = []
        self.fault: Exception | None = None
        self.now_backlog = HedgeBacklog(0, None, 0)

    async def claim(self, now_us: int, limit: int) -> Sequence[Claimed]:
        due, self.due = self.due, []
        return due

    async def postpone(self, order: Order, due_at_us: int, words: str) -> None:
        self.done.append(("postponed", due_at_us - BOOKED_AT_US))

    async def withdraw(self, order: Order) -> None:
        self.done.append(("withdrawn", None))

    async def answer(self, to_hedge: ToHedge, word: FinalAnswer) -> Order:
        if self.fault is not None:
            raise self.fault
        self.done.append(("answered", word))
        event = Event.CONFIRM if isinstance(word, Confirmed) else Event.REFUSE
        return after(to_hedge.order, event, 1, deal_no=1)

    async def find(self, sent_id: str) -> ToHedge | None:
        return PENDING if sent_id == PENDING.order.id else None

    async def backlog(self) -> HedgeBacklog:
        return self.now_backlog


class Bench:
    def __init__(self) -> None:
        self.venue, self.requests = Venue(), Requests()
        self.now_us = BOOKED_AT_US
        self.reported: list[HedgeBacklog] = []
        self.hedging = Hedging(self.venue, self.requests, lambda: self.now_us, self.reported.append)

    def claim(self, status: Status = Status.PENDING, tries: int = 0, **fields: Any) -> ToHedge:
        to_hedge = ToHedge(order_in(status, **fields), "main", "XAUUSD")
        self.requests.due.append(Claimed(to_hedge, tries, self.now_us + LEASE_US))
        return to_hedge

    @property
    def kinds(self) -> list[str]:
        return [call.partition(" ")[0] for call in self.venue.calls]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(hedging_module, "WAIT_S", 0.3)
    monkeypatch.setattr(hedging_module, "_CALL_S", 0.1)
    return Bench()


PENDING = ToHedge(order_in(Status.PENDING), "main", "XAUUSD")


# --- Right after it was recorded ----------------------------------------------------------------------


@pytest.mark.parametrize(("word", "status"), [(FILL, "open"), (REFUSAL, "rejected")])
async def test_a_final_word_is_written_down_and_told_at_once(
    bench: Bench, word: FinalAnswer, status: str
) -> None:
    bench.venue.submits = [word]
    assert (await bench.hedging.hedge(PENDING)).status == status
    assert bench.requests.done == [("answered", word)]
    assert bench.kinds == ["submit"]


async def test_an_order_that_the_venue_has_not_decided_is_asked_for_later(bench: Bench) -> None:
    bench.venue.submits = [WAITS]
    assert await bench.hedging.hedge(PENDING) == PENDING.order
    assert bench.requests.done == [("postponed", 1_000_000)]


@pytest.mark.parametrize(("asked", "status"), [(FILL, "open"), (REFUSAL, "rejected"), (WAITS, "pending")])
async def test_a_duplicate_is_asked_for_and_never_taken_for_a_refusal(
    bench: Bench, asked: StatusAnswer, status: str
) -> None:
    bench.venue.submits, bench.venue.asks = [Duplicate()], [asked]
    assert (await bench.hedging.hedge(PENDING)).status == status
    assert bench.kinds == ["submit", "order_status"]


async def test_a_venue_that_has_it_and_has_not_leaves_it_pending(bench: Bench) -> None:
    bench.venue.submits, bench.venue.asks = [Duplicate()], [UnknownOrder()]
    assert await bench.hedging.hedge(PENDING) == PENDING.order
    assert bench.kinds == ["submit", "order_status"], "it is not sent again"
    assert bench.requests.done == [("postponed", 1_000_000)]


@pytest.mark.parametrize(
    "error",
    [
        VenueUnreachable("down"),
        ConnectionResetError(),
        KeyError("a mistake of the adapter"),
        asyncio.CancelledError("from within: nobody stopped us"),
        HANGS,
    ],
    ids=repr,
)
async def test_whatever_goes_wrong_at_the_venue_the_order_stays_pending(bench: Bench, error: object) -> None:
    bench.venue.submits = [error]
    assert await bench.hedging.hedge(PENDING) == PENDING.order
    assert not [done for done in bench.requests.done if done[0] != "postponed"]
    assert not bench.hedging._sending


async def test_a_word_that_cannot_be_written_leaves_the_order_pending(bench: Bench) -> None:
    bench.requests.fault = StoreUnavailable("gone")
    assert await bench.hedging.hedge(PENDING) == PENDING.order


@pytest.mark.parametrize("late_us", [0, 1])
async def test_what_was_long_in_being_recorded_is_left_to_whoever_claims_it(
    bench: Bench, late_us: int
) -> None:
    """A call must be over before another node may take the request over."""
    bench.now_us = BOOKED_AT_US + LEASE_US - 100_000 + late_us
    await bench.hedging.hedge(PENDING)
    assert bench.kinds == ([] if late_us else ["submit"])


async def test_whoever_repeats_the_call_waits_for_the_same_answer(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hedging_module, "_CALL_S", 2.0)
    first = asyncio.ensure_future(bench.hedging.hedge(PENDING))
    bench.venue.submits = [HANGS]
    await asyncio.sleep(0.01)
    assert await bench.hedging.outcome(PENDING.order) == PENDING.order, "after a short wait it is pending"
    assert await first == PENDING.order
    (task,) = bench.hedging._sending.values()
    task.cancel()
    await asyncio.wait([task])
    assert await bench.hedging.outcome(PENDING.order) == PENDING.order


# --- Later --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [FILL, REFUSAL])
async def test_what_is_due_is_asked_for_and_not_sent(bench: Bench, word: FinalAnswer) -> None:
    bench.claim()
    bench.venue.asks = [word]
    await bench.hedging.settle()
    assert bench.kinds == ["order_status"]
    assert bench.requests.done == [("answered", word)]


async def test_only_what_the_venue_does_not_know_is_sent_under_the_same_id(bench: Bench) -> None:
    to_hedge = bench.claim()
    await bench.hedging.settle()
    assert bench.venue.calls == [f"order_status {to_hedge.order.id}", f"submit {to_hedge.order.id}"]
    assert bench.requests.done == [("answered", FILL)]


@pytest.mark.parametrize("status", [Status.DELETED, Status.OPEN, Status.REJECTED])
async def test_what_is_no_longer_pending_is_asked_for_but_never_sent(bench: Bench, status: Status) -> None:
    bench.now_us = BOOKED_AT_US + hedging_module.LATE_US
    bench.claim(status)
    await bench.hedging.settle()
    assert bench.kinds == ["order_status"]
    assert bench.requests.done == [("withdrawn", None)]


async def test_a_deleted_order_is_asked_for_until_no_call_can_still_be_under_way(bench: Bench) -> None:
    bench.now_us = BOOKED_AT_US + hedging_module.LATE_US - 1
    bench.claim(Status.DELETED)
    await bench.hedging.settle()
    assert bench.kinds == ["order_status"]
    assert [what for what, _ in bench.requests.done] == ["postponed"]


@pytest.mark.parametrize(("tries", "pause_s"), [(0, 1), (1, 2), (2, 4), (3, 4), (50, 4)])
async def test_the_pauses_grow_up_to_four_seconds(bench: Bench, tries: int, pause_s: int) -> None:
    bench.claim(tries=tries)
    bench.venue.asks = [WAITS]
    await bench.hedging.settle()
    assert bench.requests.done == [("postponed", pause_s * 1_000_000)]


async def test_a_venue_out_of_reach_is_not_asked_for_each_of_a_brokers_orders(bench: Bench) -> None:
    for number in range(40):
        bench.claim(ordinal=number)
    bench.venue.asks = [VenueUnreachable("down")]
    await bench.hedging.settle()
    assert len(bench.venue.calls) <= 16
    assert {kind for kind, _ in bench.requests.done} == {"postponed"}


async def test_what_is_no_longer_this_nodes_is_left_alone(bench: Bench) -> None:
    bench.claim()
    bench.now_us += LEASE_US - 100_000 + 1
    await bench.hedging.settle()
    assert bench.venue.calls == []


async def test_one_request_that_goes_wrong_does_not_keep_the_others(bench: Bench) -> None:
    for number in range(3):
        bench.claim(ordinal=number)
    bench.venue.asks = [KeyError("nonsense"), FILL]
    with pytest.raises(KeyError):
        await bench.hedging.settle()
    assert [kind for kind, _ in bench.requests.done] == ["answered", "answered"]


async def test_it_goes_on_for_as_long_as_the_node_runs_and_tells_when_orders_wait_long(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hedging_module, "_EVERY_S", 0.001)
    bench.requests.now_backlog = HedgeBacklog(2, BOOKED_AT_US, 1)
    bench.now_us = BOOKED_AT_US + 30_000_001
    with structlog.testing.capture_logs() as logs:
        running = asyncio.ensure_future(bench.hedging.run())
        while len(bench.reported) < 3:
            bench.venue.asks = [KeyError("nonsense")]
            bench.claim()
            await asyncio.sleep(0.001)
        bench.requests.now_backlog = HedgeBacklog(0, None, 1)
        while bench.reported[-1].requests:
            await asyncio.sleep(0.001)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    told = [entry["event"] for entry in logs if entry["event"] != "hedging_failed"]
    assert told == ["hedge_backlog_late", "hedge_backlog_cleared"]
    assert "hedging_failed" in [entry["event"] for entry in logs]


async def test_reports_that_come_unasked_are_applied_and_begin_again_after_a_failure(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: list[list[object]] = [
        [ValueError("the line broke")],
        [OutcomeReport("of nobody", FILL), OutcomeReport(PENDING.order.id, FILL)],
    ]
    done = asyncio.Event()

    async def reports() -> AsyncIterator[OutcomeReport]:
        for each in rounds.pop(0) if rounds else []:
            if isinstance(each, Exception):
                raise each
            assert isinstance(each, OutcomeReport)
            yield each
        if not rounds:
            done.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(hedging_module, "_REPORTS_PAUSE_S", 0)
    monkeypatch.setattr(bench.venue, "reports", reports)
    running = asyncio.ensure_future(bench.hedging.take_reports())
    await asyncio.wait_for(done.wait(), 30)
    running.cancel()
    assert bench.requests.done == [("answered", FILL)]
