"""Plans of both engines in the same few words: which index leads to which table, and what is sorted."""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from bullion.store.order_rows import BLOCK_SIZES
from bullion.store.postgres import _SERVER_SETTINGS
from tests.store.hot_calls import Run

_POSTGRES_INDEXES = """
SELECT indexes.relname, tables.relname, pg_index.indisunique, first_columns.attname
FROM pg_index
INNER JOIN pg_class AS indexes ON indexes.oid = pg_index.indexrelid
INNER JOIN pg_class AS tables ON tables.oid = pg_index.indrelid
INNER JOIN pg_attribute AS first_columns
    ON first_columns.attrelid = tables.oid AND first_columns.attnum = pg_index.indkey[0]
WHERE tables.relnamespace = current_schema()::regnamespace
"""


@dataclass(frozen=True, slots=True)
class Index:
    name: str
    table: str
    unique: bool
    first_column: str


@dataclass(frozen=True, slots=True)
class Access:
    """One way in which a plan comes to the rows of a table."""

    table: str
    index: Index | None
    """None: it reads them all, or goes by numbers of rows that an index gave before."""
    asks: str
    """By which condition of the index; empty if it reads all of it."""
    by_row_number: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    run: Run
    accesses: list[Access]
    sorts_orders: bool
    """Whether more orders than a small block has are sorted, as far as the engine can tell beforehand."""
    words: str


async def postgres_indexes(address: str) -> dict[str, Index]:
    connection = await asyncpg.connect(address)
    try:
        return {row[0]: Index(*row) for row in await connection.fetch(_POSTGRES_INDEXES)}
    finally:
        await connection.close()


async def postgres_plans(address: str, runs: list[Run]) -> list[Plan]:
    """Each by the values that it was run with, and as the plan that is kept for all values."""
    indexes = await postgres_indexes(address)
    connection = await asyncpg.connect(address, server_settings=_SERVER_SETTINGS)
    found = []
    try:
        for number, run in enumerate(runs):
            with_values = await connection.fetchval(f"EXPLAIN (FORMAT JSON) {run.sql}", *run.values)
            found.append(_postgres_plan(run, with_values, indexes))
            nothing = f"({', '.join(['NULL'] * len(run.values))})" if run.values else ""
            await connection.execute("SET plan_cache_mode = force_generic_plan")
            await connection.execute(f"PREPARE run{number} AS {run.sql}")
            for_all = await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE run{number} {nothing}")
            found.append(_postgres_plan(run, for_all, indexes))
    finally:
        await connection.close()
    return found


def _postgres_plan(run: Run, explained: str, indexes: Mapping[str, Index]) -> Plan:
    top = json.loads(explained)[0]["Plan"]
    accesses = []
    for node in _nodes(top):
        kind = node["Node Type"]
        if kind == "Seq Scan":
            accesses.append(Access(node["Relation Name"], None, ""))
        elif "Index Name" in node:
            index = indexes[node["Index Name"]]
            accesses.append(Access(index.table, index, node.get("Index Cond", "")))
    sorts = [
        node for node in _nodes(top) if "Sort" in node["Node Type"] and node["Plan Rows"] > BLOCK_SIZES[0]
    ]
    return Plan(run, accesses, any(_has_orders(node) for node in sorts), json.dumps(top, indent=1))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from _nodes(below)


def _has_orders(node: dict[str, Any]) -> bool:
    """Whether orders come up to here without a limit on the way."""
    if node["Node Type"] == "Limit":
        return False
    if node.get("Relation Name") == "orders":
        return True
    return any(_has_orders(below) for below in node.get("Plans", ()))


def sqlite_indexes(path: Path) -> dict[str, Index]:
    connection = sqlite3.connect(path)
    found = {}
    try:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for _, name, unique, *_ in connection.execute(f"PRAGMA index_list({table})").fetchall():
                column = connection.execute(f"PRAGMA index_info({name})").fetchone()[2]
                found[name] = Index(name, table, bool(unique), column)
    finally:
        connection.close()
    return found


def sqlite_plans(path: Path, runs: list[Run]) -> list[Plan]:
    indexes = sqlite_indexes(path)
    connection = sqlite3.connect(path)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    try:
        return [_sqlite_plan(connection, run, indexes, tables) for run in runs]
    finally:
        connection.close()


_USES = re.compile(
    r"(SEARCH|SCAN) (\w+)(?: USING (?:COVERING )?INDEX (\w+)| USING (\w+ )?PRIMARY KEY)?(?: \((.*)\))?"
)


def _sqlite_plan(
    connection: sqlite3.Connection, run: Run, indexes: Mapping[str, Index], tables: set[str]
) -> Plan:
    rows = connection.execute(f"EXPLAIN QUERY PLAN {run.sql}", run.values).fetchall()
    details = [row[3] for row in rows]
    accesses = []
    for detail in details:
        found = _USES.match(detail)
        if found is None:
            continue
        _, name, index_name, row_number, asks = found.groups()
        table = _table(run.sql, name, tables)
        if table is None:  # A list that was handed in, or a part of the query itself.
            continue
        if index_name is not None:
            accesses.append(Access(table, indexes[index_name], asks or ""))
        else:
            # The key of a table that is kept in its order; or a number of a row.
            key = next((each for each in indexes.values() if each.table == table and each.unique), None)
            by_number = row_number is not None
            accesses.append(Access(table, None if by_number else key, asks or "", by_number))
    limited = any("LIST SUBQUERY" in detail for detail in details)
    sorts = any("TEMP B-TREE FOR ORDER BY" in detail for detail in details)
    on_orders = any(access.table == "orders" for access in accesses)
    return Plan(run, accesses, sorts and on_orders and not limited, "\n".join(details))


def _table(sql: str, name: str, tables: set[str]) -> str | None:
    if name in tables:
        return name
    aliased = re.search(rf"(\w+)\s+AS\s+{name}\b", sql, re.IGNORECASE)
    return aliased[1] if aliased is not None and aliased[1] in tables else None
