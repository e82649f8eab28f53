"""Bookings on SQLite: a batch is one visit to the writer's thread, and one transaction there."""

from collections.abc import Callable, Mapping, Sequence

from bullion.allocation.book import Book
from bullion.booking.decide import Plan
from bullion.booking.ledger import Recorded, Seen
from bullion.booking.placing import KeyName, Settled
from bullion.faults import StoreUnavailable

from . import order_rows
from .sqlite import SqliteConnection, SqliteEngine


class SqliteLedger:
    def __init__(self, engine: SqliteEngine) -> None:
        self._engine = engine

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]:
        return await self._engine.in_reader("books", lambda connection: _books(connection, book_ids))

    async def settled(self, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        return await self._engine.in_reader("settled", lambda connection: _settled(connection, names))

    async def record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Recorded:
        return await self._engine.in_writer(
            "record", lambda connection: _record(connection, plans, names, catalogue_version)
        )

    async def record_locked(
        self,
        book_ids: Sequence[int],
        names: Sequence[KeyName],
        catalogue_version: int,
        plan: Callable[[Mapping[int, Book]], Sequence[Plan]],
    ) -> tuple[Sequence[Plan], Recorded]:
        def work(connection: SqliteConnection) -> tuple[Sequence[Plan], Recorded]:
            plans = plan(_books(connection, book_ids))
            return plans, _record(connection, plans, names, catalogue_version)

        return await self._engine.in_writer("record_locked", work)


def _books(connection: SqliteConnection, book_ids: Sequence[int]) -> dict[int, Book]:
    rows = connection.fetch_for("some_books", [(book_id,) for book_id in book_ids])
    if len(rows) != len(book_ids):
        raise StoreUnavailable("a book is missing from the store")
    return {row["id"]: order_rows.book(row) for row in rows}


def _settled(connection: SqliteConnection, names: Sequence[KeyName]) -> dict[KeyName, Settled]:
    found: dict[KeyName, Settled] = {}
    for name in names:
        for row in connection.fetch("order_by_key", name):
            found[name] = order_rows.order(row)
        for row in connection.fetch("price_move_by_key", name):
            found[name] = order_rows.price_move(row)
    return found


def _record(
    connection: SqliteConnection, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
) -> Recorded:
    """A handful of calls for however many orders: after each, this thread waits for its turn."""
    version = connection.fetch("catalogue_version", ())[0]["version"]
    settled = {row["book_id"] for row in connection.fetch_for("settled_books", names)}
    books = _books(connection, [plan.before.id for plan in plans])
    good = [
        plan
        for plan in plans
        if plan.changes
        and version == catalogue_version
        and books[plan.before.id].version == plan.before.version
        and plan.before.id not in settled
    ]
    _write(connection, good)
    recorded = {plan.before.id for plan in good}
    return Recorded(
        version,
        {book_id: Seen(book, book_id in recorded, book_id in settled) for book_id, book in books.items()},
    )


def _write(connection: SqliteConnection, plans: Sequence[Plan]) -> None:
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
    for query, rows in (
        ("move_books", books),
        ("insert_orders", [order_rows.order_values(order) for order in orders]),
        ("count_orders", [(plan.before.id, plan.before.order_count + 1) for plan in plans if plan.orders]),
        ("insert_price_moves", [order_rows.price_move_values(move) for move in moves]),
    ):
        if rows:
            connection.fetch_for(query, rows)
