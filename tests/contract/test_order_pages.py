"""Pages and totals against a list in memory: every filter, every border, archived orders and deep offsets."""

import random
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import msgspec
import pytest

from bullion.booking.attempt import OrderAttempt, QueueEntry
from bullion.booking.decide import decide
from bullion.metals.metal import Metal
from bullion.orders.listing import ListQuery
from bullion.orders.order import Order
from bullion.orders.order_id import order_id
from bullion.orders.verdict import Priced
from bullion.store import order_pages, order_rows
from bullion.store.engine import Engine, Transaction
from bullion.store.order_reader import StoredOrders
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine
from tests.booking.fixtures import (
    NOW_US,
    asked,
    checked,
    create_books,
    ledger_of,
    reset,
    rows,
    stand_at,
    summed,
)
from tests.booking.small_blocks import small_blocks

pytestmark = pytest.mark.anyio

GOLD = Priced(Metal.GOLD, 7_000_000, 70_000_000, 5_000, "{}", None)
SYMBOLS = (None, "GOLD", "SILVER", "RARE", "NONE")
SIDES = (None, "buy", "sell", "hold")
REFERENCES = (None, None, None, "a", "b", "rare", "", "none")
LIMITS = (1, 7, 50, 200)

REAL_SIZES = order_rows.BLOCK_SIZES


class Shelf:
    """A book with orders in the store, and the same orders in a list."""

    def __init__(self, engine: Engine, book_id: int) -> None:
        assert isinstance(engine, SqliteEngine | PostgresEngine)
        self.engine = engine
        self.reader = StoredOrders(engine)
        self.book_id = book_id
        self.orders: list[Order] = []
        self.archived = 0
        self._random = random.Random(self.book_id)  # noqa: S311

    async def place(self, number: int, at: Callable[[int], int] = lambda ordinal: ordinal // 3) -> None:
        """That many more, of all kinds, in batches; several share their time."""
        ledger = ledger_of(self.engine)
        (catalogue,) = await rows(self.engine, "SELECT version FROM catalogue")
        while number:
            book = (await ledger.books([self.book_id]))[self.book_id]
            size = min(number, self._random.choice([1, 3, 20]))
            number -= size
            entries = [self._entry(book.order_count + each) for each in range(1, size + 1)]
            plan = decide(
                book,
                entries,
                NOW_US + at(book.order_count + 1) * 1000,
                lambda at_us, ordinal: order_id(at_us, ordinal, self._random.getrandbits(30)),
            )
            recorded = await ledger.record([plan], [], catalogue["version"])
            assert recorded.books[self.book_id].recorded
            self.orders += plan.orders
            await summed(ledger)

    def _entry(self, ordinal: int) -> QueueEntry:
        symbol = "RARE" if ordinal % 101 == 0 else self._random.choice(["GOLD", "GOLD", "GOLD", "SILVER"])
        reference = "rare" if ordinal % 97 == 0 else self._random.choice([None, None, "a", "b", "B", ""])
        order = asked(
            self._random.choice(["buy", "buy", "sell"]), 1, symbol_code=symbol, client_order_id=reference
        )
        return checked(OrderAttempt(self.book_id, "main", "api", f"k{ordinal}", order, None, "r"), GOLD)

    async def reset(self) -> None:
        await reset(self.engine, self.book_id)
        self.archived = len(self.orders)

    def expected(self, query: ListQuery) -> tuple[list[Order], int]:
        found = [
            order
            for order in reversed(self.orders[self.archived :])
            if query.symbol_code in (None, order.asked.symbol_code)
            and query.trade_type in (None, order.asked.trade_type)
            and query.client_order_id in (None, order.asked.client_order_id)
            and (query.since_us is None or order.created_at_us >= query.since_us)
        ]
        return found[query.offset : query.offset + query.limit], len(found)

    async def check(self, queries: Sequence[ListQuery]) -> None:
        async def body(transaction: Transaction) -> list[tuple[Sequence[int], int]]:
            return [await order_pages.page_ordinals(transaction, self.book_id, query) for query in queries]

        for query, (page, total) in zip(queries, await self.engine.read("pages", body), strict=True):
            wanted, number = self.expected(query)
            assert (total, list(page)) == (number, [order.ordinal for order in wanted]), query
            found = await self.reader.orders(self.book_id, page)
            assert [found[ordinal] for ordinal in page] == wanted

    def times(self) -> list[int | None]:
        """None, and around the first, the last and some others, archived ones too."""
        picked = [self.orders[0], self.orders[-1], *self._random.sample(self.orders, 6)]
        if self.archived:
            picked += self.orders[self.archived - 1 : self.archived + 1]
        around = {order.created_at_us + off for order in picked for off in (-1, 0, 1)}
        return [None, -(10**17), 10**17, *sorted(around)]

    def queries(self, number: int) -> list[ListQuery]:
        listed = len(self.orders) - self.archived
        offsets = [0, 0, 1, 5, 63, len(self.orders) // 2, max(0, listed - 1), listed, len(self.orders), 2**62]
        choices: tuple[Sequence[Any], ...] = (LIMITS, offsets, SYMBOLS, SIDES, self.times(), REFERENCES)
        return [ListQuery(*(self._random.choice(choice) for choice in choices)) for _ in range(number)]


@pytest.fixture
async def shelf(engine: Engine) -> Shelf:
    (book_id,) = await create_books(engine, 1)
    return Shelf(engine, book_id)


@pytest.mark.parametrize("archived", [0, 1, 63, 64, 65, 130, 400])
async def test_every_filter_against_a_list(shelf: Shelf, archived: int) -> None:
    async with small_blocks(shelf.engine):
        if archived:
            await shelf.place(archived // 2 + 1)
            await shelf.reset()
            await shelf.place(archived - archived // 2 - 1 if archived > 1 else 0)
            await shelf.reset()
        await shelf.place(400 - archived)
        assert (len(shelf.orders), shelf.archived) == (400, archived)
        await shelf.check(shelf.queries(250))


async def test_every_combination_at_the_borders_of_blocks(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_pages, "_SCANNED_OFFSET_MAX", 2)
    async with small_blocks(shelf.engine, (2, 8, 32)):
        await shelf.place(10)
        await shelf.reset()
        for number in range(11, 50):
            await shelf.place(1, at=lambda ordinal: ordinal)
            since = [None, *(shelf.orders[at].created_at_us for at in {9, 10, number // 2, number - 1})]
            await shelf.check(
                [
                    ListQuery(3, offset, symbol, side, since_us)
                    for offset, symbol, side, since_us in product(
                        (0, 3, 7), (None, "GOLD", "SILVER"), (None, "buy"), since
                    )
                ]
            )


async def test_an_empty_book_and_one_that_was_emptied(shelf: Shelf) -> None:
    filters: list[dict[str, Any]] = [
        {},
        {"symbol_code": "GOLD"},
        {"trade_type": "buy"},
        {"since_us": 0},
        {"client_order_id": "a"},
    ]
    queries = [ListQuery(5, offset, **each) for offset in (0, 1, 2**62) for each in filters]
    await shelf.check(queries)
    await shelf.place(20)
    await shelf.reset()
    await shelf.check(queries)
    page, total = await shelf.reader.page_ordinals(shelf.book_id, ListQuery())
    assert (list(page), total) == ([], 0)


async def test_thousands_of_orders_at_the_real_block_sizes(shelf: Shelf) -> None:
    assert order_rows.BLOCK_SIZES == REAL_SIZES == (256, 4_096, 65_536)
    await shelf.place(700)
    await shelf.reset()
    await shelf.place(1_900)
    await shelf.check(shelf.queries(150))
    for offset in (0, 1, 255, 256, 1_899, 1_900, 2**62):
        query = ListQuery(50, offset)
        page, total = await shelf.reader.page_ordinals(shelf.book_id, query)
        wanted, number = shelf.expected(query)
        assert (list(page), total) == ([order.ordinal for order in wanted], number)


@pytest.mark.slow
async def test_beyond_a_large_block(shelf: Shelf) -> None:
    """Rows of a book with more than 65,536 orders, and one of a kind at each end."""
    await stand_at(shelf.engine, shelf.book_id, 65_600)
    await shelf.place(3)
    total = 65_603
    newest = [order.ordinal for order in reversed(shelf.orders)]

    def kind(ordinal: int) -> tuple[str, str]:
        if ordinal > 65_600:
            of = shelf.orders[ordinal - 65_601].asked
            return of.symbol_code, of.trade_type
        return "SILVER" if ordinal % 3 == 0 else "GOLD", "buy" if ordinal % 2 == 0 else "sell"

    def at_us(ordinal: int) -> int:
        return (
            shelf.orders[ordinal - 65_601].created_at_us if ordinal > 65_600 else NOW_US - 1000000 + ordinal
        )

    for symbol, side, since in product(
        (None, "SILVER"), (None, "buy"), (None, 1, 70, 65_535, 65_536, 65_540)
    ):
        matching = [
            ordinal
            for ordinal in range(total, (since or 1) - 1, -1)
            if symbol in (None, kind(ordinal)[0]) and side in (None, kind(ordinal)[1])
        ]
        for offset in (0, 40, len(matching) - 3, len(matching)):
            query = ListQuery(10, offset, symbol, side, None if since is None else at_us(since))
            page, number = await shelf.reader.page_ordinals(shelf.book_id, query)
            assert number == len(matching), query
            assert list(page) == matching[offset : offset + 10], query
    assert newest == [65_603, 65_602, 65_601]


@pytest.mark.parametrize("engine_name", ["sqlite"])
async def test_with_statistics_sqlite_makes_no_filter_of_all_counts_first(shelf: Shelf) -> None:
    """It does where it reckons with many rows of a table that is joined: deep pages took 25 times as long."""
    await stand_at(shelf.engine, shelf.book_id, 65_600)
    await rows(shelf.engine, "ANALYZE")
    kinds = '[["filled","GOLD","buy"],["filled","GOLD","sell"]]'
    since = (3, 15, 1, 15, 1, 9, 600, 767)
    asked_of = {
        "order_kinds_since": (shelf.book_id, "GOLD", None, None, 65_536, *since),
        "shown_orders_since": (shelf.book_id, None, None, "all", 65_536, *since),
        "ordinals_from_page_start": (shelf.book_id, "GOLD", None, None, kinds, 1_000, 16, 256, 1, 50),
        "ordinals_of_kinds": (shelf.book_id, kinds, 1, 65_600, 50, 0),
        "order_kinds": (shelf.book_id, "GOLD", None, None, 65_536),
    }
    for query, values in asked_of.items():
        plan = await rows(shelf.engine, f"EXPLAIN QUERY PLAN {shelf.engine._queries[query]}", *values)
        told = [row["detail"] for row in plan]
        assert any("SEARCH" in line for line in told)
        assert not any("BLOOM" in line for line in told), (query, told)


async def test_books_do_not_see_each_others_orders(engine: Engine) -> None:
    shelves = [Shelf(engine, book_id) for book_id in await create_books(engine, 2)]
    for shelf in shelves:
        await shelf.place(30)
    for shelf in shelves:
        await shelf.check(
            [ListQuery(200), ListQuery(200, 0, "GOLD"), ListQuery(200, 0, None, None, None, "a")]
        )


async def test_single_orders_are_found_in_their_own_book_alone_also_when_archived(engine: Engine) -> None:
    books = await create_books(engine, 2)
    shelf = Shelf(engine, books[0])
    await shelf.place(5)
    await shelf.reset()
    await shelf.place(5)
    for order in shelf.orders:
        assert await shelf.reader.order(books[0], order.id) == order
        assert await shelf.reader.order(books[1], order.id) is None
        assert await shelf.reader.order(books[0] + 1, order.id) is None
        other = f"{order.id[:-1]}{(int(order.id[-1], 16) + 1) % 16:x}"
        assert await shelf.reader.order(books[0], other) is None
        assert await shelf.reader.order(books[0], order.id.replace("-7", "-6", 1)) is None
    assert await shelf.reader.order(books[0], "f" * 8 + "-ffff-ffff-ffff-" + "f" * 12) is None


async def test_a_book_is_read_as_it_is(shelf: Shelf) -> None:
    before = await shelf.reader.book(shelf.book_id)
    await shelf.place(4)
    after = await shelf.reader.book(shelf.book_id)
    net = sum(1 if order.asked.trade_type == "buy" else -1 for order in shelf.orders)
    assert (after.gold.net_e4, after.order_count) == (net, 4)
    assert (
        msgspec.structs.replace(after, gold=before.gold, order_count=0, last_order_at_us=0, version=1)
        == before
    )
