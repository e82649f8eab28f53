"""Production's queue when an answer of the store is lost: what was committed is the answer, never a guess.

The store is real; only the moment of the loss is arranged.
"""

import asyncio
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from itertools import product

import pytest
from structlog.testing import capture_logs

from bullion.booking import queue as queue_module
from bullion.booking import verify as verify_module
from bullion.booking.attempt import Booked, OrderAttempt, QueueEntry
from bullion.booking.decide import Plan, decide
from bullion.faults import (
    AlreadyExists,
    ConstraintViolation,
    OutcomeUnknown,
    StoreBusy,
    StoreConflict,
    StoreUnavailable,
)
from bullion.orders.order_id import order_id
from bullion.orders.verdict import Refusal
from bullion.refusals.catalogue import PRODUCTION_TRADING_DISABLED, TRADING_HALTED
from bullion.store.engine import Engine
from tests.contract.conftest import MakeEngine
from tests.model import invariants

from .dealing_node import DealingNode, orders_of
from .fixtures import GOLD, NOW_US, asked, checked, create_books, failing, put, rows, store_of

pytestmark = pytest.mark.anyio

LOST = OutcomeUnknown("the line went dead")
CLOSED = Refusal(PRODUCTION_TRADING_DISABLED, fields={"reason": "global"}, closed=True)


@pytest.fixture
async def live_books(engine: Engine) -> list[int]:
    """The production books of three clients."""
    return [book + 1 for book in await create_books(engine)]


@pytest.fixture
async def live(engine: Engine, live_books: list[int]) -> DealingNode:
    node = DealingNode(engine)
    await node.start()
    return node


@pytest.fixture
async def other(make_engine: MakeEngine, live: DealingNode) -> AsyncIterator[DealingNode]:
    """Another node on the same store."""
    second = make_engine()
    await second.open()
    node = DealingNode(second, holder="the other node")
    await node.start()
    yield node
    await second.close()


async def sound(engine: Engine) -> None:
    await invariants.check(store_of(engine))


async def nothing() -> None:
    return


class Clock:
    """A node that keeps its deadline as the test wants it, and a store that answers when it is let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.reached, self.go_on = asyncio.Event(), asyncio.Event()
        self.far()

    async def stand_still(self) -> None:
        """To be put where the store should not answer."""
        self.reached.set()
        await self.go_on.wait()

    def far(self) -> None:
        self._monkeypatch.setattr(queue_module, "DEADLINE_S", 600.0)

    def near(self, deadline_s: float = 0.0) -> None:
        self._monkeypatch.setattr(queue_module, "DEADLINE_S", deadline_s)


@pytest.fixture
async def clock(live: DealingNode, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Clock]:
    monkeypatch.setattr(queue_module, "_DEADLINE_CHECK_S", 0.01)
    clock = Clock(monkeypatch)
    watch = asyncio.create_task(live.queue.run())
    yield clock
    watch.cancel()


# --- The answer is lost -------------------------------------------------------------------------------


async def test_an_order_whose_answer_was_lost_after_the_commit_is_the_answer_and_no_replay(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    live.ledger.after.append(failing(LOST))
    outcome = await live.place(live_books[0], "k")
    assert isinstance(outcome, Booked)
    assert not outcome.replayed
    (row,) = await orders_of(engine, live_books[0], "k")
    assert (row["id"], row["status"], outcome.order.status) == (outcome.order.id, "pending", "pending")
    assert len(live.ledger.batches) == 1, "nothing was tried again"
    assert live.ledger.verified == 1
    assert await live.told(live_books[0], "k") == "replayed"
    assert len(await rows(engine, "SELECT 1 AS one FROM hedge_requests")) == 1
    await sound(engine)


@pytest.mark.parametrize("fault", [LOST, StoreUnavailable("away")], ids=["answer lost", "not written"])
async def test_while_production_is_closed_a_key_without_an_order_is_not_answered_after_a_fault_either(
    live: DealingNode, live_books: list[int], fault: Exception
) -> None:
    moved, closed = asked(expected_price="1"), lambda: CLOSED
    assert await live.told(live_books[0], "moved", moved) == "price_moved"
    assert await live.told(live_books[0], "booked") == "booked"
    for key, of, told in (
        ("moved", moved, CLOSED.refusal.code),
        ("booked", asked("sell"), CLOSED.refusal.code),
        ("booked", asked(), "replayed"),
    ):
        live.ledger.before.append(failing(fault))
        assert await live.told(live_books[0], key, of, verdict=closed) == told


async def test_while_production_is_closed_another_body_of_a_key_in_flight_is_refused_for_that(
    live: DealingNode, live_books: list[int]
) -> None:
    first = asyncio.create_task(live.told(live_books[0], "k"))
    await asyncio.sleep(0)
    assert await live.told(live_books[0], "k", asked("sell"), verdict=lambda: CLOSED) == CLOSED.refusal.code
    assert await first == "booked"


async def test_a_commit_that_never_came_to_be_is_told_and_not_tried_again(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    live.ledger.before.append(failing(LOST))
    assert await live.told(live_books[0], "k") == "NotCompleted"
    await live.quiet()
    assert await orders_of(engine, live_books[0], "k") == []
    assert len(live.ledger.batches) == 1
    assert await live.told(live_books[0], "k") == "booked"
    assert len(await orders_of(engine, live_books[0], "k")) == 1
    await sound(engine)


async def test_of_a_lost_batch_each_order_is_told_what_became_of_it(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    """Orders, a moved price and a refusal, in three books; what nothing was written for is not completed."""
    live.ledger.after.append(failing(LOST))
    told = await asyncio.gather(
        live.told(live_books[0], "a"),
        live.told(live_books[0], "b", asked(expected_price="1")),
        live.told(live_books[1], "c"),
        live.told(live_books[1], "d", asked("buy", 10**10)),
        live.told(live_books[2], "e", asked("buy", 10**10)),
    )
    assert list(told) == ["booked", "price_moved", "booked", "NotCompleted", "NotCompleted"]
    assert live.ledger.verified == 3, "once for each book"
    again = [await live.told(live_books[1], "d", asked("buy", 10**10)), await live.told(live_books[1], "c")]
    assert again == ["limit_exceeded", "replayed"]
    await sound(engine)


async def test_another_body_under_a_key_that_was_lost_books_nothing(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    live.ledger.after.append(failing(LOST))
    told = await asyncio.gather(
        live.told(live_books[0], "k"),
        live.told(live_books[0], "k", asked("sell")),
        live.told(live_books[0], "k"),
    )
    assert list(told) == ["booked", "idempotency_key_reused", "replayed"]
    assert len(await orders_of(engine, live_books[0], "k")) == 1


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize(
    "fault",
    [StoreUnavailable("away"), StoreBusy("locked"), StoreConflict("again"), OutcomeUnknown("lost too")],
)
async def test_what_cannot_be_read_is_unknown_and_the_same_key_tells(
    live: DealingNode, live_books: list[int], engine: Engine, committed: bool, fault: Exception
) -> None:
    (live.ledger.after if committed else live.ledger.before).append(failing(LOST))
    live.ledger.before_verify.append(failing(fault))
    assert await live.told(live_books[0], "k") == "OutcomeUnknown"
    assert await live.told(live_books[0], "k") == ("replayed" if committed else "booked")
    assert len(await orders_of(engine, live_books[0], "k")) == 1
    await sound(engine)


async def test_a_book_that_cannot_be_verified_does_not_hide_the_others(
    live: DealingNode, live_books: list[int]
) -> None:
    live.ledger.after.append(failing(LOST))
    live.ledger.before_verify.append(failing(StoreUnavailable("for a moment")))
    told = await asyncio.gather(*(live.told(book, "k") for book in live_books))
    assert Counter(told) == {"OutcomeUnknown": 1, "booked": 2}


async def test_a_mistake_of_our_own_while_verifying_leaves_nobody_waiting(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    live.ledger.after.append(failing(LOST))
    live.ledger.before_verify.append(failing(ZeroDivisionError()))
    with capture_logs() as logs:
        assert await asyncio.wait_for(live.told(live_books[0], "k"), 30) == "OutcomeUnknown"
    assert [entry["event"] for entry in logs] == ["batch_failed", "verification_failed"]
    assert await live.told(live_books[0], "k") == "replayed"
    assert await live.told(live_books[0], "next") == "booked"
    await sound(engine)


@pytest.mark.parametrize(
    "fault", [ConstraintViolation("a rule"), AlreadyExists("there"), StoreConflict("again")]
)
async def test_an_abort_that_the_store_itself_told_is_tried_again_order_by_order(
    live: DealingNode, live_books: list[int], engine: Engine, fault: Exception
) -> None:
    live.ledger.before.append(failing(fault))
    told = await asyncio.gather(*(live.told(live_books[0], key) for key in ("a", "b")))
    assert list(told) == ["booked", "booked"]
    assert live.ledger.verified == 0
    await sound(engine)


async def test_an_answer_lost_in_the_second_try_is_verified_too(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    live.ledger.before += [failing(StoreConflict("first")), nothing]
    live.ledger.after.append(failing(LOST))
    assert await live.told(live_books[0], "k") == "booked"
    assert live.ledger.verified == 1
    assert len(await orders_of(engine, live_books[0], "k")) == 1


async def test_a_fault_after_some_books_were_recorded_is_not_told_to_those(
    live: DealingNode, other: DealingNode, live_books: list[int], engine: Engine
) -> None:
    """The first book has a key that another node settled, and the store goes away as that is looked up.

    The second book's order was recorded by the same statement: it must not be told that nothing was booked.
    """
    assert await live.told(live_books[0], "before") == "booked"
    assert await other.told(live_books[0], "k") == "booked"
    live.ledger.before_settled.append(failing(StoreUnavailable("gone")))
    told = await asyncio.gather(live.told(live_books[0], "k"), live.told(live_books[1], "k"))
    stored = [len(await orders_of(engine, book, "k")) for book in live_books[:2]]
    assert stored == [1, 1]
    assert list(told) == ["replayed", "booked"], "and the first, which is there, is looked for once more"
    live.ledger.before_settled.append(failing(StoreUnavailable("gone")))
    live.ledger.before_verify.append(failing(StoreUnavailable("still")))
    told = await asyncio.gather(live.told(live_books[0], "k"), live.told(live_books[1], "new"))
    assert list(told) == ["OutcomeUnknown", "booked"], "an order is there, so not: nothing was booked"


# --- The fence ----------------------------------------------------------------------------------------


async def planned(node: DealingNode, book: int, key: str) -> Plan:
    before = (await node.ledger.inner.books([book]))[book]
    entry = node.entry(node.attempt(book, key))
    return decide(before, [entry], NOW_US, lambda at_us, ordinal: order_id(at_us, ordinal, 7))


async def recorded(node: DealingNode, plan: Plan) -> bool:
    """Whether the store records the plan when it arrives now."""
    names = [entry.attempt.key_name for entry, _ in plan.outcomes]
    seen = await node.ledger.inner.record([plan], names, node.catalogue.version or 0)
    return seen.books[plan.before.id].recorded


async def test_what_was_still_on_its_way_is_not_recorded_after_it_was_told_that_nothing_was(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    book = live_books[0]
    plan = await planned(live, book, "k")
    assert await live.ledger.inner.verify(book, [(book, "api", "k")]) == {}
    assert not await recorded(live, plan)
    assert await orders_of(engine, book, "k") == []
    assert await live.told(book, "k") == "booked"
    assert not await recorded(live, plan)
    assert len(await orders_of(engine, book, "k")) == 1
    await sound(engine)


async def test_without_the_fence_it_would_be(live: DealingNode, live_books: list[int]) -> None:
    """The test above proves something only if that very plan would else be recorded."""
    assert await recorded(live, await planned(live, live_books[0], "k"))


async def test_finding_everything_moves_no_book(live: DealingNode, live_books: list[int]) -> None:
    """Who else has decided on that book need not decide again."""
    assert await live.told(live_books[0], "k") == "booked"
    before = (await live.ledger.inner.books([live_books[0]]))[live_books[0]]
    found = await live.ledger.inner.verify(live_books[0], [(live_books[0], "api", "k")])
    assert len(found) == 1
    assert (await live.ledger.inner.books([live_books[0]]))[live_books[0]] == before


async def test_a_statement_that_arrives_late_is_not_recorded_and_the_queue_goes_on(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    """Lost to the node, on its way to the store: there it arrives after the key was verified."""
    book = live_books[0]
    real, late = live.ledger.inner.record, []

    async def lose(plans: list[Plan], names: list[tuple[int, str, str]], version: int) -> object:
        late.append((plans, names, version))
        raise LOST

    live.ledger.inner.record = lose  # type: ignore[method-assign,assignment]
    assert await live.told(book, "k") == "NotCompleted"
    live.ledger.inner.record = real  # type: ignore[method-assign]
    ((plans, names, version),) = late
    assert not (await real(plans, names, version)).books[book].recorded
    assert await orders_of(engine, book, "k") == []
    assert await live.told(book, "k") == "booked"
    assert not (await real(plans, names, version)).books[book].recorded
    assert len(await orders_of(engine, book, "k")) == 1
    await sound(engine)


async def test_verifying_waits_for_whoever_may_still_commit(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    """The lost booking holds the book's lock until it is committed: only then is it known."""
    book = live_books[0]
    locked, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    theirs = await DealingNode(engine).start()
    entry = theirs.entry(theirs.attempt(book, "k", request_id="mine"))
    entry.outcome = loop.create_future()

    def plan(books: object, stock: object) -> list[Plan]:
        loop.call_soon_threadsafe(locked.set)
        if "Sqlite" in type(engine).__name__:
            assert go_on.wait(20)
        decided = decide(books[book], [entry], NOW_US, lambda at, no: order_id(at, no, 7))  # type: ignore[index]
        return [decided]

    name = (book, "api", "k")
    recording = asyncio.create_task(
        live.ledger.inner.record_locked([book], [], [name], live.catalogue.version or 0, plan)
    )
    await locked.wait()
    verifying = asyncio.create_task(live.ledger.inner.verify(book, [name]))
    go_on.set()
    await recording
    assert len(await verifying) == 1


# --- The deadline -------------------------------------------------------------------------------------


async def test_at_the_deadline_what_was_sent_is_verified_and_what_was_not_is_busy(
    live: DealingNode, live_books: list[int], engine: Engine, clock: Clock
) -> None:
    live.ledger.before.append(clock.stand_still)
    first = asyncio.create_task(live.told(live_books[0], "sent"))
    await clock.reached.wait()
    second = asyncio.create_task(live.told(live_books[0], "waiting"))
    await asyncio.sleep(0)
    clock.near()
    assert (await first, await second) == ("NotCompleted", "StoreBusy")
    assert live.ledger.verified == 1
    # The statement goes on at last: neither is recorded.
    clock.far()
    clock.go_on.set()
    await live.quiet()
    for key in ("sent", "waiting"):
        assert await orders_of(engine, live_books[0], key) == []
        assert await live.told(live_books[0], key) == "booked"
        assert len(await orders_of(engine, live_books[0], key)) == 1
    await sound(engine)


async def test_at_the_deadline_what_was_committed_is_found(
    live: DealingNode, live_books: list[int], engine: Engine, clock: Clock
) -> None:
    """The store has done it, and its answer does not come."""
    live.ledger.after.append(clock.stand_still)
    first = asyncio.create_task(live.told(live_books[0], "k"))
    await clock.reached.wait()
    clock.near()
    assert await first == "booked"
    clock.far()
    again = asyncio.create_task(live.told(live_books[0], "k"))
    clock.go_on.set()
    assert await again == "replayed"
    await live.quiet()
    assert len(await orders_of(engine, live_books[0], "k")) == 1
    await sound(engine)


async def test_at_the_deadline_an_outcome_that_cannot_be_read_is_unknown(
    live: DealingNode, live_books: list[int], engine: Engine, clock: Clock
) -> None:
    live.ledger.before.append(clock.stand_still)
    live.ledger.before_verify.append(failing(StoreBusy("the book is locked")))
    first = asyncio.create_task(live.told(live_books[0], "k"))
    await clock.reached.wait()
    clock.near()
    assert await first == "OutcomeUnknown"
    clock.far()
    # Not fenced: the statement is recorded after all, and the key tells so.
    clock.go_on.set()
    assert await live.told(live_books[0], "k") == "replayed"
    assert len(await orders_of(engine, live_books[0], "k")) == 1
    await sound(engine)


async def test_three_calls_with_one_key_while_the_store_stands_still(
    live: DealingNode, live_books: list[int], engine: Engine, clock: Clock
) -> None:
    live.ledger.before.append(clock.stand_still)
    live.ledger.before_verify.append(clock.stand_still)
    first = asyncio.create_task(live.told(live_books[0], "k"))
    await clock.reached.wait()
    clock.near(0.1)
    assert [await live.told(live_books[0], "k") for _ in range(2)] == ["StoreConflict", "StoreConflict"]
    assert not first.done()
    clock.far()
    clock.go_on.set()
    assert await first in ("booked", "NotCompleted")
    await live.quiet()
    assert await live.told(live_books[0], "k") in ("booked", "replayed")
    assert len(await orders_of(engine, live_books[0], "k")) == 1
    await sound(engine)


async def test_orders_that_wait_behind_a_lost_one_are_booked(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    late: list[asyncio.Task[str]] = []

    async def lose() -> None:
        late.append(asyncio.create_task(live.told(live_books[0], "behind")))
        await asyncio.sleep(0.01)
        raise LOST

    live.ledger.before.append(lose)
    assert await live.told(live_books[0], "k") == "NotCompleted"
    assert await late[0] == "booked"
    await sound(engine)


async def test_a_caller_who_leaves_while_its_order_is_verified_takes_nothing_along(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    verifying = asyncio.Event()

    async def tell() -> None:
        verifying.set()
        await asyncio.sleep(0.02)

    live.ledger.after.append(failing(LOST))
    live.ledger.before_verify.append(tell)
    call = asyncio.create_task(live.place(live_books[0], "k"))
    await verifying.wait()
    call.cancel()
    await live.quiet()
    assert not live.queue._in_flight
    assert not live.queue._running_books
    assert await live.told(live_books[0], "k") == "replayed"


async def test_the_catalogue_moves_while_the_answer_is_lost(
    live: DealingNode, live_books: list[int], engine: Engine
) -> None:
    """Judged again, sent again, and then lost: still once."""
    live.ledger.before += [lambda: put(engine, GOLD), nothing]
    live.ledger.after += [nothing, failing(LOST)]
    assert await live.told(live_books[0], "k") == "booked"
    assert len(await orders_of(engine, live_books[0], "k")) == 1


# --- The same key again, while the book cannot be had -------------------------------------------------

HELD_OFF = [StoreBusy("locked"), StoreConflict("again and again"), StoreUnavailable("takes no writes")]


@pytest.mark.parametrize("fault", HELD_OFF)
async def test_an_order_that_is_there_is_told_although_its_book_cannot_be_had(
    live: DealingNode, live_books: list[int], fault: Exception
) -> None:
    """Whoever reads that nothing was booked would believe it."""
    first = await live.place(live_books[0], "k")
    live.ledger.poison, live.ledger.poison_fault = {"k", "new"}, fault
    again = await live.place(live_books[0], "k")
    assert isinstance(first, Booked)
    assert isinstance(again, Booked)
    assert (again.replayed, again.order) == (True, first.order)
    assert await live.told(live_books[0], "k", asked("sell")) == "idempotency_key_reused"
    assert await live.told(live_books[0], "new") == type(fault).__name__


@pytest.mark.parametrize("fault", HELD_OFF)
@pytest.mark.parametrize("committed", [True, False])
async def test_a_key_whose_outcome_is_unknown_stays_so_while_its_book_cannot_be_had(
    live: DealingNode, live_books: list[int], engine: Engine, committed: bool, fault: Exception
) -> None:
    """The first call's commit may be parked, with the lock in its hands, and be done in the end."""
    (live.ledger.after if committed else live.ledger.before).append(failing(LOST))
    live.ledger.before_verify.append(failing(StoreBusy("parked")))
    assert await live.told(live_books[0], "k") == "OutcomeUnknown"
    live.ledger.poison, live.ledger.poison_fault = {"k", "other"}, fault
    live.ledger.before_settled += [failing(StoreUnavailable("nor can it be read"))] * 2
    told = [await live.told(live_books[0], key) for key in ("k", "other")]
    assert told == ["OutcomeUnknown", type(fault).__name__]
    assert await live.told(live_books[0], "k") == ("replayed" if committed else "OutcomeUnknown")
    live.ledger.poison = set()
    assert await live.told(live_books[0], "k") == ("replayed" if committed else "booked")
    assert live.queue._verifier is not None
    assert not live.queue._verifier._unknown
    assert len(await orders_of(engine, live_books[0], "k")) == 1


async def test_a_key_that_was_verified_is_no_longer_unknown(live: DealingNode, live_books: list[int]) -> None:
    live.ledger.before += [failing(LOST), failing(LOST)]
    live.ledger.before_verify.append(failing(StoreBusy("parked")))
    told = [await live.told(live_books[0], "k") for _ in range(2)]
    assert told == ["OutcomeUnknown", "NotCompleted"]
    live.ledger.poison, live.ledger.poison_fault = {"k"}, StoreBusy("locked")
    assert await live.told(live_books[0], "k") == "StoreBusy"


async def test_only_so_many_unknown_keys_are_remembered_the_newest(
    live: DealingNode, live_books: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify_module, "_UNKNOWN_KEPT_MAX", 2)
    for number in range(4):
        live.ledger.before.append(failing(LOST))
        live.ledger.before_verify.append(failing(StoreBusy("parked")))
        assert await live.told(live_books[0], f"k{number}") == "OutcomeUnknown"
    assert live.queue._verifier is not None
    assert [key for _, _, key in live.queue._verifier._unknown] == ["k2", "k3"]


# --- Sent or given up: decided between two threads ----------------------------------------------------


def an_entry() -> QueueEntry:
    entry = checked(OrderAttempt(1, "main", "api", "k", asked(), None, "r"), Refusal(TRADING_HALTED))
    entry.outcome = asyncio.Future()
    return entry


async def test_an_order_is_never_both_sent_and_given_up_as_not_sent() -> None:
    """One thread is about to write, the other looks at the clock: at least one sees the other."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    entries = [an_entry() for _ in range(3000)]
    sent, certain = [False] * len(entries), [False] * len(entries)
    together = threading.Barrier(2)

    def write() -> None:
        together.wait()
        for number, entry in enumerate(entries):
            sent[number] = entry.mark_sent()

    def look() -> None:
        together.wait()
        for number, entry in enumerate(entries):
            certain[number] = entry.give_up()

    threads = [threading.Thread(target=each) for each in (write, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert not any(was_sent and was_certain for was_sent, was_certain in zip(sent, certain, strict=True))


def steps(entry: QueueEntry) -> tuple[list[Callable[[], object]], list[Callable[[], object]]]:
    """The reads and writes of `send` and `give_up`, one at a time, to be put in any order."""
    seen: dict[str, bool] = {}

    def write() -> None:
        entry.sent = True

    def read() -> None:
        seen["may be recorded"] = entry.waits and not entry.given_up

    def mark() -> None:
        entry.given_up = True

    def look() -> None:
        seen["certain"] = not entry.sent

    steps_seen[id(entry)] = seen
    return [write, read], [mark, look]


steps_seen: dict[int, dict[str, bool]] = {}


@pytest.mark.parametrize("order", [o for o in product("sg", repeat=4) if o.count("s") == 2])
async def test_whatever_the_order_of_their_steps_one_of_them_sees_the_other(order: tuple[str, ...]) -> None:
    entry = an_entry()
    sending, giving_up = steps(entry)
    for turn in order:
        (sending if turn == "s" else giving_up).pop(0)()
    seen = steps_seen.pop(id(entry))
    assert not (seen["may be recorded"] and seen["certain"])


async def test_one_that_was_given_up_is_never_sent_later() -> None:
    entry = an_entry()
    assert entry.give_up()
    assert not entry.mark_sent()


async def test_one_that_was_sent_is_not_given_up_as_not_sent() -> None:
    entry = an_entry()
    assert entry.mark_sent()
    assert not entry.give_up()
