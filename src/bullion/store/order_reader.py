"""Reads orders and positions back: single ones in shared questions, pages each from one snapshot."""

from collections.abc import Mapping, Sequence

from bullion.allocation.book import Book
from bullion.faults import StoreUnavailable
from bullion.orders.listing import ListQuery
from bullion.orders.order import Order
from bullion.orders.order_id import ordinal_of

from . import order_pages, order_rows
from .engine import Engine, Row
from .gathering import Gathering
from .postgres import PostgresEngine
from .sqlite import SqliteConnection, SqliteEngine

OrderName = tuple[int, int, str]
"""Book, ordinal and id."""


class StoredOrders:
    """The same on both engines, but for how one question is made of many."""

    def __init__(self, engine: PostgresEngine | SqliteEngine) -> None:
        self._engine: Engine = engine
        singles = PostgresSingles(engine) if isinstance(engine, PostgresEngine) else SqliteSingles(engine)
        self._singles = singles
        self._books = Gathering(singles.books, lanes=singles.lanes)
        self._orders = Gathering(singles.orders, lanes=singles.lanes)

    async def book(self, book_id: int) -> Book:
        book = await self._books.get(book_id)
        if book is None:
            raise StoreUnavailable("a book is missing from the store")
        return book

    async def order(self, book_id: int, order_id: str) -> Order | None:
        return await self._orders.get((book_id, ordinal_of(order_id), order_id))

    async def page(self, book_id: int, query: ListQuery) -> tuple[Sequence[Order], int]:
        if _filtered(query):
            return await self._engine.read(
                "order_page", lambda transaction: order_pages.page(transaction, book_id, query)
            )
        rows = await self._singles.newest(book_id, query.limit, query.offset)
        if not rows:
            raise StoreUnavailable("a book is missing from the store")
        total = rows[0]["total"]
        return [order_rows.order(row) for row in rows if row["id"] is not None], total


def _filtered(query: ListQuery) -> bool:
    filters = (query.symbol_code, query.trade_type, query.since_us, query.client_order_id)
    return any(each is not None for each in filters)


class PostgresSingles:
    lanes = 2

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine = engine

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]:
        found = await self._engine.statement("some_books", book_ids)
        return {row["id"]: order_rows.book(row) for row in found}

    async def orders(self, names: Sequence[OrderName]) -> Mapping[OrderName, Order]:
        found = await self._engine.statement("some_orders", *zip(*names, strict=True))
        return {(row["book_id"], row["ordinal"], row["id"]): order_rows.order(row) for row in found}

    async def newest(self, book_id: int, limit: int, offset: int) -> Sequence[Row]:
        return await self._engine.statement("newest_orders", book_id, limit, offset)


class SqliteSingles:
    lanes = 1

    def __init__(self, engine: SqliteEngine) -> None:
        self._engine = engine

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]:
        def work(connection: SqliteConnection) -> dict[int, Book]:
            return {
                row["id"]: order_rows.book(row)
                for book_id in book_ids
                for row in connection.fetch("one_book", (book_id,))
            }

        return await self._engine.in_reader("books", work)

    async def orders(self, names: Sequence[OrderName]) -> Mapping[OrderName, Order]:
        def work(connection: SqliteConnection) -> dict[OrderName, Order]:
            return {
                name: order_rows.order(row) for name in names for row in connection.fetch("one_order", name)
            }

        return await self._engine.in_reader("orders", work)

    async def newest(self, book_id: int, limit: int, offset: int) -> Sequence[Row]:
        return await self._engine.in_reader(
            "newest", lambda connection: connection.fetch("newest_orders", (book_id, limit, offset))
        )
