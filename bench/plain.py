"""`bullion serve`, but each order in a transaction of its own: what a team would write first.

The same interface, checks and rows; only the way into the book differs: lock and read the book, look the key
up, then write statement by statement, and commit. No step is shared with another order.
"""

from collections.abc import Mapping, Sequence

from bullion.__main__ import main
from bullion.allocation.book import Book
from bullion.booking.attempt import KeyName, Settled, StockName
from bullion.booking.decide import Plan
from bullion.booking.ledger import BookResult, Ledger, Planner, Recorded
from bullion.store import order_rows
from bullion.store.engine import Transaction, one_row
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.postgres import PostgresEngine
from bullion.wiring import trading
from bullion.wiring.store import StoreEngine

_SLOTS = 8
"""As many orders at once as a node has connections: more made PostgreSQL slower."""

_ORDER = """
INSERT INTO orders (
    book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4, expected_price,
    client_order_id, metal, price_paise, total_paise, status, key_id, request_id, created_at_us, price_anatomy
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
"""
_BOOK = """
UPDATE books
SET gold_net_e4 = $2, silver_net_e4 = $3, order_count = $4, last_order_at_us = $5, version = version + 1
WHERE id = $1
"""
_LOCK = "SELECT * FROM books WHERE id = $1 FOR UPDATE"
_OWN = {"plain_order": _ORDER, "plain_book": _BOOK}


class PlainLedger:
    failovers = 0

    def __init__(self, engine: StoreEngine) -> None:
        self._engine = engine
        lock = _LOCK if isinstance(engine, PostgresEngine) else _LOCK.removesuffix(" FOR UPDATE")
        engine._queries.update(_OWN | {"plain_lock": lock})  # noqa: SLF001 - nobody else needs these
        self._reads: Ledger = (
            PostgresLedger(engine) if isinstance(engine, PostgresEngine) else SqliteLedger(engine)
        )

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]:
        return await self._reads.books(book_ids)

    async def settled(self, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        return await self._reads.settled(names)

    async def record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Recorded:
        (plan,) = plans

        async def body(transaction: Transaction) -> Recorded:
            book = order_rows.book(await one_row(transaction, "plain_lock", plan.before.id))
            version = (await one_row(transaction, "catalogue_state"))["version"]
            settled = False
            for name in names:
                settled = settled or await transaction.one("order_by_key", *name) is not None
            good = book.version == plan.before.version and version == catalogue_version and not settled
            if good:
                await self._write(transaction, plan)
            return Recorded(version, {book.id: BookResult(book, good and plan.changes, settled)})

        return await self._engine.write("plain", body)

    async def record_locked(
        self,
        book_ids: Sequence[int],
        stocks: Sequence[StockName],
        names: Sequence[KeyName],
        catalogue_version: int,
        plan: Planner,
    ) -> tuple[Sequence[Plan], Recorded]:
        return await self._reads.record_locked(book_ids, stocks, names, catalogue_version, plan)

    async def verify(self, book_id: int, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        return await self._reads.verify(book_id, names)

    async def _write(self, transaction: Transaction, plan: Plan) -> None:
        for order in plan.orders:
            await transaction.run("plain_order", *order_rows.order_values(order))
        after = plan.after
        await transaction.run(
            "plain_book",
            after.id,
            after.gold.net_e4,
            after.silver.net_e4,
            after.order_count,
            after.last_order_at_us,
        )


def _plain_ledger(engine: StoreEngine, holder: str, venue: str) -> Ledger:  # noqa: ARG001 - test orders alone
    return PlainLedger(engine)


if __name__ == "__main__":
    # What differs, and nothing else does.
    trading.ledger_of = _plain_ledger
    trading.TWO_BATCHES = (_SLOTS, 1)
    main()
