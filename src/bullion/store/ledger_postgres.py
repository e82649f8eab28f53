"""Bookings on PostgreSQL: a batch is one statement, which is its own transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from bullion.allocation.book import Book, environment_of
from bullion.booking.attempt import KeyName, Settled, StockName
from bullion.booking.decide import Plan
from bullion.booking.house_book import IN_BOOK
from bullion.booking.ledger import BookResult, Planner, Recorded
from bullion.environment import TEST
from bullion.faults import AlreadyExists, StoreUnavailable
from bullion.hedge.venues import SIMULATED
from bullion.orders.life import hidden

from . import order_rows, prepared_queries
from .archive_reader import may_be_archived, order_of_key
from .engine import Row, Transaction
from .key_lookups import KeyLookups
from .order_sums import BlockSums, books_with_full_block
from .postgres import PostgresEngine

VERIFY_S = 3.0
"""Time limit of a verification."""

_WAIT_S = 0.25
"""How long a batch may wait for a connection: the prices of its orders are the live ones."""

_encode = msgspec.json.Encoder().encode
_decode_books = msgspec.json.Decoder(list[list[int]]).decode


class PostgresLedger:
    def __init__(self, engine: PostgresEngine, holder: str = "", venue: str = SIMULATED) -> None:
        """`holder` (the node that handles them) and `venue` are recorded with hedge requests."""
        self._engine = engine
        self._sums = BlockSums(engine)
        self._lookups = KeyLookups(lambda: engine.failovers)
        self._holder = holder
        self._venue = venue

    @property
    def failovers(self) -> int:
        return self._engine.failovers

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]:
        found = await self._engine.statement("books_to_decide", book_ids)
        for row in found:
            self._lookups.read(row["id"], row["version"], has_price_moves=row["has_price_moves"])
        return {row["id"]: order_rows.book(row) for row in found}

    async def settled(self, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        return await self._engine.read("settled", lambda transaction: _settled(transaction, names))

    async def record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Recorded:
        try:
            row = await self._try_to_record(plans, self._lookups.needed(plans, names), catalogue_version)
        except AlreadyExists:
            # Nothing was recorded. One of the keys is settled: this time the statement says which.
            self._lookups.index_found_one()
            row = await self._try_to_record(plans, names, catalogue_version)
        return self._recorded(row, plans)

    async def _try_to_record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Row:
        """`names` are the keys to look up."""
        if not names and all(map(_only_filled, plans)):
            query, values = "record_orders", self._values_of_orders(plans, catalogue_version)
        else:
            query, values = "record_plans", self._values(plans, names, catalogue_version)
        (row,) = await self._engine.statement(query, *values, writes=True, wait_s=_WAIT_S)
        return row

    async def record_locked(
        self,
        book_ids: Sequence[int],
        stocks: Sequence[StockName],
        names: Sequence[KeyName],
        catalogue_version: int,
        plan: Planner,
    ) -> tuple[Sequence[Plan], Recorded]:
        async def body(transaction: Transaction) -> tuple[Sequence[Plan], Row]:
            locked = await transaction.all("lock_books", book_ids)
            if len(locked) != len(book_ids):
                raise StoreUnavailable("a book is missing from the store")
            left: dict[StockName, int] = {}
            for name in stocks:
                row = await transaction.one("lock_stock", *name)
                left[name] = 0 if row is None else row["weight_e4"]
            plans = plan({row["id"]: order_rows.book(row) for row in locked}, left)
            # A second statement after the lock: its snapshot includes what the previous holder committed.
            (row,) = await transaction.all("record_plans", *self._values(plans, names, catalogue_version))
            for each in plans:
                if each.before.id in row["recorded"]:
                    for name, taken_e4 in each.stock_taken.items():
                        await transaction.run("move_stock", *name, -taken_e4)
            return plans, row

        plans, row = await self._engine.write("record_locked", body, holding=prepared_queries.RECORD)
        return plans, self._recorded(row, plans)

    async def verify(self, book_id: int, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        async def body(transaction: Transaction) -> Mapping[KeyName, Settled]:
            await transaction.run("lock_book", book_id)
            found = await _settled(transaction, names)
            if len(found) < len(names):
                await transaction.run("fence_book", book_id)
            return found

        return await self._engine.write_on_new_connection("verify", VERIFY_S, body)

    def _recorded(self, row: Row, plans: Sequence[Plan]) -> Recorded:
        recorded, settled, with_moves = set(row["recorded"]), row["settled"], row["with_moves"]
        done = [plan for plan in plans if plan.before.id in recorded]
        books = {plan.before.id: BookResult(plan.before, recorded=True, settled=False) for plan in done}
        if row["others"] is not None:
            for values in _decode_books(row["others"]):
                book = order_rows.book_of(*values)
                books[book.id] = BookResult(book, recorded=False, settled=book.id in settled)
        for plan in done:
            self._lookups.recorded(plan, with_moves)
        self._sums.add(books_with_full_block(done))
        return Recorded(row["catalogue_version"], books)

    def _values_of_orders(self, plans: Sequence[Plan], catalogue_version: int) -> list[Any]:
        """The parameters of `record_orders`."""
        anatomies: dict[str, int] = {}
        planned = {
            plan.before.id: (
                plan.before.version,
                plan.after.gold.net_e4,
                plan.after.silver.net_e4,
                plan.after.order_count,
                plan.after.last_order_at_us,
                [
                    order_rows.order_values_with(
                        anatomies.setdefault(order.price_anatomy, len(anatomies) + 1), order
                    )
                    for order in plan.orders
                ],
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
            _encode(planned).decode(),
            [plan.before.id for plan in plans],
            list(anatomies),
        ]

    def _values(self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int) -> list[Any]:
        """The parameters of `record_plans`."""
        return [
            *self._values_of_orders(plans, catalogue_version),
            _encode(names).decode(),
            [plan.before.id for plan in plans if plan.before.archived_count],
            [plan.before.id for plan in plans if self._lookups.may_have_moves(plan)],
            self._holder,
            order_rows.lease_ends_at_us([order for plan in plans for order in plan.orders]),
        ]


def _only_filled(plan: Plan) -> bool:
    """Whether the plan has nothing but orders that are filled at once."""
    return not plan.price_moves and not plan.to_hedge and environment_of(plan.before.id) is TEST


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
