"""Bookings on SQLite: a batch is one job of the writer's thread, and one transaction."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from bullion.allocation.book import Book
from bullion.booking.attempt import KeyName, Settled, StockName
from bullion.booking.decide import Plan
from bullion.booking.house_book import IN_BOOK
from bullion.booking.ledger import BookResult, Planner, Recorded
from bullion.events.sequence import HIDDEN
from bullion.faults import StoreUnavailable
from bullion.hedge.venues import SIMULATED
from bullion.orders.life import hidden
from bullion.orders.order import Order

from . import order_rows
from .account_events import NO_DETAIL
from .archive_reader import may_be_archived, order_of_key
from .order_sums import books_with_full_block, unsummed_range
from .sqlite import SqliteConnection, SqliteEngine

_json = msgspec.json.Encoder().encode
_decode_ids = msgspec.json.Decoder(list[int]).decode
_decode_books = msgspec.json.Decoder(list[list[int]]).decode


class SqliteLedger:
    def __init__(self, engine: SqliteEngine, holder: str = "", venue: str = SIMULATED) -> None:
        """`holder` (the node that handles them) and `venue` are recorded with hedge requests."""
        self._engine = engine
        self._holder = holder
        self._venue = venue

    @property
    def failovers(self) -> int:
        return self._engine.failovers

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]:
        return await self._engine.run_in_reader("books", lambda connection: _books(connection, book_ids))

    async def settled(self, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        return await self._engine.run_in_reader("settled", lambda connection: _settled(connection, names))

    async def record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Recorded:
        def work(connection: SqliteConnection) -> Recorded:
            state = _batch_state(connection, [plan.before.id for plan in plans], names)
            return self._record(connection, plans, state, catalogue_version)

        return await self._engine.run_in_writer("record", work)

    async def record_locked(
        self,
        book_ids: Sequence[int],
        stocks: Sequence[StockName],
        names: Sequence[KeyName],
        catalogue_version: int,
        plan: Planner,
    ) -> tuple[Sequence[Plan], Recorded]:
        def work(connection: SqliteConnection) -> tuple[Sequence[Plan], Recorded]:
            left = {name: _stock_e4(connection, name) for name in stocks}
            state = _batch_state(connection, book_ids, names)
            plans = plan(state.books, left)
            return plans, self._record(connection, plans, state, catalogue_version)

        return await self._engine.run_in_writer("record_locked", work, patient=True)

    async def verify(self, book_id: int, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        def work(connection: SqliteConnection) -> Mapping[KeyName, Settled]:
            found = _settled(connection, names)
            if len(found) < len(names):
                connection.fetch("fence_book", (book_id,))
            return found

        return await self._engine.write_on_new_connection("verify", work)

    def _record(
        self,
        connection: SqliteConnection,
        plans: Sequence[Plan],
        state: "_BatchState",
        catalogue_version: int,
    ) -> Recorded:
        good = [
            plan
            for plan in plans
            if plan.changes
            and state.catalogue_version == catalogue_version
            and state.books[plan.before.id].version == plan.before.version
            and plan.before.id not in state.settled
        ]
        self._write(connection, good)
        recorded = {plan.before.id for plan in good}
        return Recorded(
            state.catalogue_version,
            {
                book_id: BookResult(book, book_id in recorded, book_id in state.settled)
                for book_id, book in state.books.items()
            },
        )

    def _write(self, connection: SqliteConnection, plans: Sequence[Plan]) -> None:
        orders = [order for plan in plans for order in plan.orders]
        moves = [move for plan in plans for move in plan.price_moves]
        books = [
            (
                plan.after.id,
                plan.after.gold.net_e4,
                plan.after.silver.net_e4,
                plan.after.order_count,
                plan.after.last_order_at_us,
            )
            for plan in plans
        ]
        due_at_us = order_rows.lease_ends_at_us(orders)
        to_hedge = [
            (
                each.order.book_id,
                each.order.ordinal,
                each.order.id,
                each.broker,
                each.instrument,
                int(each.took_stock),
                self._holder,
                due_at_us,
                IN_BOOK if each.in_book else self._venue,
                each.fineness_e4,
            )
            for plan in plans
            for each in plan.to_hedge
        ]
        hedged = [(plan.before.id, plan.before.order_count + 1) for plan in plans if plan.to_hedge]
        for query, rows in (
            ("move_books", books),
            ("insert_orders", [order_rows.order_values(order) for order in orders]),
            ("insert_price_moves", [order_rows.price_move_values(move) for move in moves]),
            ("insert_hedge_requests", to_hedge),
            ("add_open_weights", hedged),
        ):
            if rows:
                connection.fetch_for(query, rows)
        for order in orders:
            if hidden(order):
                _hide(connection, order)
        for plan in plans:
            for name, taken_e4 in plan.stock_taken.items():
                connection.fetch("move_stock", (*name, -taken_e4))
        for book_id in books_with_full_block(plans):
            _sum_blocks(connection, book_id)


class _BatchState(NamedTuple):
    """What a batch is checked against."""

    catalogue_version: int
    settled: set[int]
    """The books in which one of the batch's keys is settled."""
    books: dict[int, Book]


def _batch_state(
    connection: SqliteConnection, book_ids: Sequence[int], names: Sequence[KeyName]
) -> _BatchState:
    """One row for any number of orders: after each row, this thread waits for the GIL."""
    (row,) = connection.fetch("batch_state", (_json(names).decode(), _json(book_ids).decode()))
    books = {values[0]: order_rows.book_of(*values) for values in _decode_books(row["books"])}
    if len(books) != len(book_ids):
        raise StoreUnavailable("a book is missing from the store")
    return _BatchState(row["version"], set(_decode_ids(row["settled"])), books)


def _books(connection: SqliteConnection, book_ids: Sequence[int]) -> dict[int, Book]:
    rows = connection.fetch_for("some_books", [(book_id,) for book_id in book_ids])
    if len(rows) != len(book_ids):
        raise StoreUnavailable("a book is missing from the store")
    return {row["id"]: order_rows.book(row) for row in rows}


def _sum_blocks(connection: SqliteConnection, book_id: int) -> None:
    (book,) = connection.fetch("lock_book", (book_id,))
    ordinals = unsummed_range(book)
    if ordinals is not None:
        low, high = ordinals
        connection.fetch("sum_blocks", (book_id, low, high))
        connection.fetch("set_unsummed_from", (book_id, high + 1))


def _hide(connection: SqliteConnection, order: Order) -> None:
    (row,) = connection.fetch("hide_order", (order.book_id,))
    place = (order.ordinal + row["event_shift"], order.ordinal)
    connection.fetch("insert_account_event", (order.book_id, *place, HIDDEN, order.created_at_us, NO_DETAIL))


def _stock_e4(connection: SqliteConnection, name: StockName) -> int:
    rows = connection.fetch("lock_stock", name)
    return rows[0]["weight_e4"] if rows else 0


def _settled(connection: SqliteConnection, names: Sequence[KeyName]) -> dict[KeyName, Settled]:
    found: dict[KeyName, Settled] = {}
    for name in names:
        for row in connection.fetch("order_by_key", name):
            found[name] = order_rows.order(row)
        for row in connection.fetch("price_move_by_key", name):
            found[name] = order_rows.price_move(row)
        if name not in found and may_be_archived(name[0]):
            archived = order_of_key(connection.fetch("archived_by_key", name))
            if archived is not None:
                found[name] = archived
    return found
