"""Fills a store with orders as if the service had taken them: millions in a minute, without the service.

The store was made and its accounts were set up by a service that does not run now.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import asyncpg

from .seed_sql import (
    AT_THE_END,
    BOOKS_TABLE,
    FOR_EVERY_PART,
    FOR_PRODUCTION,
    NUMBERS_TABLE,
    PART_TABLE,
    POSTGRES,
    SQLITE,
    Dialect,
    SeededBook,
    Span,
    written,
)

_PART = 100_000
_SAY_EVERY_S = 10.0
_SPAN_US = 300 * 86_400 * 1_000_000
_ENDED_BEFORE_US = 60_000_000
_CACHE_KIB = 1_500_000
"""Keys lie all over their index: what is in memory need not be read again for each of them."""

_BOOKS = """
SELECT books.id, books.order_count, accounts.login_id, accounts.broker, books.environment,
    (
        SELECT min(keys.key_id) FROM keys
        WHERE keys.account_id = books.account_id AND keys.environment = books.environment
    ) AS key_id
FROM books
INNER JOIN accounts ON accounts.id = books.account_id
ORDER BY books.id
"""

# An index is made sooner at the end than kept up to date with every order. The primary key stays.
_POSTGRES_INDEXES = """
SELECT indexes.relname, pg_get_constraintdef(rules.oid), pg_get_indexdef(indexes.oid)
FROM pg_index
INNER JOIN pg_class AS indexes ON indexes.oid = pg_index.indexrelid
LEFT JOIN pg_constraint AS rules ON rules.conindid = indexes.oid
WHERE pg_index.indrelid = 'orders'::regclass AND NOT pg_index.indisprimary
"""
_SQLITE_INDEXES = """
SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'orders' AND sql IS NOT NULL
"""

_COUNT_TO = """
WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ?)

INSERT INTO seed_numbers SELECT n FROM counted
"""


class Book(NamedTuple):
    id: int
    order_count: int
    login_id: str
    broker: str
    environment: str
    key_id: str | None


class _Store(Protocol):
    dialect: Dialect

    async def run(self, statement: str) -> None: ...

    async def rows(self, statement: str) -> list[Book]: ...

    async def put(self, table: str, rows: list[tuple[Any, ...]]) -> None: ...

    async def begin(self, most_orders: int) -> None:
        """Before the first order."""

    async def end(self) -> None:
        """After the last: statistics, as the engine makes them by itself sooner or later."""


BookName = tuple[str, str]
"""Login and environment."""


def seed(
    store: str | Path, orders: Mapping[BookName, int], say: Callable[[str], None]
) -> Mapping[BookName, SeededBook]:
    """Give books so many orders each. They are empty so far.

    `store`: the path of an SQLite file, or the address of a PostgreSQL database.
    """
    return asyncio.run(_seed(store, {name: number for name, number in orders.items() if number}, say))


async def _seed(
    store: str | Path, orders: Mapping[BookName, int], say: Callable[[str], None]
) -> Mapping[BookName, SeededBook]:
    if isinstance(store, Path):
        lite = _Sqlite(store)
        try:
            return await _fill(lite, orders, say)
        finally:
            lite.connection.close()
    connection = await asyncpg.connect(store)
    try:
        return await _fill(_Postgres(connection), orders, say)
    finally:
        await connection.close()


async def _fill(
    store: _Store, orders: Mapping[BookName, int], say: Callable[[str], None]
) -> Mapping[BookName, SeededBook]:
    started = said = time.monotonic()
    books = await _named_books(store, orders)
    await _note_books(store, orders, books)
    await store.begin(max(orders.values()))
    span = Span(time.time_ns() // 1000 - _ENDED_BEFORE_US - _SPAN_US, _SPAN_US)
    total = sum(orders.values())
    parts = -(-total // _PART)
    live = any(environment == "production" for _, environment in orders)
    for part in range(parts):
        for statement in FOR_EVERY_PART + (FOR_PRODUCTION if live else ()):
            await store.run(written(statement, store.dialect, span, part, parts))
        if time.monotonic() - said > _SAY_EVERY_S:
            said = time.monotonic()
            say(f"seeded {total * (part + 1) // parts:,} of {total:,} orders in {said - started:.0f} s")
    for statement in AT_THE_END:
        await store.run(written(statement, store.dialect, span))
    await store.end()
    say(f"seeded {total:,} orders in {time.monotonic() - started:.0f} s")
    return {name: SeededBook(book.id, orders[name], span) for name, book in books.items()}


async def _named_books(store: _Store, orders: Mapping[BookName, int]) -> dict[BookName, Book]:
    found = {(book.login_id, book.environment): book for book in await store.rows(_BOOKS)}
    for name in orders:
        if name not in found or found[name].order_count:
            raise ValueError(f"there is no empty book of {name}")
    return {name: found[name] for name in orders}


async def _note_books(store: _Store, orders: Mapping[BookName, int], books: Mapping[BookName, Book]) -> None:
    await store.run(BOOKS_TABLE)
    await store.run(PART_TABLE)
    deals: dict[str, int] = {}
    rows: list[tuple[Any, ...]] = []
    for name, book in books.items():
        before = deals.get(book.broker, 0)
        rows.append((book.id, orders[name], book.key_id, book.broker, before))
        if book.environment == "production":
            deals[book.broker] = before + orders[name]
    await store.put("seed_books", rows)


class _Postgres:
    dialect = POSTGRES

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._connection = connection
        self._indexes: list[str] = []

    async def run(self, statement: str) -> None:
        await self._connection.execute(statement)

    async def rows(self, statement: str) -> list[Book]:
        return [Book(*row) for row in await self._connection.fetch(statement)]

    async def put(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        await self._connection.copy_records_to_table(table, records=rows)

    async def begin(self, most_orders: int) -> None:  # noqa: ARG002 - it counts by itself
        await self.run(
            "SET synchronous_commit = off; SET work_mem = '256MB'; SET maintenance_work_mem = '1GB'"
        )
        for name, constraint, definition in await self._connection.fetch(_POSTGRES_INDEXES):
            if constraint:
                await self.run(f"ALTER TABLE orders DROP CONSTRAINT {name}")
                self._indexes.append(f"ALTER TABLE orders ADD CONSTRAINT {name} {constraint}")
            else:
                await self.run(f"DROP INDEX {name}")
                self._indexes.append(definition)

    async def end(self) -> None:
        for statement in self._indexes:
            await self.run(statement)
        # The vacuum is what the server's own would have done several times by now.
        await self.run("VACUUM (ANALYZE)")
        await self.run("CHECKPOINT")


class _Sqlite:
    dialect = SQLITE

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self._indexes: list[str] = []

    async def run(self, statement: str) -> None:
        self.connection.execute(statement)

    async def rows(self, statement: str) -> list[Book]:
        return [Book(*row) for row in self.connection.execute(statement)]

    async def put(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        self.connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", rows)  # noqa: S608

    async def begin(self, most_orders: int) -> None:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{_CACHE_KIB}"):
            await self.run(f"PRAGMA {pragma}")
        await self.run(NUMBERS_TABLE)
        self.connection.execute(_COUNT_TO, (most_orders,))
        for name, definition in self.connection.execute(_SQLITE_INDEXES).fetchall():
            await self.run(f"DROP INDEX {name}")
            self._indexes.append(definition)

    async def end(self) -> None:
        for statement in self._indexes:
            await self.run(statement)
        await self.run("ANALYZE")
        await self.run("PRAGMA synchronous=FULL")
        await self.run("PRAGMA journal_mode=WAL")
