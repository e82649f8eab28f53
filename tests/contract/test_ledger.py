"""What both ledgers promise: a batch in one durable step, each book as a whole or not at all."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import msgspec
import pytest

from bullion.allocation.book import Book
from bullion.allocation.position import Position
from bullion.booking.attempt import KeyName, OrderAttempt, QueueEntry
from bullion.booking.decide import Plan, decide
from bullion.booking.ledger import Ledger, Recorded
from bullion.faults import StoreFault
from bullion.metals.metal import Metal
from bullion.orders.order import Order, PriceMove
from bullion.orders.order_id import order_id
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Priced, Verdict
from bullion.store.engine import Engine
from tests.booking.fixtures import GOLD as GOLD_SYMBOL
from tests.booking.fixtures import (
    NOW_US,
    asked,
    checked,
    create_books,
    ledger_of,
    put,
    reset,
    rows,
    set_limit,
    stand_at,
    store_of,
    summed,
)
from tests.model import invariants

pytestmark = pytest.mark.anyio

GOLD = Priced(Metal.GOLD, 7_000_000, 70_000_000, 5_000, '{"premium":"₹"}', None)
SILVER = Priced(Metal.SILVER, 9_000_000, 9_000_000, 5_000, "{}", 17)
_random = count(1)


def entry(book_id: int, key: str, of: PlaceOrder | None = None, verdict: Verdict = GOLD) -> QueueEntry:
    attempt = OrderAttempt(book_id, "main", "api", key, of or asked(), None, f"request of {key}")
    return checked(attempt, verdict)


def planned(book: Book, *entries: QueueEntry, now_us: int = NOW_US) -> Plan:
    return decide(book, entries, now_us, lambda at_us, ordinal: order_id(at_us, ordinal, next(_random)))


def names(*plans: Plan) -> list[KeyName]:
    return [entry.attempt.key_name for plan in plans for entry, _ in plan.outcomes]


@pytest.fixture
async def books(engine: Engine) -> list[int]:
    return await create_books(engine)


@pytest.fixture
def ledger(engine: Engine) -> Ledger:
    return ledger_of(engine)


async def version_of(engine: Engine) -> int:
    (row,) = await rows(engine, "SELECT version FROM catalogue")
    return int(row["version"])


class LedgerClient:
    """Records as a node would that knows everything."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.ledger = ledger_of(engine)

    async def book(self, book_id: int) -> Book:
        return (await self.ledger.books([book_id]))[book_id]

    async def record(self, *plans: Plan, version: int | None = None) -> Recorded:
        if version is None:
            version = await version_of(self.engine)
        recorded = await self.ledger.record(plans, names(*plans), version)
        await summed(self.ledger)
        return recorded

    async def sound(self, **options: Any) -> invariants.Rows:
        return await invariants.check(store_of(self.engine), **options)


@pytest.fixture
def ledger_client(engine: Engine) -> LedgerClient:
    return LedgerClient(engine)


async def test_new_books_are_empty(ledger: Ledger, books: list[int]) -> None:
    found = await ledger.books(books)
    assert list(found) == books
    assert found[books[0]] == Book(books[0], Position(0, 10**9), Position(0, 10**9), 0, 0, 0, 1)


async def test_a_batch_is_recorded_as_it_was_decided(ledger_client: LedgerClient, books: list[int]) -> None:
    one, other, third = [await ledger_client.book(book) for book in books]
    full = asked("sell", 5, symbol_code="SILVER", expected_price="90000.5", client_order_id="ref \U0001f947")
    plans = [
        planned(
            one,
            entry(books[0], "a"),
            entry(books[0], "b", full, SILVER),
            entry(books[0], "c", asked(expected_price="1")),
        ),
        planned(other, entry(books[1], "a", asked("sell", 7))),
        planned(third, entry(books[2], "a", asked("buy", 10**10))),
    ]
    recorded = await ledger_client.record(*plans)
    assert recorded.catalogue_version == await version_of(ledger_client.engine)
    assert {book: (seen.recorded, seen.settled) for book, seen in recorded.books.items()} == {
        books[0]: (True, False),
        books[1]: (True, False),
        books[2]: (False, False),
    }
    assert [recorded.books[book].book for book in books] == [one, other, third]
    for plan in plans:
        assert await ledger_client.book(plan.before.id) == plan.after
    assert plans[0].after.version == 2
    found = await ledger_client.ledger.settled([*names(*plans), (books[0], "web", "a"), (99, "api", "a")])
    assert found == {
        (books[0], "api", "a"): plans[0].orders[0],
        (books[0], "api", "b"): plans[0].orders[1],
        (books[0], "api", "c"): plans[0].price_moves[0],
        (books[1], "api", "a"): plans[1].orders[0],
    }
    assert isinstance(found[books[0], "api", "b"], Order)
    assert isinstance(found[books[0], "api", "c"], PriceMove)
    await ledger_client.sound(other_changes={})


async def test_a_book_that_moved_is_left_alone_with_all_its_orders(
    ledger_client: LedgerClient, books: list[int]
) -> None:
    stale, fresh = await ledger_client.book(books[0]), await ledger_client.book(books[1])
    moved = planned(stale, entry(books[0], "first"))
    await ledger_client.record(moved)
    late = planned(
        stale,
        entry(books[0], "x"),
        entry(books[0], "y"),
        entry(books[0], "z", asked(expected_price="1")),
    )
    good = planned(fresh, entry(books[1], "x"))
    recorded = await ledger_client.record(late, good)
    assert not recorded.books[books[0]].recorded
    assert recorded.books[books[0]].book == moved.after
    assert recorded.books[books[1]].recorded
    assert await ledger_client.book(books[0]) == moved.after
    assert await ledger_client.book(books[1]) == good.after
    assert set(await ledger_client.ledger.settled(names(late, good))) == {(books[1], "api", "x")}
    await ledger_client.sound(other_changes={})


@pytest.mark.parametrize("what", ["limit", "reset"])
async def test_whatever_the_desk_does_to_a_book_moves_it(
    ledger_client: LedgerClient, books: list[int], what: str
) -> None:
    plan = planned(await ledger_client.book(books[0]), entry(books[0], "x"))
    if what == "limit":
        await set_limit(ledger_client.engine, books[0], 5, 5)
    else:
        await reset(ledger_client.engine, books[0])
    recorded = await ledger_client.record(plan)
    assert not recorded.books[books[0]].recorded
    assert recorded.books[books[0]].book.version == 2
    assert (await ledger_client.sound())["orders"] == []


@pytest.mark.parametrize("settled_by", ["order", "price_move"])
async def test_a_settled_key_leaves_its_book_alone_and_no_other(
    ledger_client: LedgerClient, books: list[int], settled_by: str
) -> None:
    before = await ledger_client.book(books[0])
    of = asked(expected_price=None if settled_by == "order" else "1")
    first = planned(before, entry(books[0], "x", of))
    await ledger_client.record(first)
    second = planned(first.after, entry(books[0], "new"), entry(books[0], "x"))
    other = planned(await ledger_client.book(books[1]), entry(books[1], "x"))
    recorded = await ledger_client.record(second, other)
    assert (recorded.books[books[0]].recorded, recorded.books[books[0]].settled) == (False, True)
    assert (recorded.books[books[1]].recorded, recorded.books[books[1]].settled) == (True, False)
    assert await ledger_client.book(books[0]) == first.after
    assert set(await ledger_client.ledger.settled(names(second))) == {(books[0], "api", "x")}
    await ledger_client.sound(other_changes={})


async def test_a_settled_key_is_told_of_a_book_that_nothing_is_recorded_in(
    ledger_client: LedgerClient, books: list[int]
) -> None:
    first = planned(await ledger_client.book(books[0]), entry(books[0], "x"))
    await ledger_client.record(first)
    refused = planned(first.after, entry(books[0], "x", asked("buy", 10**10)))
    assert not refused.changes
    recorded = await ledger_client.record(refused)
    assert (recorded.books[books[0]].recorded, recorded.books[books[0]].settled) == (False, True)
    assert recorded.books[books[0]].book == first.after


async def test_with_another_catalogue_nothing_at_all_is_recorded(
    ledger_client: LedgerClient, books: list[int]
) -> None:
    plans = [planned(await ledger_client.book(book), entry(book, "x")) for book in books]
    version = await version_of(ledger_client.engine)
    await put(ledger_client.engine, GOLD_SYMBOL)
    recorded = await ledger_client.record(*plans, version=version)
    assert recorded.catalogue_version == version + 1
    assert not any(seen.recorded for seen in recorded.books.values())
    assert (await ledger_client.sound(other_changes={}))["orders"] == []
    ahead = await ledger_client.record(*plans, version=version + 2)
    assert not any(seen.recorded for seen in ahead.books.values())


async def test_locked_books_are_planned_as_they_are(ledger_client: LedgerClient, books: list[int]) -> None:
    await ledger_client.record(planned(await ledger_client.book(books[1]), entry(books[1], "a")))
    asked_for: list[Mapping[int, Book]] = []

    def plan(found: Mapping[int, Book], _stock: object) -> Sequence[Plan]:
        asked_for.append(found)
        return [planned(found[book], entry(book, "x")) for book in books[:2]]

    keys = [(book, "api", "x") for book in books[:2]]
    version = await version_of(ledger_client.engine)
    plans, recorded = await ledger_client.ledger.record_locked(sorted(books[:2]), [], keys, version, plan)
    assert set(asked_for[-1]) == set(books[:2])
    assert all(seen.recorded for seen in recorded.books.values())
    assert [each.after.order_count for each in plans] == [1, 2]
    for each in plans:
        assert await ledger_client.book(each.before.id) == each.after
    await ledger_client.sound(other_changes={})


async def test_locked_books_with_a_settled_key_or_another_catalogue_stay_as_they_are(
    ledger_client: LedgerClient, books: list[int]
) -> None:
    first = planned(await ledger_client.book(books[0]), entry(books[0], "x"))
    await ledger_client.record(first)

    def plan(found: Mapping[int, Book], _stock: object) -> Sequence[Plan]:
        return [planned(found[book], entry(book, key)) for book, key in zip(books[:2], "xy", strict=True)]

    keys = [(books[0], "api", "x"), (books[1], "api", "y")]
    version = await version_of(ledger_client.engine)
    _, recorded = await ledger_client.ledger.record_locked(books[:2], [], keys, version - 1, plan)
    assert not any(seen.recorded for seen in recorded.books.values())
    _, recorded = await ledger_client.ledger.record_locked(books[:2], [], keys, version, plan)
    assert {book: (seen.recorded, seen.settled) for book, seen in recorded.books.items()} == {
        books[0]: (False, True),
        books[1]: (True, False),
    }
    assert await ledger_client.book(books[0]) == first.after
    await ledger_client.sound(other_changes={})


async def test_a_plan_that_raises_while_books_are_locked_leaves_nothing_locked(
    ledger_client: LedgerClient, books: list[int]
) -> None:
    def plan(found: Mapping[int, Book], _stock: object) -> Sequence[Plan]:
        raise LookupError

    with pytest.raises(LookupError):
        await ledger_client.ledger.record_locked(books, [], [], await version_of(ledger_client.engine), plan)
    recorded = await ledger_client.record(planned(await ledger_client.book(books[0]), entry(books[0], "x")))
    assert recorded.books[books[0]].recorded


async def test_a_row_that_breaks_a_rule_takes_the_whole_batch_along(
    ledger_client: LedgerClient, books: list[int]
) -> None:
    bad = planned(await ledger_client.book(books[0]), entry(books[0], "x"))
    bad.orders[0] = msgspec.structs.replace(bad.orders[0], price_paise=0)
    good = planned(await ledger_client.book(books[1]), entry(books[1], "x"))
    with pytest.raises(StoreFault):
        await ledger_client.record(bad, good)
    assert (await ledger_client.sound(other_changes={}))["orders"] == []
    assert (await ledger_client.record(good)).books[books[1]].recorded


async def test_a_missing_book_is_a_fault(ledger_client: LedgerClient) -> None:
    """At the latest when it is waited for: it may as well be held by somebody."""
    ghost = Book(998, Position(0, 10**9), Position(0, 10**9), 0, 0, 0, 1)
    plan = planned(ghost, entry(998, "x"))
    with pytest.raises(StoreFault):
        await ledger_client.ledger.record_locked(
            [998], [], names(plan), await version_of(ledger_client.engine), lambda *_: [plan]
        )


async def test_the_largest_numbers_come_back_exactly(ledger_client: LedgerClient, books: list[int]) -> None:
    big = msgspec.structs.replace(GOLD, price_paise=2**63 - 1, total_paise=2**63 - 1)
    plan = planned(await ledger_client.book(books[0]), entry(books[0], "x", asked("buy", 10**9), big))
    await ledger_client.record(plan)
    assert await ledger_client.ledger.settled(names(plan)) == {(books[0], "api", "x"): plan.orders[0]}


async def test_of_two_who_decided_on_the_same_state_one_is_recorded(
    ledger_client: LedgerClient, other_engine: Engine, books: list[int]
) -> None:
    before = {book: await ledger_client.book(book) for book in books}
    version = await version_of(ledger_client.engine)
    ledgers = [ledger_client.ledger, ledger_of(other_engine)]
    done = []
    for turn in range(10):
        plans = [
            [
                planned(before[book], entry(book, f"{turn} {which}"))
                for book in (books if which else books[::-1])
            ]
            for which in range(2)
        ]
        done = await asyncio.gather(
            *(ledger.record(each, names(*each), version) for ledger, each in zip(ledgers, plans, strict=True))
        )
        for book in books:
            # One that the other holds just then is not waited for, and not among the answers.
            seen = [recorded.books[book].recorded for recorded in done if book in recorded.books]
            assert seen.count(True) == 1
        before = {book: await ledger_client.book(book) for book in books}
    assert {book.order_count for book in before.values()} == {10}
    await ledger_client.sound(other_changes={})


# --- Counts at the borders of their blocks ------------------------------------------------------------


@pytest.mark.parametrize("ordinals", [251, 254, 255, 4_094, 4_095, 4_096])
async def test_counts_are_right_across_the_border_of_a_block(
    ledger_client: LedgerClient, books: list[int], ordinals: int
) -> None:
    """An order before the border, on it and after it: in one batch, and one by one."""
    book_id = books[0]
    await stand_at(ledger_client.engine, book_id, ordinals)
    book = await ledger_client.book(book_id)
    assert book.order_count == ordinals
    sides = [("buy", GOLD, "GOLD"), ("sell", GOLD, "GOLD"), ("buy", SILVER, "SILVER"), ("buy", GOLD, "GOLD")]
    placings = [
        entry(book_id, f"new{number}", asked(side, 1, symbol_code=symbol), verdict)
        for number, (side, verdict, symbol) in enumerate(sides)
    ]
    plan = planned(book, *placings[:3])
    assert (await ledger_client.record(plan)).books[book_id].recorded
    plan = planned(plan.after, placings[3])
    assert (await ledger_client.record(plan)).books[book_id].recorded
    tables = await invariants.read(store_of(ledger_client.engine))
    assert invariants.counts(tables) == []
    assert (
        invariants._nets(next(row for row in tables["books"] if row["id"] == book_id), tables["orders"]) == []
    )
    new = [row for row in tables["orders"] if row["ordinal"] > ordinals]
    assert [row["ordinal"] for row in new] == list(range(ordinals + 1, ordinals + 5))
    full = (ordinals + 5) // 256
    (book_row,) = [row for row in tables["books"] if row["id"] == book_id]
    assert book_row["unsummed_from"] == full * 256
    blocks = {(row["level"], row["block"]) for row in tables["block_counts"]}
    levels = [(0, 1), (1, 16), (2, 256), (3, full)]
    assert blocks == {(level, block // of) for level, of in levels for block in range(full)}
