"""The simulated venue on a book in memory: how it behaves in each mode, and when it is told to change."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count

import msgspec
import pytest

from bullion.faults import StoreFault, StoreUnavailable
from bullion.hedge.simulated import Mode, SimulatedVenue, VenueBehaviour, VenueOrder
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Duplicate,
    HedgeRequest,
    ListedExecution,
    Tradeability,
    Unconfirmed,
    UnknownOrder,
    VenueUnreachable,
)

pytestmark = pytest.mark.anyio


class Book:
    """The venue's book, in memory; it can fail."""

    def __init__(self) -> None:
        self.behaviours: dict[str, VenueBehaviour] = {}
        self.orders: dict[str, VenueOrder] = {}
        self.decided_at: dict[str, int] = {}
        self.fault: StoreFault | None = None
        self._numbers = count(1)

    async def behaviour(self, broker: str) -> VenueBehaviour:
        self._fail()
        return self.behaviours.get(broker, VenueBehaviour(broker))

    async def take(
        self,
        request: HedgeRequest,
        at_us: int,
        due_at_us: int,
        outcome: str | None,
        filled_e4: int | None = None,
    ) -> VenueOrder:
        self._fail()
        known = self.orders.get(request.order_id)
        if known is None:
            execution_id = None if outcome is None else f"E{next(self._numbers)}"
            taken = VenueOrder(request.order_id, due_at_us, 1, outcome, execution_id, at_us, filled_e4)
        else:
            taken = msgspec.structs.replace(known, submissions=known.submissions + 1)
        self.orders[request.order_id] = taken
        return taken

    async def find(self, order_id: str) -> VenueOrder | None:
        self._fail()
        return self.orders.get(order_id)

    async def decide(
        self, order_id: str, outcome: str, at_us: int, filled_e4: int | None = None
    ) -> VenueOrder:
        self._fail()
        taken = self.orders[order_id]
        if taken.outcome is None:
            taken = msgspec.structs.replace(
                taken,
                outcome=outcome,
                execution_id=f"E{next(self._numbers)}",
                executed_at_us=at_us,
                filled_e4=filled_e4,
            )
            self.orders[order_id] = taken
            self.decided_at[order_id] = at_us
        return taken

    async def executions(self, broker: str, after_no: int, limit: int) -> Sequence[ListedExecution]:
        self._fail()
        made = [order for order in self.orders.values() if order.outcome == "confirmed"]
        return [
            ListedExecution(order.execution_id or "", order.order_id, "GOLD", "buy", 1, 5, str(number))
            for number, order in enumerate(made, start=1)
            if number > after_no
        ][:limit]

    def _fail(self) -> None:
        if self.fault is not None:
            raise self.fault


class Bench:
    def __init__(self) -> None:
        self.book = Book()
        self.now_us = 1_000_000
        self.venue = SimulatedVenue(self.book, lambda: self.now_us)

    def behave(
        self,
        mode: Mode,
        delay_ms: int = 0,
        broker: str = "main",
        instruments: Mapping[str, Tradeability] | None = None,
    ) -> None:
        self.book.behaviours[broker] = VenueBehaviour(broker, mode, delay_ms, instruments or {})


@pytest.fixture
def bench() -> Bench:
    return Bench()


def request(order_id: str = "a", broker: str = "main") -> HedgeRequest:
    return HedgeRequest(order_id, broker, "GOLD", "buy", 10_000, 7_000_000, "gold", 999)


async def test_it_fills_at_once_unless_it_is_told_otherwise(bench: Bench) -> None:
    assert await bench.venue.submit(request()) == Confirmed("E1")
    assert await bench.venue.order_status(request()) == Confirmed("E1")
    assert bench.book.orders["a"].outcome == "confirmed"


async def test_it_refuses(bench: Bench) -> None:
    bench.behave(Mode.REFUSE)
    word = await bench.venue.submit(request())
    assert isinstance(word, Declined)
    assert (word.execution_id, bool(word.message)) == ("E1", True)
    bench.behave(Mode.FILL)
    assert await bench.venue.order_status(request()) == word


@pytest.mark.parametrize(("mode", "word"), [(Mode.FILL, Confirmed), (Mode.REFUSE, Declined)])
async def test_what_it_holds_is_decided_by_the_mode_in_which_it_is_asked_for(
    bench: Bench, mode: Mode, word: type
) -> None:
    bench.behave(Mode.HOLD)
    assert isinstance(await bench.venue.submit(request()), Unconfirmed)
    assert isinstance(await bench.venue.order_status(request()), Unconfirmed)
    assert bench.book.orders["a"].outcome is None
    bench.behave(mode)
    first = await bench.venue.order_status(request())
    assert isinstance(first, word)
    bench.behave(Mode.FILL if mode is Mode.REFUSE else Mode.REFUSE)
    assert await bench.venue.order_status(request()) == first


async def test_down_it_cannot_be_reached_and_never_saw_what_was_sent(bench: Bench) -> None:
    bench.behave(Mode.DOWN)
    with pytest.raises(VenueUnreachable):
        await bench.venue.submit(request())
    with pytest.raises(VenueUnreachable):
        await bench.venue.order_status(request())
    with pytest.raises(VenueUnreachable):
        await bench.venue.instruments("main", [])
    bench.behave(Mode.FILL)
    assert await bench.venue.order_status(request()) == UnknownOrder()


async def test_a_duplicate_is_told_in_every_mode_and_decides_nothing(bench: Bench) -> None:
    bench.behave(Mode.HOLD)
    await bench.venue.submit(request())
    for number, mode in enumerate((Mode.HOLD, Mode.FILL, Mode.REFUSE), start=2):
        bench.behave(mode)
        assert await bench.venue.submit(request()) == Duplicate()
        assert (bench.book.orders["a"].submissions, bench.book.orders["a"].outcome) == (number, None)


async def test_a_delay_is_waited_for_and_the_word_is_given_then(bench: Bench) -> None:
    bench.behave(Mode.FILL, delay_ms=60)
    began = asyncio.get_running_loop().time()
    assert isinstance(await bench.venue.submit(request()), Confirmed)
    assert asyncio.get_running_loop().time() - began >= 0.055
    assert bench.book.decided_at["a"] == bench.now_us + 60_000


async def test_before_its_time_an_order_is_undecided_for_whoever_asks(bench: Bench) -> None:
    bench.behave(Mode.REFUSE, delay_ms=60_000)
    call = asyncio.ensure_future(bench.venue.submit(request()))
    await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    bench.now_us += 60_000_000 - 1
    assert isinstance(await bench.venue.order_status(request()), Unconfirmed)
    bench.now_us += 1
    assert isinstance(await bench.venue.order_status(request()), Declined)


async def test_the_delay_is_that_of_when_it_was_taken(bench: Bench) -> None:
    bench.behave(Mode.HOLD, delay_ms=10_000)
    began = asyncio.get_running_loop().time()
    assert isinstance(await bench.venue.submit(request()), Unconfirmed)
    assert asyncio.get_running_loop().time() - began < 5, "an order that is held is not waited for"
    bench.behave(Mode.FILL)
    assert isinstance(await bench.venue.order_status(request()), Unconfirmed)
    bench.now_us += 10_000_000
    assert isinstance(await bench.venue.order_status(request()), Confirmed)


@pytest.mark.parametrize("then", [Mode.HOLD, Mode.DOWN, Mode.REFUSE])
async def test_a_mode_that_changes_during_the_delay_is_the_one_that_decides(bench: Bench, then: Mode) -> None:
    bench.behave(Mode.FILL, delay_ms=30)
    call = asyncio.ensure_future(bench.venue.submit(request()))
    await asyncio.sleep(0.01)
    bench.behave(then)
    (word,) = await asyncio.gather(call, return_exceptions=True)
    assert isinstance(
        word, {Mode.HOLD: Unconfirmed, Mode.DOWN: VenueUnreachable, Mode.REFUSE: Declined}[then]
    )
    bench.behave(Mode.FILL)
    bench.now_us += 30_000
    assert isinstance(
        await bench.venue.order_status(request()), Declined if then is Mode.REFUSE else Confirmed
    )


async def test_each_broker_has_a_venue_of_its_own(bench: Bench) -> None:
    bench.behave(Mode.DOWN, broker="main")
    bench.behave(Mode.REFUSE, broker="other")
    with pytest.raises(VenueUnreachable):
        await bench.venue.submit(request("a"))
    assert isinstance(await bench.venue.submit(request("b", "other")), Declined)
    assert isinstance(await bench.venue.submit(request("c", "third")), Confirmed)


async def test_its_word_on_instruments_is_the_desks_and_else_that_they_are_tradable(bench: Bench) -> None:
    words = {
        "GOLD": Tradeability.SUSPENDED,
        "SILVER": Tradeability.UNKNOWN,
        "UNASKED": Tradeability.SUSPENDED,
    }
    bench.behave(Mode.REFUSE, instruments=words)
    assert await bench.venue.instruments("main", ["GOLD", "SILVER", "XAUUSD"]) == {
        "GOLD": Tradeability.SUSPENDED,
        "SILVER": Tradeability.UNKNOWN,
        "XAUUSD": Tradeability.TRADABLE,
    }
    assert await bench.venue.instruments("other", ["GOLD"]) == {"GOLD": Tradeability.TRADABLE}


async def test_a_book_that_cannot_be_reached_is_told_as_the_fault_it_is(bench: Bench) -> None:
    bench.book.fault = StoreUnavailable("gone")
    for call in (bench.venue.submit, bench.venue.order_status):
        with pytest.raises(StoreUnavailable):
            await call(request())
