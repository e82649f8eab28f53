"""Plans of both engines in the same few words: which index leads to which table, and what is sorted."""

import itertools
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from bullion.store.order_rows import BLOCK_SIZES
from bullion.store.postgres import _SERVER_SETTINGS
from tests.store.hot_calls import Run

_POSTGRES_INDEXES = """
SELECT
    indexes.relname,
    tables.relname,
    pg_index.indisunique,
    ARRAY(
        SELECT columns.attname::TEXT
        FROM pg_attribute AS columns
        WHERE columns.attrelid = indexes.oid
        ORDER BY columns.attnum
    )
FROM pg_index
INNER JOIN pg_class AS indexes ON indexes.oid = pg_index.indexrelid
INNER JOIN pg_class AS tables ON tables.oid = pg_index.indrelid
WHERE tables.relnamespace = current_schema()::regnamespace
"""
_EXPLAIN = "EXPLAIN (FORMAT JSON, VERBOSE)"
"""VERBOSE: columns come with the names of their tables."""
_PARAMETERS = "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = $1"


@dataclass(frozen=True, slots=True)
class Index:
    name: str
    table: str
    unique: bool
    columns: tuple[str, ...]

    @property
    def first_column(self) -> str:
        return self.columns[0]

    def led_by(self, known: AbstractSet[str]) -> int:
        """How many of its columns, from the first on, are among these."""
        return sum(1 for _ in itertools.takewhile(known.__contains__, self.columns))


@dataclass(frozen=True, slots=True)
class Access:
    """One way in which a plan comes to the rows of a table."""

    table: str
    index: Index | None
    """None: it reads them all, or goes by numbers of rows that an index gave before."""
    asks: str
    """By which condition of the index; empty if it reads all of it."""
    by_row_number: bool = False
    used: frozenset[str] = frozenset()
    """The columns in that condition, as far as it was taken apart."""
    fixed: frozenset[str] = frozenset()
    """Those that the query compares by equality, there or only once a row has been read."""


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
        found = await connection.fetch(_POSTGRES_INDEXES)
        return {name: Index(name, table, unique, tuple(columns)) for name, table, unique, columns in found}
    finally:
        await connection.close()


async def postgres_plans(address: str, runs: list[Run]) -> list[Plan]:
    """Each by the values that it was run with, if it was, and as the plan that is kept for all values."""
    indexes = await postgres_indexes(address)
    connection = await asyncpg.connect(address, server_settings=_SERVER_SETTINGS)
    found = []
    try:
        for number, run in enumerate(runs):
            if run.values is not None:
                with_values = await connection.fetchval(f"{_EXPLAIN} {run.sql}", *run.values)
                found.append(_postgres_plan(run, with_values, indexes))
            await connection.execute(f"PREPARE run{number} AS {run.sql}")
            count = await connection.fetchval(_PARAMETERS, f"run{number}")
            nothing = f"({', '.join(['NULL'] * count)})" if count else ""
            for_all = await connection.fetchval(f"{_EXPLAIN} EXECUTE run{number} {nothing}")
            found.append(_postgres_plan(run, for_all, indexes))
    finally:
        await connection.close()
    return found


def _postgres_plan(run: Run, explained: str, indexes: Mapping[str, Index]) -> Plan:
    top = json.loads(explained)[0]["Plan"]
    joined = [each for node in _nodes(top) for each in _conditions(node.get("Join Filter", ""))]
    accesses = []
    for node in _nodes(top):
        kind = node["Node Type"]
        if kind == "Seq Scan":
            accesses.append(Access(node["Relation Name"], None, ""))
        elif kind == "Tid Scan":
            accesses.append(Access(node["Relation Name"], None, "", by_row_number=True))
        elif "Index Name" in node:
            index, alias, asks = (
                indexes[node["Index Name"]],
                node.get("Alias", ""),
                node.get("Index Cond", ""),
            )
            later = [*_conditions(node.get("Filter", "")), *joined]
            used = frozenset(re.findall(rf"\b{alias}\.(\w+)", asks))
            fixed = _fixed(alias, [*_conditions(asks), *later])
            accesses.append(Access(index.table, index, asks, used=used, fixed=fixed))
    sorts = [
        node for node in _nodes(top) if "Sort" in node["Node Type"] and node["Plan Rows"] > BLOCK_SIZES[0]
    ]
    return Plan(run, accesses, any(_has_orders(node) for node in sorts), json.dumps(top, indent=1))


def _conditions(words: str) -> list[str]:
    """What has to be true at once, taken apart: `((a = 1) AND (b = 2))` has two."""
    if not words.startswith("("):
        return []
    depth, begin, parts = 0, 1, []
    for place, letter in enumerate(words):
        depth += (letter == "(") - (letter == ")")
        if depth == 1 and words.startswith(" AND ", place):
            parts.append(words[begin:place])
            begin = place + len(" AND ")
    parts.append(words[begin:-1])
    return parts if len(parts) == 1 else [each.removeprefix("(").removesuffix(")") for each in parts]


def _fixed(alias: str, conditions: list[str]) -> frozenset[str]:
    """The columns of a table that are equal to something."""
    equal = re.compile(rf"^{alias}\.(\w+) = | = {alias}\.(\w+)$")
    found = (equal.search(each) for each in conditions if " OR " not in each)
    return frozenset(each[1] or each[2] for each in found if each is not None)


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
                columns = connection.execute(f"PRAGMA index_info({name})").fetchall()
                found[name] = Index(name, table, bool(unique), tuple(column for _, _, column in columns))
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
