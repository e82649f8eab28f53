"""Group commit on real stores: every order is answered, once, with what became of it."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from bullion.booking import batch_slots
from bullion.booking import queue as queue_module
from bullion.booking.attempt import Booked, Outcome
from bullion.booking.booking_counts import RetryReason
from bullion.faults import (
    AlreadyExists,
    ConstraintViolation,
    OutcomeUnknown,
    StoreBusy,
    StoreConflict,
    StoreUnavailable,
)
from bullion.orders.verdict import Priced, Refusal, Verdict
from bullion.refusals.catalogue import CREDENTIAL_REVOKED, STALE_RATE
from bullion.request_ids import CURRENT, current_ids
from bullion.store.engine import Engine
from tests.model import invariants

from .fixtures import GOLD, SWITCHES, Node, asked, code, failing, put, rows, set_limit, store_of

pytestmark = pytest.mark.anyio


async def orders_in(engine: Engine, book: int) -> int:
    (row,) = await rows(engine, "SELECT count(*) AS number FROM orders WHERE book_id = $1", book)
    return int(row["number"])


async def sound(engine: Engine, **options: object) -> None:
    await invariants.check(store_of(engine), **options)


# --- The ordinary way ---------------------------------------------------------------------------------


async def test_an_order_is_booked_replayed_and_guarded(node: Node, books: list[int], engine: Engine) -> None:
    outcome = await node.place(books[0], "k", asked("sell", 25_000))
    assert isinstance(outcome, Booked)
    assert (outcome.replayed, outcome.order.ordinal, outcome.order.total_paise) == (False, 1, 1_747_500)
    again = await node.place(books[0], "k", asked("sell", 25_000))
    assert isinstance(again, Booked)
    assert again.replayed
    assert again.order == outcome.order
    assert await node.told(books[0], "k", asked("sell", 25_001)) == "idempotency_key_reused"
    assert await node.told(books[0], "k", asked("hold", 25_000)) == "idempotency_key_reused"
    # The same key of another account is another key.
    assert await node.told(books[1], "k", asked("sell", 25_001)) == "booked"
    await sound(engine, other_changes={})


async def test_what_arrives_together_goes_together(node: Node, books: list[int], engine: Engine) -> None:
    told = await asyncio.gather(*(node.told(book, f"k{number}") for number in range(8) for book in books))
    assert Counter(told) == {"booked": 24}
    assert len(node.ledger.batches) == 1
    assert (node.queue.counts.orders, sum(node.queue.counts.batches)) == (24, 1)
    assert not any(node.queue.counts.retries.values())
    await sound(engine, other_changes={})


async def test_no_batch_is_larger_than_allowed_and_none_is_forgotten(
    engine: Engine, books: list[int]
) -> None:
    node = await Node(engine, slots=2, batch_max=4).start()
    told = await asyncio.gather(*(node.told(book, f"k{number}") for number in range(11) for book in books))
    assert Counter(told) == {"booked": 33}
    assert max(len(batch) for batch in node.ledger.batches) <= 4
    assert not node.queue._in_flight
    assert not node.queue._running_books
    await sound(engine, other_changes={})


async def test_beside_a_batch_under_way_goes_a_full_one_or_any_if_that_one_is_slow(
    engine: Engine, books: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await Node(engine, slots=2, batch_max=2).start()
    for book in books:
        assert await node.told(book, "first") == "booked"
    node.ledger.batches.clear()
    monkeypatch.setattr(batch_slots, "SLOW_S", 60.0)
    gate = asyncio.Event()

    async def placed(book: int, key: str) -> "asyncio.Task[str]":
        if not placing:
            node.ledger.before.append(gate.wait)  # type: ignore[arg-type]  # its answer is of no interest
        task = asyncio.create_task(node.told(book, key))
        for _ in range(5):
            await asyncio.sleep(0)
        return task

    placing: list[asyncio.Task[str]] = []
    for book, batches in zip(books, (1, 1, 2), strict=True):
        placing.append(await placed(book, "k"))
        assert len(node.ledger.batches) == batches
    assert [await task for task in placing[1:]] == ["booked", "booked"]
    placing.append(await placed(books[1], "slow"))
    assert len(node.ledger.batches) == 2
    monkeypatch.setattr(batch_slots, "SLOW_S", 0.0)
    placing.append(await placed(books[2], "slow"))
    assert await asyncio.gather(*placing[3:]) == ["booked", "booked"]
    gate.set()
    assert await placing[0] == "booked"
    await sound(engine, other_changes={})


async def test_refusals_are_given_only_after_the_key_was_looked_up(node: Node, books: list[int]) -> None:
    await put(node.engine, replace(SWITCHES, halted=True))
    assert await node.told(books[0], "k") == "trading_halted"
    await put(node.engine, SWITCHES)
    assert await node.told(books[0], "k") == "booked"
    await put(node.engine, replace(SWITCHES, halted=True))
    assert await node.told(books[0], "k") == "replayed"
    assert await node.told(books[0], "k", asked("sell")) == "idempotency_key_reused"


async def test_a_moved_price_settles_the_key(node: Node, books: list[int], engine: Engine) -> None:
    order = asked(expected_price="1")
    assert await node.told(books[0], "k", order) == "price_moved"
    assert await node.told(books[0], "k", order) == "price_moved again"
    assert await node.told(books[0], "k", asked(expected_price="2")) == "idempotency_key_reused"
    assert await orders_in(engine, books[0]) == 0
    await sound(engine, other_changes={})


async def test_limits_set_by_the_desk_hold_at_once(node: Node, books: list[int], engine: Engine) -> None:
    book = books[0]
    assert await node.told(book, "a", asked("buy", 50_000)) == "booked"
    await set_limit(engine, book, 60_000, 0)
    assert await node.told(book, "b", asked("buy", 10_001)) == "limit_exceeded"
    assert await node.told(book, "b", asked("buy", 10_000)) == "booked"
    await set_limit(engine, book, 0, 0)
    assert await node.told(book, "c", asked("buy", 1)) == "limit_exceeded"
    assert await node.told(book, "c", asked("sell", 1)) == "booked"
    await set_limit(engine, book, 10**9, 0)
    assert await node.told(book, "d", asked("buy", 10**8)) == "booked"
    await sound(engine, other_changes={book: 3, book + 1: 3})


# --- The same key at once -----------------------------------------------------------------------------


async def test_one_order_for_a_key_sent_many_times_at_once(
    node: Node, books: list[int], engine: Engine
) -> None:
    outcomes = await asyncio.gather(*(node.place(books[0], "k") for _ in range(50)))
    assert Counter(code(outcome) for outcome in outcomes) == {"booked": 1, "replayed": 49}
    assert len({outcome.order.id for outcome in outcomes if isinstance(outcome, Booked)}) == 1
    await sound(engine, other_changes={})


async def test_other_bodies_with_a_key_in_flight_are_reused_keys(
    node: Node, books: list[int], engine: Engine
) -> None:
    told = await asyncio.gather(*(node.told(books[0], "k", asked("buy", n % 2 + 1)) for n in range(20)))
    assert Counter(told) == {"booked": 1, "replayed": 9, "idempotency_key_reused": 10}
    await sound(engine, other_changes={})


async def test_a_moved_price_sent_many_times_at_once_settles_once(
    node: Node, books: list[int], engine: Engine
) -> None:
    told = await asyncio.gather(*(node.told(books[0], "k", asked(expected_price="1")) for _ in range(10)))
    assert Counter(told) == {"price_moved": 1, "price_moved again": 9}
    await sound(engine, other_changes={})


async def test_those_who_follow_a_refused_call_are_judged_on_their_own(
    node: Node, books: list[int], engine: Engine
) -> None:
    """The first is refused for its size; what follows with the same key is another order, and passes."""
    await set_limit(engine, books[0], 50_000, 0)
    told = await asyncio.gather(
        node.told(books[0], "k", asked("buy", 50_001)),
        node.told(books[0], "k", asked("buy", 50_000)),
        node.told(books[0], "k", asked("buy", 50_000)),
        node.told(books[0], "k", asked("buy", 50_001)),
    )
    assert list(told) == ["limit_exceeded", "booked", "replayed", "idempotency_key_reused"]
    await sound(engine, other_changes={books[0]: 1, books[0] + 1: 1})


async def test_those_who_follow_a_call_that_failed_are_judged_on_their_own(
    node: Node, books: list[int], engine: Engine
) -> None:
    node.ledger.before.append(failing(StoreUnavailable("gone for a moment")))
    told = await asyncio.gather(*(node.told(books[0], "k") for _ in range(3)))
    assert list(told) == ["StoreUnavailable", "booked", "replayed"]
    await sound(engine, other_changes={})


class Spinning(Exception):
    """Judged again and again without ever letting anyone else run."""


async def test_a_call_that_comes_the_moment_its_key_is_refused_does_not_hang_the_node(
    node: Node, books: list[int]
) -> None:
    times = 0

    def judge() -> Verdict:
        nonlocal times
        times += 1
        if times > 1000:
            raise Spinning
        return node.market.check(node.catalogue.accounts[books[0] // 2], asked("buy", 10**10))

    late: list[asyncio.Task[Outcome]] = []

    async def meanwhile() -> None:
        """Just before the outcome is known: its turn comes right after that, before the first has left."""
        late.append(asyncio.create_task(node.place(books[0], "k", asked("buy", 10**10), verdict=judge)))

    node.ledger.after.append(meanwhile)
    assert await node.told(books[0], "k", asked("buy", 10**10)) == "limit_exceeded"
    outcome = await asyncio.wait_for(late[0], 5)
    assert code(outcome) == "limit_exceeded"


# --- Faults -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault", [ConstraintViolation("a rule"), AlreadyExists("there"), StoreConflict("again")]
)
async def test_a_poisonous_order_fails_alone(
    node: Node, books: list[int], engine: Engine, fault: Exception
) -> None:
    node.ledger.poison, node.ledger.poison_fault = {"poison"}, fault
    keys = ["a", "b", "poison", "c"]
    told = await asyncio.gather(*(node.told(book, key) for key in keys for book in books[:2]))
    assert list(told) == ["booked"] * 4 + [type(fault).__name__] * 2 + ["booked"] * 2
    node.ledger.poison = set()
    assert await node.told(books[0], "poison") == "booked"
    await sound(engine, other_changes={})


async def test_an_order_that_no_store_can_take_fails_alone(
    node: Node, books: list[int], engine: Engine
) -> None:
    """Anything else that one order may raise; SQLite's driver has OverflowError for a number too large."""
    node.ledger.poison, node.ledger.poison_fault = {"poison"}, OverflowError("too large")
    told = await asyncio.gather(*(node.told(books[0], key) for key in ("a", "poison", "b")))
    assert list(told) == ["booked", "OverflowError", "booked"]


async def test_a_commit_whose_answer_was_lost_is_found_and_is_no_replay(
    node: Node, books: list[int], engine: Engine
) -> None:
    node.ledger.after.append(failing(OutcomeUnknown("the line went dead")))
    outcomes = await asyncio.gather(
        node.place(books[0], "a"),
        node.place(books[0], "b", asked(expected_price="1")),
        node.place(books[1], "c"),
        node.place(books[1], "d", asked("buy", 10**10)),
    )
    assert [code(outcome) for outcome in outcomes] == ["booked", "price_moved", "booked", "limit_exceeded"]
    assert await node.told(books[0], "a") == "replayed"
    assert await orders_in(engine, books[0]) == 1
    await sound(engine, other_changes={})


async def test_a_commit_that_never_came_to_be_is_done_again(
    node: Node, books: list[int], engine: Engine
) -> None:
    node.ledger.before.append(failing(OutcomeUnknown("the line went dead")))
    told = await asyncio.gather(*(node.told(books[0], key) for key in ("a", "b")))
    assert list(told) == ["booked", "booked"]
    await sound(engine, other_changes={})


async def test_a_store_that_is_away_fails_everyone_and_books_nothing(
    node: Node, books: list[int], engine: Engine
) -> None:
    assert await node.told(books[0], "first") == "booked"
    node.ledger.before.append(failing(StoreUnavailable("away")))
    told = await asyncio.gather(*(node.told(book, f"k{book}") for book in books))
    assert list(told) == ["StoreUnavailable"] * 3
    assert len(node.ledger.batches) == 2
    assert sum([await orders_in(engine, book) for book in books]) == 1
    assert not node.queue._in_flight
    assert await node.told(books[1], f"k{books[1]}") == "booked"
    await sound(engine, other_changes={})


async def test_an_outcome_that_stays_unknown_is_told_and_the_key_tells_later(
    node: Node, books: list[int], engine: Engine
) -> None:
    node.ledger.after.append(failing(OutcomeUnknown("lost")))
    node.ledger.before += [_nothing, failing(StoreUnavailable("and gone"))]
    assert await node.told(books[0], "k") == "StoreUnavailable"
    assert await node.told(books[0], "k") == "replayed"
    assert await orders_in(engine, books[0]) == 1
    await sound(engine, other_changes={})


async def _nothing() -> None:
    return


@pytest.mark.parametrize(
    "fault", [StoreUnavailable("x"), StoreBusy("x"), OutcomeUnknown("x"), ConstraintViolation("x")]
)
async def test_what_was_known_of_a_book_is_forgotten_after_a_fault(
    node: Node, books: list[int], engine: Engine, fault: Exception
) -> None:
    assert await node.told(books[0], "a") == "booked"
    assert node.queue._books.knows(books[0])
    node.ledger.poison, node.ledger.poison_fault = {"b"}, fault
    assert await node.told(books[0], "b") == type(fault).__name__
    assert not node.queue._books.knows(books[0])
    node.ledger.poison = set()
    assert await node.told(books[0], "b") == "booked"
    await sound(engine, other_changes={})


async def test_a_fault_while_the_books_are_read(node: Node, books: list[int], engine: Engine) -> None:
    node.ledger.before_books.append(failing(StoreUnavailable("away")))
    assert await node.told(books[0], "k") == "StoreUnavailable"
    assert await node.told(books[0], "k") == "booked"


async def test_a_fault_while_a_settled_key_is_read(node: Node, books: list[int]) -> None:
    assert await node.told(books[0], "k") == "booked"
    node.ledger.before_settled.append(failing(StoreUnavailable("away")))
    told = await asyncio.gather(node.told(books[0], "k"), node.told(books[0], "new"))
    assert list(told) == ["StoreUnavailable", "StoreUnavailable"]
    assert await node.told(books[0], "k") == "replayed"
    assert await node.told(books[0], "new") == "booked"


async def test_a_mistake_of_our_own_is_told_to_those_it_concerns_and_the_queue_goes_on(
    node: Node, books: list[int]
) -> None:
    # Once as a batch, once by itself.
    node.ledger.before += [failing(ZeroDivisionError()), failing(ZeroDivisionError())]
    assert await node.told(books[0], "k") == "ZeroDivisionError"
    assert await node.told(books[0], "k") == "booked"


async def test_the_deadline(
    node: Node, books: list[int], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_module, "DEADLINE_S", 0.1)
    watch = asyncio.create_task(node.queue.run())
    go_on = asyncio.Event()

    async def wait() -> None:
        await go_on.wait()

    node.ledger.before.append(wait)
    told = await asyncio.gather(
        node.told(books[0], "k"), node.told(books[0], "k"), node.told(books[0], "other")
    )
    # Sent to the store, and behind one that was: neither knows what becomes of it.
    assert list(told) == ["OutcomeUnknown", "StoreConflict", "OutcomeUnknown"]
    monkeypatch.setattr(queue_module, "DEADLINE_S", 6.0)
    # Still under way: whoever sends the key again waits for what becomes of it.
    again = asyncio.create_task(node.told(books[0], "k"))
    await asyncio.sleep(0.01)
    go_on.set()
    assert await again == "replayed"
    await node.quiet()
    assert not node.queue._in_flight
    assert not node.queue._running
    assert await node.told(books[0], "other") == "replayed"
    assert await orders_in(engine, books[0]) == 2
    await sound(engine, other_changes={})
    watch.cancel()


async def test_an_order_that_waited_is_booked_at_the_price_of_now_and_refused_for_what_is_now(
    node: Node, books: list[int]
) -> None:
    async def slow() -> None:
        await asyncio.sleep(2 * queue_module._VERDICT_S)

    def later(*verdicts: Verdict) -> Callable[[], Verdict]:
        left = iter(verdicts)
        return lambda: next(left)

    then = node.check(node.attempt(books[0], "of no order"))
    assert isinstance(then, Priced)
    now = msgspec.structs.replace(then, price_paise=then.price_paise + 100)
    node.ledger.before.append(slow)
    first = asyncio.create_task(node.told(books[0], "first"))
    await asyncio.sleep(0.05)  # The others arrive while its batch is under way.
    moved, stale = await asyncio.gather(
        node.place(books[0], "moved", verdict=later(then, now)),
        node.place(books[0], "stale", verdict=later(then, Refusal(STALE_RATE))),
    )
    assert isinstance(moved, Booked)
    assert moved.order.price_paise == now.price_paise
    assert code(stale) == "stale_rate"
    assert await first == "booked"


async def test_an_order_that_waited_too_long_for_its_turn_is_not_booked_later(
    node: Node, books: list[int], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its caller has gone, with the price of then: nobody would be told."""
    monkeypatch.setattr(queue_module, "DEADLINE_S", 0.1)
    watch = asyncio.create_task(node.queue.run())
    go_on = asyncio.Event()

    async def wait() -> None:
        await go_on.wait()

    node.ledger.before.append(wait)
    first = asyncio.create_task(node.told(books[0], "first"))
    await asyncio.sleep(0.01)
    assert await node.told(books[0], "second") == "StoreBusy"
    assert await first == "OutcomeUnknown"
    monkeypatch.setattr(queue_module, "DEADLINE_S", 6.0)
    go_on.set()
    await node.quiet()
    assert await orders_in(engine, books[0]) == 1
    assert await node.told(books[0], "second") == "booked"
    await sound(engine, other_changes={})
    watch.cancel()


async def test_a_caller_who_leaves_does_not_take_the_order_along(
    node: Node, books: list[int], engine: Engine
) -> None:
    first = asyncio.create_task(node.place(books[0], "k"))
    second = asyncio.create_task(node.told(books[0], "k"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second in ("booked", "replayed")
    await node.quiet()
    assert not node.queue._in_flight
    await sound(engine, other_changes={})


# --- The catalogue moves ------------------------------------------------------------------------------


async def halt(node: Node) -> None:
    await put(node.engine, replace(SWITCHES, halted=True))


async def test_a_halt_before_the_booking_holds_although_memory_is_behind(
    node: Node, books: list[int], engine: Engine
) -> None:
    await halt(node)
    assert await node.told(books[0], "k") == "trading_halted"
    assert await orders_in(engine, books[0]) == 0


async def test_a_halt_that_ends_before_the_booking_does_not_hold(node: Node, books: list[int]) -> None:
    await halt(node)
    await node.catalogue_follower.catch_up()
    await put(node.engine, SWITCHES)
    assert await node.told(books[0], "k") == "booked"


async def test_a_halt_just_before_the_statement_holds(node: Node, books: list[int], engine: Engine) -> None:
    node.ledger.before.append(lambda: halt(node))
    told = await asyncio.gather(*(node.told(book, "k") for book in books))
    assert list(told) == ["trading_halted"] * 3
    await sound(engine, other_changes={})


async def test_a_revoked_key_is_found_out_when_the_order_is_judged_again(
    node: Node, books: list[int], engine: Engine
) -> None:
    revoked = False

    async def revoke() -> None:
        nonlocal revoked
        revoked = True
        await put(node.engine, GOLD)

    def judge() -> Verdict:
        return (
            Refusal(CREDENTIAL_REVOKED)
            if revoked
            else node.market.check(node.catalogue.accounts[books[0] // 2], asked())
        )

    node.ledger.before.append(revoke)
    assert await node.told(books[0], "k", verdict=judge) == "credential_revoked"
    assert await orders_in(engine, books[0]) == 0


async def test_a_price_changed_before_the_booking_is_the_price(
    node: Node, books: list[int], engine: Engine
) -> None:
    from bullion.metals.pricing import Fixed

    node.ledger.before.append(lambda: put(node.engine, replace(GOLD, pricing=Fixed(8_000_000, 1))))
    outcome = await node.place(books[0], "k")
    assert isinstance(outcome, Booked)
    assert outcome.order.price_paise == 8_000_000


async def test_a_halt_while_the_order_waits_its_turn_holds(
    node: Node, books: list[int], engine: Engine
) -> None:
    """The node itself knows of the halt before the order is recorded."""
    book = books[0]
    waiting: list[asyncio.Task[str]] = []

    async def meanwhile() -> None:
        waiting.append(asyncio.create_task(node.told(book, "second")))
        await asyncio.sleep(0.01)
        await halt(node)
        await node.catalogue_follower.catch_up()

    # After the first was recorded: the second waits because its book is busy.
    node.ledger.after.append(meanwhile)
    assert await node.told(book, "first") == "booked"
    assert await waiting[0] == "trading_halted"


async def test_a_halt_that_memory_hears_of_while_the_order_is_recorded_holds(
    node: Node, books: list[int], engine: Engine
) -> None:
    async def meanwhile() -> None:
        await halt(node)
        await node.catalogue_follower.catch_up()

    node.ledger.before.append(meanwhile)
    assert await node.told(books[0], "k") == "trading_halted"
    assert await orders_in(engine, books[0]) == 0


async def test_memory_that_moves_right_after_the_record_changes_nothing(
    node: Node, books: list[int], engine: Engine
) -> None:
    """What was admitted before the halt stays booked, and its caller is told so."""

    async def meanwhile() -> None:
        await halt(node)
        await node.catalogue_follower.catch_up()

    node.ledger.after.append(meanwhile)
    told = await asyncio.gather(node.told(books[0], "k"), node.told(books[1], "m", asked(expected_price="1")))
    assert list(told) == ["booked", "price_moved"]
    assert await orders_in(engine, books[0]) == 1
    await sound(engine, other_changes={})


async def test_a_catalogue_that_never_stands_still_is_busy(
    node: Node, books: list[int], engine: Engine
) -> None:
    node.ledger.before += [lambda: put(node.engine, GOLD)] * 1000
    assert await node.told(books[0], "k") == "StoreBusy"
    node.ledger.before.clear()
    assert await node.told(books[0], "k") == "booked"
    await sound(engine, other_changes={})


# --- The memory of books ------------------------------------------------------------------------------


async def test_a_book_that_another_node_moved_is_decided_again(
    node: Node, other_node: Node, books: list[int], engine: Engine
) -> None:
    await set_limit(engine, books[0], 30_000, 0)
    assert await node.told(books[0], "a") == "booked"
    assert await other_node.told(books[0], "b") == "booked"
    told = await asyncio.gather(*(node.told(books[0], key) for key in ("c", "d", "b")))
    assert list(told) == ["booked", "limit_exceeded", "replayed"]
    assert node.queue.counts.retries[RetryReason.CONFLICT] == 1
    # Room that another node made is found, too.
    assert await other_node.told(books[0], "e", asked("sell")) == "booked"
    assert await node.told(books[0], "d") == "booked"
    await sound(engine, other_changes={books[0]: 1, books[0] + 1: 1})


async def test_decisions_in_vain_are_counted(node: Node, other_node: Node, books: list[int]) -> None:
    assert await node.told(books[0], "a") == "booked"
    assert await other_node.told(books[0], "b") == "booked"
    assert await node.told(books[0], "c") == "booked"
    assert (node.queue.counts.orders, node.queue.counts.decisions) == (2, 3)


async def test_a_book_that_others_move_again_and_again_is_locked_at_last(
    node: Node, other_node: Node, books: list[int], engine: Engine
) -> None:
    keys = iter(range(100))

    async def quicker() -> None:
        assert await other_node.told(books[0], f"other{next(keys)}") == "booked"

    node.ledger.before += [quicker] * 3
    assert await node.told(books[0], "k") == "booked"
    assert node.ledger.locked == 1
    await sound(engine, other_changes={})


async def test_a_book_that_another_node_uses_too_is_read_before_it_is_decided(
    node: Node, other_node: Node, books: list[int], engine: Engine
) -> None:
    assert await node.told(books[0], "a") == "booked"
    for number in range(5):
        assert await other_node.told(books[0], f"other{number}") == "booked"
        assert await node.told(books[0], f"own{number}") == "booked"
    # Only the first order of each node after another's was decided in vain.
    assert node.queue.counts.retries[RetryReason.CONFLICT] == 1
    assert other_node.queue.counts.retries[RetryReason.CONFLICT] == 1
    assert node.ledger.locked == other_node.ledger.locked == 0
    await sound(engine, other_changes={})


async def test_several_books_that_others_moved_are_one_miss(
    node: Node, other_node: Node, books: list[int]
) -> None:
    for each in (node, other_node):
        for book in books:
            assert await each.told(book, f"first {id(each)}") == "booked"
    told = await asyncio.gather(*(node.told(book, "second") for book in books))
    assert set(told) == {"booked"}
    assert node.queue.counts.retries[RetryReason.CONFLICT] == 1
    assert node.ledger.locked == 0


# --- The log ------------------------------------------------------------------------------------------


class KeptLog:
    """Keeps what is logged, with the request ids that the log adds."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, tuple[str, ...]]] = []

    def warning(self, event: str, **_: object) -> None:
        self.lines.append((event, current_ids()))

    exception = warning


async def test_the_lines_of_a_batch_name_its_calls(
    node: Node, books: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if another call started the batch."""
    log = KeptLog()
    monkeypatch.setattr(queue_module, "_log", log)
    node.ledger.poison, node.ledger.poison_fault = {"poison"}, OverflowError("too large")
    started, go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        started.set()
        await go_on.wait()

    async def call(key: str) -> str:
        CURRENT.set(key.encode())
        told = await node.told(books[0], key, request_id=key)
        assert current_ids() == (key,), "the call goes on with its own id"
        return told

    node.ledger.before.append(hold)
    first = asyncio.create_task(call("first"))
    await started.wait()
    others = [asyncio.create_task(call(key)) for key in ("a", "poison", "b")]
    await asyncio.sleep(0)
    go_on.set()
    assert await asyncio.gather(first, *others) == ["booked", "booked", "OverflowError", "booked"]
    assert log.lines == [("batch_failed", ("a", "poison", "b")), ("booking_failed", ("poison",))]
    assert current_ids() == ()
