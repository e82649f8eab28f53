"""Bookings on PostgreSQL: a batch is one statement, which is its own transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from bullion.allocation.book import Book
from bullion.booking.attempt import KeyName, Settled, StockName
from bullion.booking.decide import Plan
from bullion.booking.house_book import IN_BOOK
from bullion.booking.ledger import BookResult, Planner, Recorded
from bullion.faults import StoreUnavailable
from bullion.hedge.venue import SIMULATED
from bullion.orders.life import hidden

from . import order_rows
from .archive_reader import may_be_archived, order_of_key
from .engine import Row, Transaction
from .order_sums import BlockSums, books_with_full_block
from .postgres import PostgresEngine

VERIFY_S = 3.0
"""Time limit of a verification."""

_encode = msgspec.json.Encoder().encode


class PostgresLedger:
    def __init__(self, engine: PostgresEngine, holder: str = "", venue: str = SIMULATED) -> None:
        """`holder` (the node that handles them) and `venue` are recorded with hedge requests."""
        self._engine = engine
        self._sums = BlockSums(engine)
        self._holder = holder
        self._venue = venue

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]:
        found = await self._engine.statement("some_books", book_ids)
        return {row["id"]: order_rows.book(row) for row in found}

    async def settled(self, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        return await self._engine.read("settled", lambda transaction: _settled(transaction, names))

    async def record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Recorded:
        values = self._values(plans, names, catalogue_version)
        found = await self._engine.statement("record_plans", *values, writes=True)
        recorded = _recorded(found, plans, catalogue_version)
        self._sum_blocks(plans, recorded)
        return recorded

    async def record_locked(
        self,
        book_ids: Sequence[int],
        stocks: Sequence[StockName],
        names: Sequence[KeyName],
        catalogue_version: int,
        plan: Planner,
    ) -> tuple[Sequence[Plan], Recorded]:
        async def body(transaction: Transaction) -> tuple[Sequence[Plan], Recorded]:
            locked = await transaction.all("lock_books", book_ids)
            if len(locked) != len(book_ids):
                raise StoreUnavailable("a book is missing from the store")
            left: dict[StockName, int] = {}
            for name in stocks:
                row = await transaction.one("lock_stock", *name)
                left[name] = 0 if row is None else row["weight_e4"]
            plans = plan({row["id"]: order_rows.book(row) for row in locked}, left)
            # A second statement after the lock: its snapshot includes what the previous holder committed.
            values = self._values(plans, names, catalogue_version)
            recorded = _recorded(await transaction.all("record_plans", *values), plans, catalogue_version)
            for each in plans:
                if recorded.books[each.before.id].recorded:
                    for name, taken_e4 in each.stock_taken.items():
                        await transaction.run("move_stock", *name, -taken_e4)
            return plans, recorded

        plans, recorded = await self._engine.write("record_locked", body)
        self._sum_blocks(plans, recorded)
        return plans, recorded

    async def verify(self, book_id: int, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        async def body(transaction: Transaction) -> Mapping[KeyName, Settled]:
            await transaction.run("lock_book", book_id)
            found = await _settled(transaction, names)
            if len(found) < len(names):
                await transaction.run("fence_book", book_id)
            return found

        return await self._engine.write_on_new_connection("verify", VERIFY_S, body)

    def _sum_blocks(self, plans: Sequence[Plan], recorded: Recorded) -> None:
        in_books = recorded.books
        self._sums.add(
            books_with_full_block(
                plan for plan in plans if plan.before.id in in_books and in_books[plan.before.id].recorded
            )
        )

    def _values(self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int) -> list[Any]:
        """The parameters of `record_plans`."""
        planned = {
            plan.before.id: (
                plan.before.version,
                plan.after.gold.net_e4,
                plan.after.silver.net_e4,
                plan.after.order_count,
                plan.after.last_order_at_us,
                [order_rows.order_values(order) for order in plan.orders],
                [order_rows.price_move_values(move) for move in plan.price_moves],
                [
                    (
                        each.order.ordinal,
                        each.order.id,
                        each.broker,
                        each.instrument,
                        int(each.took_stock),
                        IN_BOOK if each.in_book else self._venue,
                        each.fineness_e4,
                    )
                    for each in plan.to_hedge
                ],
                [order.ordinal for order in plan.orders if hidden(order)],
            )
            for plan in plans
            if plan.changes
        }
        return [
            catalogue_version,
            _encode(names).decode(),
            _encode(planned).decode(),
            [plan.before.id for plan in plans],
            self._holder,
            order_rows.lease_ends_at_us([order for plan in plans for order in plan.orders]),
            [plan.before.id for plan in plans if plan.before.archived_count],
        ]


async def _settled(transaction: Transaction, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
    found: dict[KeyName, Settled] = {}
    for name in names:
        row = await transaction.one("order_by_key", *name)
        if row is not None:
            found[name] = order_rows.order(row)
            continue
        row = await transaction.one("price_move_by_key", *name)
        if row is not None:
            found[name] = order_rows.price_move(row)
        elif may_be_archived(name[0]):
            archived = order_of_key(await transaction.all("archived_by_key", *name))
            if archived is not None:
                found[name] = archived
    return found


def _recorded(found: Sequence[Row], plans: Sequence[Plan], catalogue_version: int) -> Recorded:
    # If the plan was recorded, the book was as in the plan: no need to decode its row.
    before = {plan.before.id: plan.before for plan in plans}
    books = {
        row["id"]: BookResult(
            before[row["id"]] if row["recorded"] else order_rows.book(row), row["recorded"], row["settled"]
        )
        for row in found
    }
    return Recorded(found[0]["catalogue_version"] if found else catalogue_version, books)
