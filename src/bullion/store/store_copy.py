"""Copies an SQLite store into an empty PostgreSQL database: all of it or nothing, compared row by row."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .postgres import NODES_LOCK, PostgresEngine
from .postgres_pool import Connection

_ROWS_AT_ONCE = 5_000
_MADE_WITH_THE_SCHEMA = ("catalogue", "rates", "deployment")
"""Tables that have rows before anybody has used the store."""

Progress = Callable[[int, int], None]


class CopyRefused(Exception):
    """Nothing was copied. The message says why."""


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[str, ...]
    order: str
    """The primary key. SQLite compares text byte by byte, and so does PostgreSQL's collation C."""
    postgres_order: str
    rows: int

    @property
    def select(self) -> str:
        return f"SELECT {', '.join(self.columns)} FROM {self.name}"  # noqa: S608 - names of our own schema


async def copy_store(source: Path, target: PostgresEngine, progress: Progress) -> int:
    """Copy all rows, and return how many. The target has the schema and no rows; the source is not in use."""
    with closing(_opened(source)) as old:
        tables = _tables(old)
        total = sum(table.rows for table in tables)
        count = _Count(progress, 2 * total)
        async with target.connection_without_timeouts() as new:
            if not await new.fetchval("SELECT pg_try_advisory_lock($1)", NODES_LOCK):
                raise CopyRefused("A node serves the target.")
            async with new.transaction():
                await _require_empty(new, tables)
                for table in tables:
                    await _copy(old, new, table, count)
                for table in tables:
                    await _compare(old, new, table, count)
                await new.execute(
                    "SELECT setval('venue_execution_numbers', max(execution_no)) FROM venue_orders "
                    "HAVING max(execution_no) > 0"
                )
            await new.execute("ANALYZE")
    return total


async def require_own_database(target: PostgresEngine) -> None:
    """Raise CopyRefused for tables of another program, before the schema is created."""
    async with target.connection_without_timeouts() as connection:
        found = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    names = {row["tablename"] for row in found}
    if names and "migrations" not in names:
        raise CopyRefused("The target has the tables of another program. Use an empty database.")


class _Count:
    def __init__(self, progress: Progress, of: int) -> None:
        self._progress = progress
        self._of = of
        self._done = 0

    def add(self, rows: int) -> None:
        self._done += rows
        self._progress(self._done, self._of)


def _opened(source: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection.execute("BEGIN")
    return connection


def _tables(old: sqlite3.Connection) -> list[Table]:
    """In the order in which they were made, so that a row comes after those that it refers to."""
    names = old.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
        "AND name <> 'migrations' ORDER BY rowid"
    ).fetchall()
    return [_table(old, name) for (name,) in names]


def _table(old: sqlite3.Connection, name: str) -> Table:
    columns = old.execute(f"PRAGMA table_info({name})").fetchall()
    key = sorted((place, column, kind) for _, column, kind, _, _, place in columns if place)
    (rows,) = old.execute(f"SELECT count(*) FROM {name}").fetchone()  # noqa: S608 - as above
    return Table(
        name,
        tuple(column for _, column, *_ in columns),
        ", ".join(column for _, column, _ in key),
        ", ".join(f'{column} COLLATE "C"' if kind == "TEXT" else column for _, column, kind in key),
        rows,
    )


async def _require_empty(new: Connection, tables: Sequence[Table]) -> None:
    for table in tables:
        if table.name in _MADE_WITH_THE_SCHEMA:
            await new.execute(f"DELETE FROM {table.name}")  # noqa: S608 - as above
        elif await new.fetchval(f"SELECT EXISTS (SELECT 1 FROM {table.name})"):  # noqa: S608 - as above
            raise CopyRefused(f"The target is not empty: it has rows in {table.name}.")


async def _copy(old: sqlite3.Connection, new: Connection, table: Table, count: _Count) -> None:
    def records() -> Iterator[tuple[Any, ...]]:
        rows = old.execute(f"{table.select} ORDER BY {table.order}")
        while batch := rows.fetchmany(_ROWS_AT_ONCE):
            yield from batch
            count.add(len(batch))

    await new.copy_records_to_table(table.name, columns=table.columns, records=records())


async def _compare(old: sqlite3.Connection, new: Connection, table: Table, count: _Count) -> None:
    """Every value of every row, in the order of the primary key."""
    expected = old.execute(f"{table.select} ORDER BY {table.order}")
    found = await new.cursor(f"{table.select} ORDER BY {table.postgres_order}")
    while True:
        there = [tuple(row) for row in await found.fetch(_ROWS_AT_ONCE)]
        wanted = expected.fetchmany(_ROWS_AT_ONCE)
        if there != wanted:
            number = next(
                (i for i, (one, two) in enumerate(zip(there, wanted, strict=False)) if one != two), -1
            )
            row = wanted[number][: table.order.count(",") + 1] if wanted else "the end"
            raise CopyRefused(f"The copy of {table.name} differs from the original at {row}.")
        if not there:
            return
        count.add(len(there))
