"""Pending orders while the venue or the store fails: none is lost, executed twice, or refused by us.

The store is real, on both engines; the venue is a script that keeps a book, as a venue does.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

import pytest

from bullion.booking import hedging as hedging_module
from bullion.booking.attempt import ToHedge
from bullion.booking.hedge_requests import LEASE_US
from bullion.booking.hedging import Hedging
from bullion.faults import OutcomeUnknown, StoreFault, StoreUnavailable
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Duplicate,
    HedgeRequest,
    ListedExecution,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    Unconfirmed,
    UnknownOrder,
    VenueUnreachable,
)
from bullion.orders.order import Order
from bullion.orders.status import Event
from bullion.store.engine import Engine
from tests.contract.conftest import MakeEngine
from tests.contract.dealings import Dealings
from tests.support.venues import ScriptedAbilities

pytestmark = pytest.mark.anyio

LATER_US = LEASE_US + 1
Act = Callable[[HedgeRequest], Awaitable[Any]]


class ScriptedVenue(ScriptedAbilities):
    """Executes each id once, unless a script says what else happens to the next calls."""

    def __init__(self) -> None:
        self.book: dict[str, Confirmed | Declined] = {}
        self.calls: list[tuple[str, str]] = []
        self.submits: list[Act] = []
        self.asks: list[Act] = []
        self.refuses = False

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        self.calls.append(("submit", request.order_id))
        if self.submits:
            word: SubmitAnswer = await self.submits.pop(0)(request)
            return word
        return await self.execute(request)

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        self.calls.append(("order_status", request.order_id))
        if self.asks:
            word: StatusAnswer = await self.asks.pop(0)(request)
            return word
        return self.book.get(request.order_id, UnknownOrder())

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        return dict.fromkeys(named, Tradeability.TRADABLE)

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        raise AssertionError("that is for the reconciliation")

    async def execute(self, request: HedgeRequest) -> SubmitAnswer:
        if request.order_id in self.book:
            return Duplicate()
        number = len(self.book) + 1
        word = Declined(f"R{number}", "no") if self.refuses else Confirmed(f"E{number}")
        self.book[request.order_id] = word
        return word

    async def execute_and_lose(self, request: HedgeRequest) -> SubmitAnswer:
        await self.execute(request)
        raise VenueUnreachable("the line went dead")

    def times(self, call: str) -> int:
        return sum(each == call for each, _ in self.calls)


def saying(word: Any) -> Act:
    async def act(request: HedgeRequest) -> Any:
        return word

    return act


async def down(request: HedgeRequest) -> Any:
    raise VenueUnreachable("down")


class Desk:
    """One node's way to the venue, over the store's requests, which fail as the test wants."""

    def __init__(self, dealings: Dealings, venue: ScriptedVenue) -> None:
        self.dealings = dealings
        self.venue = venue
        self.requests: Any = dealings.requests
        self.hedging = Hedging(venue, self.requests, lambda: self.dealings.now_us)

    async def place(self, *about: Any, **options: Any) -> ToHedge:
        order = await self.dealings.place(self.dealings.books[0], *about, **options)
        return ToHedge(order, "main", "XAUUSD")

    async def state(self, order: Order) -> tuple[str, str]:
        """Of the order and of its request, in the store."""
        (row,) = await self.dealings.rows("SELECT status FROM orders WHERE id = $1", order.id)
        return row["status"], (await self.dealings.request(order))["state"]

    async def turn(self) -> None:
        """The next look at what was left unfinished, once every lease has ended."""
        self.dealings.now_us += LATER_US
        await self.hedging.settle()

    def fails(self, method: str, *faults: Exception | None, done: bool = False) -> None:
        """The next calls of a method; None is one that succeeds. `done`: only their answers are lost."""
        real, left = getattr(self.requests, method), list(faults)

        async def failing(*values: Any) -> Any:
            fault = left.pop(0) if left else None
            answer = await real(*values) if fault is None or done else None
            if fault is not None:
                raise fault
            return answer

        setattr(self.requests, method, failing)


@pytest.fixture
async def desk(engine: Engine) -> Desk:
    return Desk(await Dealings.open(engine), ScriptedVenue())


@pytest.fixture
async def other(desk: Desk, make_engine: MakeEngine) -> AsyncIterator[Desk]:
    """Another node on the same store, before the same venue."""
    engine = make_engine()
    await engine.open()
    dealings = Dealings(engine, [book - 1 for book in desk.dealings.books], "another node")
    yield Desk(dealings, desk.venue)
    await engine.close()


async def events(desk: Desk, order: Order) -> list[str]:
    found = await desk.dealings.rows(
        "SELECT status FROM order_events WHERE book_id = $1 AND ordinal = $2 ORDER BY at_us",
        order.book_id,
        order.ordinal,
    )
    return [row["status"] for row in found]


# --- The second commit, and the store ----------------------------------------------------------------


async def test_an_answer_whose_commit_was_lost_after_it_was_done_is_found_as_it_is(desk: Desk) -> None:
    to_hedge = await desk.place()
    desk.fails("answer", OutcomeUnknown("lost"), done=True)
    assert (await desk.hedging.hedge(to_hedge)).status == "pending"
    assert await desk.state(to_hedge.order) == ("open", "answered")
    await desk.turn()
    assert desk.venue.calls == [("submit", to_hedge.order.id)]
    await desk.dealings.sound()


async def test_an_answer_that_was_not_committed_is_asked_for_and_not_sent_again(desk: Desk) -> None:
    to_hedge = await desk.place()
    desk.fails("answer", OutcomeUnknown("never arrived"))
    assert (await desk.hedging.hedge(to_hedge)).status == "pending"
    assert await desk.state(to_hedge.order) == ("pending", "waiting")
    await desk.turn()
    assert await desk.state(to_hedge.order) == ("open", "answered")
    assert [call for call, _ in desk.venue.calls] == ["submit", "order_status"]
    await desk.dealings.sound()


async def test_a_refusal_that_was_not_committed_is_still_a_refusal_later(desk: Desk) -> None:
    desk.venue.refuses = True
    to_hedge = await desk.place()
    desk.fails("answer", StoreUnavailable("away"))
    assert (await desk.hedging.hedge(to_hedge)).status == "pending"
    desk.venue.refuses = False
    await desk.turn()
    assert await desk.state(to_hedge.order) == ("rejected", "answered")
    await desk.dealings.sound()


async def test_a_store_that_is_away_for_a_while_does_not_end_the_settling(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hedging_module, "_EVERY_S", 0.001)
    to_hedge = await desk.place()
    away = [StoreUnavailable("away")] * 3
    desk.fails("claim", *away)
    desk.fails("backlog", *away)
    desk.fails("answer", *away)
    desk.dealings.now_us += LATER_US
    running = asyncio.create_task(desk.hedging.run())
    for _ in range(2000):
        if await desk.state(to_hedge.order) == ("open", "answered"):
            break
        desk.dealings.now_us += LATER_US
        await asyncio.sleep(0.005)
    running.cancel()
    assert await desk.state(to_hedge.order) == ("open", "answered")
    assert len(desk.venue.book) == 1
    await desk.dealings.sound()


async def test_one_answer_that_cannot_be_written_does_not_hold_up_the_others(desk: Desk) -> None:
    orders = [(await desk.place()).order for _ in range(5)]
    desk.fails("answer", None, OutcomeUnknown("this one"))
    with pytest.raises(StoreFault):
        await desk.turn()
    states = Counter([await desk.state(order) for order in orders])
    assert states == {("open", "answered"): 4, ("pending", "waiting"): 1}
    await desk.turn()
    assert {await desk.state(order) for order in orders} == {("open", "answered")}
    assert desk.venue.times("submit") == 5
    await desk.dealings.sound()


# --- The venue ----------------------------------------------------------------------------------------


async def test_an_order_whose_answer_the_venue_lost_is_asked_for(desk: Desk) -> None:
    desk.venue.submits.append(desk.venue.execute_and_lose)
    to_hedge = await desk.place()
    assert (await desk.hedging.hedge(to_hedge)).status == "pending"
    await desk.turn()
    assert await desk.state(to_hedge.order) == ("open", "answered")
    assert [call for call, _ in desk.venue.calls] == ["submit", "order_status"]


async def test_an_order_that_never_reached_the_venue_is_sent_under_the_same_id(desk: Desk) -> None:
    desk.venue.submits.append(down)
    to_hedge = await desk.place()
    assert (await desk.hedging.hedge(to_hedge)).status == "pending"
    await desk.turn()
    assert await desk.state(to_hedge.order) == ("open", "answered")
    assert set(desk.venue.calls[1:]) == {("order_status", to_hedge.order.id), ("submit", to_hedge.order.id)}


async def test_a_venue_cut_off_for_long_leaves_orders_pending_and_refuses_none(desk: Desk) -> None:
    desk.venue.submits += [down] * 30
    desk.venue.asks += [down] * 30
    to_hedge = await desk.place()
    await desk.hedging.hedge(to_hedge)
    for _ in range(20):
        await desk.turn()
        assert await desk.state(to_hedge.order) == ("pending", "waiting")
    desk.venue.submits.clear()
    desk.venue.asks.clear()
    await desk.turn()
    assert await desk.state(to_hedge.order) == ("open", "answered")


async def test_a_venue_that_hangs_is_given_up_and_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hedging_module, "_CALL_S", 0.05)
    never = asyncio.Event()

    async def hang(request: HedgeRequest) -> SubmitAnswer:
        await desk.venue.execute(request)
        await never.wait()
        raise AssertionError

    desk.venue.submits.append(hang)
    to_hedge = await desk.place()
    assert (await desk.hedging.hedge(to_hedge)).status == "pending"
    await desk.turn()
    assert await desk.state(to_hedge.order) == ("open", "answered")
    assert desk.venue.times("submit") == 1


async def test_a_venue_that_had_it_before_is_asked_what_became_of_it(desk: Desk) -> None:
    to_hedge = await desk.place()
    desk.venue.book[to_hedge.order.id] = Confirmed("E-before")
    assert (await desk.hedging.hedge(to_hedge)).status == "open"
    assert [call for call, _ in desk.venue.calls] == ["submit", "order_status"]
    assert (await desk.dealings.request(to_hedge.order))["execution_id"] == "E-before"


@pytest.mark.parametrize("first", [True, False])
async def test_a_venue_that_contradicts_itself_has_its_order_neither_refused_nor_sent_again_at_once(
    desk: Desk, first: bool
) -> None:
    """It had the id before, and when asked it knows nothing of it."""
    to_hedge = await desk.place()
    desk.venue.submits.append(saying(Duplicate()))
    if first:
        assert (await desk.hedging.hedge(to_hedge)).status == "pending"
        assert [call for call, _ in desk.venue.calls] == ["submit", "order_status"]
    else:
        await desk.turn()
        assert [call for call, _ in desk.venue.calls] == ["order_status", "submit", "order_status"]
    assert await desk.state(to_hedge.order) == ("pending", "waiting")
    assert "contradicts" in (await desk.dealings.request(to_hedge.order))["words"]
    # Asked before anything is sent, also the next time.
    before = len(desk.venue.calls)
    desk.venue.asks.append(saying(Unconfirmed("looking for it")))
    await desk.turn()
    assert [call for call, _ in desk.venue.calls[before:]] == ["order_status"]
    desk.venue.asks.append(saying(Confirmed("E-found")))
    await desk.turn()
    assert await desk.state(to_hedge.order) == ("open", "answered")


# --- Orders that changed meanwhile --------------------------------------------------------------------


@pytest.mark.parametrize(("refuses", "state"), [(False, "broken"), (True, "answered")])
async def test_an_order_deleted_while_the_venue_was_at_it_stays_deleted(
    desk: Desk, refuses: bool, state: str
) -> None:
    """A fill of it is a break for the desk to see; a refusal is what the desk wanted."""
    desk.venue.refuses = refuses
    to_hedge = await desk.place()

    async def meanwhile(request: HedgeRequest) -> SubmitAnswer:
        await desk.dealings.change(to_hedge.order, Event.DELETE)
        return await desk.venue.execute(request)

    desk.venue.submits.append(meanwhile)
    assert (await desk.hedging.hedge(to_hedge)).status == "deleted"
    assert await desk.state(to_hedge.order) == ("deleted", state)
    assert (await desk.requests.backlog()).breaks == (not refuses)
    assert await events(desk, to_hedge.order) == ["deleted"]
    await desk.dealings.sound()


async def test_an_order_deleted_before_it_was_sent_is_never_sent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hedging_module, "LATE_US", 0)
    to_hedge = await desk.place()
    await desk.dealings.change(to_hedge.order, Event.DELETE)
    await desk.turn()
    assert [call for call, _ in desk.venue.calls] == ["order_status"]
    assert await desk.state(to_hedge.order) == ("deleted", "withdrawn")
    await desk.turn()
    assert len(desk.venue.calls) == 1


# --- Several nodes ------------------------------------------------------------------------------------


async def test_the_same_word_brought_by_two_nodes_at_once_is_taken_once(desk: Desk, other: Desk) -> None:
    for _ in range(5):
        to_hedge = await desk.place()
        word = Confirmed(f"E-{to_hedge.order.id}")
        answers = [each.requests.answer(to_hedge, word) for each in (desk, other, desk, other)]
        orders = await asyncio.gather(*answers)
        assert len({(order.status, order.deal_no) for order in orders}) == 1
        assert await events(desk, to_hedge.order) == ["open"]
        assert await desk.state(to_hedge.order) == ("open", "answered")
    await desk.dealings.sound()


async def test_no_request_is_dealt_with_by_two_nodes_within_a_lease(desk: Desk, other: Desk) -> None:
    """Thirty orders that nobody finished, and two nodes that look at once, again and again."""
    for _ in range(30):
        await desk.place()
    at_us = desk.dealings.now_us
    for _ in range(3):
        at_us += LATER_US + 100
        claims: Counter[str] = Counter()
        nodes = enumerate((desk, other) * 6)
        found = await asyncio.gather(*(each.requests.claim(at_us + turn, 7) for turn, each in nodes))
        claims.update(each.to_hedge.order.id for some in found for each in some)
        assert set(claims.values()) == {1}
        assert len(claims) == 30
        assert not await other.requests.claim(at_us + LEASE_US, 100), "until the lease has ended"


async def test_a_node_that_stood_still_does_not_cut_short_the_lease_of_who_took_over(
    desk: Desk, other: Desk
) -> None:
    """It wakes up with the venue's 'not yet' in its hands; the request is another's by now."""
    to_hedge = await desk.place()
    desk.dealings.now_us += LATER_US
    (mine,) = await desk.requests.claim(desk.dealings.now_us, 10)
    desk.dealings.now_us += LATER_US
    (theirs,) = await other.requests.claim(desk.dealings.now_us, 10)
    assert mine.to_hedge.order.id == theirs.to_hedge.order.id == to_hedge.order.id
    await desk.requests.postpone(to_hedge.order, desk.dealings.now_us + 1_000, "not yet")
    assert not await desk.requests.claim(desk.dealings.now_us + LEASE_US, 10)
    assert (await desk.dealings.request(to_hedge.order))["holder"] == "another node"


async def test_a_node_that_stood_still_brings_an_old_word_and_does_no_harm(desk: Desk, other: Desk) -> None:
    """It had sent the order; the other node asked, and has it open; then the first goes on where it was."""
    stopped, go_on = asyncio.Event(), asyncio.Event()

    async def slow(request: HedgeRequest) -> SubmitAnswer:
        word = await desk.venue.execute(request)
        stopped.set()
        await go_on.wait()
        return word

    desk.venue.submits.append(slow)
    to_hedge = await desk.place()
    first = asyncio.create_task(desk.hedging.hedge(to_hedge))
    await stopped.wait()
    other.dealings.now_us = desk.dealings.now_us + LATER_US
    await other.hedging.settle()
    assert await desk.state(to_hedge.order) == ("open", "answered")
    before = await desk.dealings.read()
    go_on.set()
    assert (await first).status == "open"
    after = await desk.dealings.read()
    del before["deals"], after["deals"]  # A number may have been passed over: gaps are allowed.
    assert after == before
    assert len(desk.venue.book) == 1


async def test_a_node_that_stood_still_before_it_sent_finds_a_duplicate(desk: Desk, other: Desk) -> None:
    stopped, go_on = asyncio.Event(), asyncio.Event()

    async def late(request: HedgeRequest) -> SubmitAnswer:
        stopped.set()
        await go_on.wait()
        return await desk.venue.execute(request)

    desk.venue.submits.append(late)
    to_hedge = await desk.place()
    first = asyncio.create_task(desk.hedging.hedge(to_hedge))
    await stopped.wait()
    other.dealings.now_us = desk.dealings.now_us + LATER_US
    await other.hedging.settle()
    go_on.set()
    assert (await first).status == "open"
    assert len(desk.venue.book) == 1
    assert await desk.state(to_hedge.order) == ("open", "answered")
    await desk.dealings.sound()
