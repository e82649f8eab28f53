"""Reads orders and positions."""

from collections.abc import Mapping, Sequence

from bullion.allocation.book import Book, OpenWeight
from bullion.faults import StoreUnavailable
from bullion.orders.listing import ListQuery
from bullion.orders.order import Order
from bullion.orders.order_id import ordinal_of

from . import order_pages, order_rows
from .archive_reader import may_be_archived, order_of_pack, packed_orders
from .batch_loader import BatchLoader
from .engine import Engine, Row
from .postgres import PostgresEngine
from .sqlite import SqliteEngine

OrderName = tuple[int, int, str]
"""Book, ordinal and id."""
_SLOTS = 2


class StoredOrders:
    """The engines differ only in how single rows are read."""

    def __init__(self, engine: PostgresEngine | SqliteEngine) -> None:
        self._engine: Engine = engine
        self._reads: PostgresReads | SqliteReads = (
            PostgresReads(engine) if isinstance(engine, PostgresEngine) else SqliteReads(engine)
        )

    @property
    def failovers(self) -> int:
        return self._engine.failovers

    async def book(self, book_id: int) -> Book:
        book = await self._reads.book(book_id)
        if book is None:
            raise StoreUnavailable("a book is missing from the store")
        return book

    async def book_with_weights(self, book_id: int) -> tuple[Book, Sequence[OpenWeight]]:
        rows = await self._reads.book_with_weights(book_id)
        if not rows:
            raise StoreUnavailable("a book is missing from the store")
        weights = [order_rows.open_weight(row) for row in rows if row["symbol_code"] is not None]
        return order_rows.book(rows[0]), weights

    async def order(self, book_id: int, order_id: str) -> Order | None:
        ordinal = ordinal_of(order_id)
        order = await self._reads.order((book_id, ordinal, order_id))
        if order is None and may_be_archived(book_id):
            return order_of_pack(await self._reads.archived_pack(book_id, ordinal), ordinal, order_id)
        return order

    async def page_ordinals(self, book_id: int, query: ListQuery) -> tuple[Sequence[int], int]:
        if _filtered(query):
            return await self._engine.read(
                "order_page", lambda transaction: order_pages.page_ordinals(transaction, book_id, query)
            )
        book = await self.book(book_id)
        return order_pages.newest(book.archived_count + 1, book.order_count, query)

    async def page_orders(self, book_id: int, query: ListQuery) -> tuple[Sequence[Order], int]:
        return await self._engine.read(
            "order_page", lambda transaction: order_pages.page_orders(transaction, book_id, query)
        )

    async def orders(self, book_id: int, ordinals: Sequence[int]) -> Mapping[int, Order]:
        rows = await self._reads.orders(book_id, ordinals)
        found = {order.ordinal: order for order in map(order_rows.order, rows)}
        if len(found) < len(ordinals) and may_be_archived(book_id):
            missing = [ordinal for ordinal in ordinals if ordinal not in found]
            found |= await self._archived(book_id, missing)
        return found

    async def _archived(self, book_id: int, ordinals: Sequence[int]) -> dict[int, Order]:
        """Each pack is read once."""
        found: dict[int, Order] = {}
        wanted = sorted(ordinals, reverse=True)
        while wanted:
            packs = await self._reads.archived_pack(book_id, wanted.pop())
            for pack in map(packed_orders, packs):
                found |= {order.ordinal: order for order in pack.orders()}
                while wanted and wanted[-1] <= pack.last_ordinal:
                    wanted.pop()
        return {ordinal: found[ordinal] for ordinal in ordinals if ordinal in found}


def _filtered(query: ListQuery) -> bool:
    filters = (query.symbol_code, query.trade_type, query.since_us, query.client_order_id)
    return any(each is not None for each in filters)


class PostgresReads:
    """Reads that arrive together are sent to the server as one."""

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine = engine
        self._books = BatchLoader(self._some_books, slots=_SLOTS)
        self._orders = BatchLoader(self._some_orders, slots=_SLOTS)

    async def book(self, book_id: int) -> Book | None:
        return await self._books.get(book_id)

    async def book_with_weights(self, book_id: int) -> Sequence[Row]:
        return await self._engine.statement("book_with_weights", book_id)

    async def order(self, name: OrderName) -> Order | None:
        return await self._orders.get(name)

    async def orders(self, book_id: int, ordinals: Sequence[int]) -> Sequence[Row]:
        return await self._engine.statement("orders_by_ordinal", book_id, ordinals)

    async def archived_pack(self, book_id: int, ordinal: int) -> Sequence[Row]:
        return await self._engine.statement("archived_pack", book_id, ordinal)

    async def _some_books(self, book_ids: Sequence[int]) -> Mapping[int, Book]:
        found = await self._engine.statement("some_books", book_ids)
        return {row["id"]: order_rows.book(row) for row in found}

    async def _some_orders(self, names: Sequence[OrderName]) -> Mapping[OrderName, Order]:
        """By book, ordinal and id: a guessed ordinal alone finds nothing."""
        books, ordinals, _ = zip(*names, strict=True)
        found = await self._engine.statement("some_orders", books, ordinals)
        return {(row["book_id"], row["ordinal"], row["id"]): order_rows.order(row) for row in found}


class SqliteReads:
    """Reads do not wait, so there is nothing to batch."""

    def __init__(self, engine: SqliteEngine) -> None:
        self._engine = engine

    async def book(self, book_id: int) -> Book | None:
        rows = self._engine.look_up("one_book", book_id)
        return order_rows.book(rows[0]) if rows else None

    async def book_with_weights(self, book_id: int) -> Sequence[Row]:
        return self._engine.look_up("book_with_weights", book_id)

    async def order(self, name: OrderName) -> Order | None:
        rows = self._engine.look_up("one_order", *name)
        return order_rows.order(rows[0]) if rows else None

    async def orders(self, book_id: int, ordinals: Sequence[int]) -> Sequence[Row]:
        return self._engine.look_up_for("orders_by_ordinal", [(book_id, ordinal) for ordinal in ordinals])

    async def archived_pack(self, book_id: int, ordinal: int) -> Sequence[Row]:
        return self._engine.look_up("archived_pack", book_id, ordinal)
