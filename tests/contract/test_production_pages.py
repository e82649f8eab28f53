"""Pages of production orders against a list in memory: every status and visibility, from one snapshot."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from itertools import product

import msgspec
import pytest

from bullion.orders.life import hidden
from bullion.orders.listing import ListQuery
from bullion.orders.order import Order
from bullion.orders.status import Event
from bullion.store import order_pages, prepared_queries
from bullion.store.engine import Engine, Transaction
from bullion.store.order_sums import sum_blocks
from bullion.store.postgres import PostgresEngine
from tests.booking.conftest import postgres_engine  # noqa: F401 - fixtures
from tests.booking.fixtures import NOW_US

from .dealings import Dealings

pytestmark = pytest.mark.anyio

STATUSES = ("pending", "open", "closing", "closed", "rejected", "deleted")
ASKED = (*STATUSES, "all")
SOURCES = ("api", "api", "web", "mobile")


class Shelf:
    """A production book with orders of every kind in the store, and the same orders in a list."""

    def __init__(self, dealings: Dealings) -> None:
        self.dealings = dealings
        self.book = dealings.books[0]
        self.orders: list[Order] = []
        self.random = random.Random(5)  # noqa: S311

    async def fill(self, number: int) -> None:
        """That many more: recorded by the ledger, and then led to their state in one stroke."""
        while number:
            size = min(number, 32)
            number -= size
            entries = [
                self.dealings.entry(
                    self.book,
                    self.random.choice(["buy", "sell"]),
                    1,
                    self.random.choice(["GOLD", "GOLD", "SILVER"]),
                    source=self.random.choice(SOURCES),
                    client_order_id=self.random.choice([None, "a", "b"]),
                )
                for _ in range(size)
            ]
            self.dealings.now_us += 1000
            plan = self.dealings.planned(await self.dealings.book(self.book), *entries)
            assert (await self.dealings.record(plan)).books[self.book].recorded
            self.orders += plan.orders

    async def lead(self, order: Order, status: str) -> None:
        self.orders[order.ordinal - 1] = await self.dealings.lead(order, status)

    async def scatter(self) -> None:
        """Every state on every block: by statements of its own, counted anew."""
        pattern = [self.random.choice(STATUSES) for _ in range(97)]
        cases = " ".join(f"WHEN {number} THEN '{status}'" for number, status in enumerate(pattern))
        await self.dealings.rows(
            f"UPDATE orders SET status = CASE ordinal % 97 {cases} END WHERE book_id = $1", self.book
        )
        await self.dealings.rows("DELETE FROM block_counts WHERE book_id = $1", self.book)
        await self.dealings.rows("UPDATE books SET unsummed_from = 1 WHERE id = $1", self.book)
        await self.dealings.engine.write(
            "sum", lambda transaction: sum_blocks(transaction, self.book), holding=prepared_queries.SUM
        )
        self.orders = [
            msgspec.structs.replace(order, status=pattern[order.ordinal % 97]) for order in self.orders
        ]

    def expected(self, query: ListQuery) -> tuple[list[Order], int]:
        found = [
            order
            for order in reversed(self.orders)
            if (order.status == query.status or (query.status == "all" and order.status != "deleted"))
            and not (order.source != "api" and order.status in ("pending", "rejected"))
            and query.symbol_code in (None, order.asked.symbol_code)
            and query.trade_type in (None, order.asked.trade_type)
            and query.client_order_id in (None, order.asked.client_order_id)
            and (query.since_us is None or order.created_at_us >= query.since_us)
        ]
        return found[query.offset : query.offset + query.limit], len(found)

    async def check(self, query: ListQuery) -> None:
        page, total = await self.dealings.reader.page_orders(self.book, query)
        wanted, number = self.expected(query)
        assert (total, list(page)) == (number, wanted), query


@pytest.fixture
async def shelf(engine: Engine) -> Shelf:
    return Shelf(await Dealings.open(engine, 1))


async def test_each_status_shows_its_orders_and_all_shows_them_but_the_deleted(shelf: Shelf) -> None:
    await shelf.fill(48)
    for number, order in enumerate(list(shelf.orders)):
        await shelf.lead(order, STATUSES[number % 6])
    assert {(order.status, order.source) for order in shelf.orders} == set(
        product(STATUSES, ("api", "web", "mobile"))
    )
    for status, symbol, side, reference in product(
        ASKED, (None, "GOLD", "NONE"), (None, "buy"), (None, "a", "none")
    ):
        for limit, offset in ((200, 0), (3, 0), (3, 2), (3, 40), (1, 2**62)):
            await shelf.check(ListQuery(limit, offset, symbol, side, None, reference, status))
    await shelf.dealings.sound()


async def test_thousands_of_orders_across_the_borders_of_blocks(shelf: Shelf) -> None:
    await shelf.fill(2_300)
    await shelf.scatter()
    times = [None, NOW_US - 1, *(shelf.orders[at].created_at_us for at in (0, 255, 256, 1_023, 2_299))]
    for status in ASKED:
        _, total = shelf.expected(ListQuery(status=status))
        for limit, offset in ((200, 0), (50, total // 2), (7, max(0, total - 3)), (5, total), (1, 2**62)):
            for since, symbol in ((None, None), (times[3], None), (None, "SILVER"), (times[5], "GOLD")):
                await shelf.check(ListQuery(limit, offset, symbol, None, since, None, status))
        for since in times:
            await shelf.check(ListQuery(20, 1, None, "buy", since, "a", status))
            await shelf.check(ListQuery(20, 1, None, "buy", since, None, status))


async def test_an_order_moves_between_lists_as_it_changes_and_the_totals_with_it(shelf: Shelf) -> None:
    """One on each side of a border, from another channel: hidden, then shown, then gone."""
    await shelf.dealings.rows("UPDATE books SET order_count = 510 WHERE id = $1", shelf.book)
    shelf.orders = [
        await shelf.dealings.place(shelf.book, source="web" if number % 2 else "api") for number in range(4)
    ]
    assert await listed(shelf, "pending") == [shelf.orders[2].id, shelf.orders[0].id]
    order = shelf.orders[1]
    assert order.id not in await listed(shelf, "all")

    async def complete() -> Order:
        return await shelf.dealings.change(order, Event.COMPLETE, close_price_paise=5)

    steps: dict[str, Callable[[], Awaitable[Order]]] = {
        "open": lambda: shelf.dealings.answer(order),
        "closing": lambda: shelf.dealings.change(order, Event.CLOSE),
        "closed": complete,
    }
    for status, step in steps.items():
        totals = {each: await total(shelf, each) for each in ASKED}
        await step()
        assert order.id in await listed(shelf, status)
        assert order.id in await listed(shelf, "all")
        assert await total(shelf, status) == totals[status] + 1
        assert await total(shelf, "all") == totals["all"] + (status == "open")
        others = set(STATUSES) - {status}
        assert not any([order.id in await listed(shelf, each) for each in others])
        assert [await total(shelf, each) for each in ASKED] == [
            len(await listed(shelf, each)) for each in ASKED
        ]


async def listed(shelf: Shelf, status: str) -> list[str]:
    page, _ = await shelf.dealings.reader.page_orders(shelf.book, ListQuery(200, 0, status=status))
    return [order.id for order in page]


async def total(shelf: Shelf, status: str) -> int:
    _, number = await shelf.dealings.reader.page_orders(shelf.book, ListQuery(1, 0, status=status))
    return number


async def test_a_page_its_total_and_its_orders_are_of_one_moment(shelf: Shelf, other_engine: Engine) -> None:
    """Orders change while pages are read: each page still agrees with itself."""
    await shelf.fill(60)
    others = Dealings(other_engine, [shelf.book - 1])
    ends = ["open", "rejected", "deleted", "open"] * 15

    async def change() -> None:
        for order, end in zip(shelf.orders, ends, strict=True):
            await others.lead(order, end)

    async def read() -> int:
        pages = 0
        while not changing.done():
            for status in ("pending", "open", "all"):
                page, number = await shelf.dealings.reader.page_orders(
                    shelf.book, ListQuery(200, 0, status=status)
                )
                assert len(page) == number
                assert all(order.status == status or status == "all" for order in page)
                assert not any(hidden(order) or order.status == "deleted" for order in page)
                pages += 1
        return pages

    changing = asyncio.ensure_future(change())
    assert await read() > 3
    await changing
    await shelf.dealings.sound()


async def test_on_postgresql_a_page_is_read_with_the_snapshot_that_chose_it(
    postgres_engine: PostgresEngine,  # noqa: F811
) -> None:
    """A reading transaction of SQLite awaits nothing but its queries: there is no meanwhile."""
    shelf = Shelf(await Dealings.open(postgres_engine, 1))
    await shelf.fill(8)
    query = ListQuery(200, 0, status="pending")

    async def body(transaction: Transaction) -> tuple[Sequence[Order], Sequence[Order]]:
        first, _ = await order_pages.page_orders(transaction, shelf.book, query)
        for order in shelf.orders:
            await shelf.dealings.lead(order, "open")
        again, number = await order_pages.page_orders(transaction, shelf.book, query)
        assert number == len(again)
        return first, again

    first, again = await postgres_engine.read("pages", body)
    assert first
    assert first == again
    assert await total(shelf, "pending") == 0


async def test_positions_list_a_symbol_while_anything_of_it_is_open(shelf: Shelf) -> None:
    dealings, book = shelf.dealings, shelf.book

    async def symbols() -> dict[str, tuple[int, int]]:
        _, weights = await dealings.reader.book_with_weights(book)
        return {each.symbol_code: (each.buy_e4, each.sell_e4) for each in weights}

    assert await symbols() == {}
    bought = await dealings.place(book, "buy", 70)
    sold = await dealings.place(book, "sell", 70, source="web")
    silver = await dealings.place(book, "sell", 5, "SILVER")
    assert await symbols() == {"GOLD": (70, 70), "SILVER": (0, 5)}
    await dealings.lead(silver, "rejected")
    assert await symbols() == {"GOLD": (70, 70)}
    await dealings.lead(bought, "closed")
    assert await symbols() == {"GOLD": (0, 70)}
    await dealings.lead(sold, "deleted")
    assert await symbols() == {}
    assert (await dealings.reader.book_with_weights(book))[0] == await dealings.book(book)
