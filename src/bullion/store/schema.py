"""The numbered steps of the schema, which of them a store lacks, and which versions may use it.

The *level* of code is the last step that it knows. Each step names the oldest level that works with a store
in which it was taken, and the store keeps that number. So nodes of an older version stay in service while a
newer one is installed, and a version can be taken back. See docs/adr/0017-upgrades.md.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

# A column of a view in PostgreSQL's syntax, and in SQLite's.
_TIME = r"to_timestamp\(([\w.]+) / 1000000\.0\)"
_SQLITE_TIME = r"strftime('%Y-%m-%d %H:%M:%S', \1 / 1000000, 'unixepoch') || printf('.%06d+00', \1 % 1000000)"
_DECIMAL = r"([\w.]+) \* 0\.(0*1)\b"
_SQLITE_DECIMAL = (
    "iif({0} IS NULL, NULL, iif({0} < 0, '-', '') || printf('%d.%0{1}d', abs({0}) / 1{2}, abs({0}) % 1{2}))"
)
_FLAG = r"(?m)^(\s*)([\w.]+ <?= [\w.]+) AS"

_LOCK_S_MAX = 2


class SchemaMismatch(Exception):
    """The store's schema does not fit this version of Bullion. The message says what to do."""


class StepRefused(SchemaMismatch):
    """A step cannot be taken now. The message says why, and what to do."""


class TakenStep(NamedTuple):
    """A row of the table `migrations`."""

    number: int
    checksum: str
    oldest_level: int | None = None
    """As the step said when it was taken. None: only code that knows the step works with the store."""


@dataclass(frozen=True, slots=True)
class Step:
    """One file of `migrations`. Comment lines in it say how it is taken: see CONTRIBUTING.md."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return _checksum(self.sql)

    @property
    def oldest_level(self) -> int:
        """The oldest code that works with a store in which this step was taken."""
        said = re.search(r"(?m)^-- oldest level: (\d+)$", self.sql)
        return int(said[1]) if said else self.number

    @property
    def in_transaction(self) -> bool:
        return not re.search(r"(?m)^-- outside a transaction$", self.sql)

    @property
    def lock_s_max(self) -> int:
        """How long it may hold its locks, if it is taken in a transaction."""
        said = re.search(r"(?m)^-- locks at most: (\d+) s$", self.sql)
        return int(said[1]) if said else _LOCK_S_MAX

    @property
    def for_new_store(self) -> str:
        """The SQL for a new store, which is created in one transaction: no other session uses its tables."""
        return self.sql.replace(" CONCURRENTLY", "")


@cache
def _checksum(sql: str) -> str:
    """Kept, because a node compares all checksums twice a second."""
    return sha256(sql.encode()).hexdigest()


@cache
def steps(engine: str) -> tuple[Step, ...]:
    """All steps in order: `0007_name.sql`, then `0007_name.<engine>.sql` if there is one."""
    found: dict[str, str] = {}
    for file in sorted(
        files("bullion.store").joinpath("migrations").iterdir(), key=lambda file: file.name.count(".")
    ):
        stem, *own, ending = file.name.split(".")
        if ending == "sql" and own in ([], [engine]):
            found[stem] = found.get(stem, "") + file.read_text("utf-8")
    return tuple(Step(int(stem[:4]), stem[5:], sql) for stem, sql in sorted(found.items()))


def code_level(engine: str) -> int:
    """The schema level of this code: the number of the last step that it knows."""
    return steps(engine)[-1].number


def for_sqlite(sql: str) -> str:
    """A step in SQLite's syntax: INTEGER for BIGINT, strict tables, and text in the columns of views."""
    sql = sql.replace("BIGINT", "INTEGER")
    sql = re.sub(r"(?m)^\); -- SQLite: (.+)$", r") STRICT, \1;", sql)
    sql = re.sub(r"(?m)^\);", ") STRICT;", sql)
    sql = re.sub(_TIME, _SQLITE_TIME, sql)
    sql = re.sub(
        _DECIMAL, lambda found: _SQLITE_DECIMAL.format(found[1], len(found[2]), "0" * len(found[2])), sql
    )
    return re.sub(_FLAG, r"\1iif(\2, 'yes', 'no') AS", sql)


def require_own_tables(tables: set[str]) -> None:
    """Raise SchemaMismatch for tables of another program, such as `accounts` without `migrations`."""
    if tables & {"accounts", "brokers", "audit"} and "migrations" not in tables:
        raise SchemaMismatch(
            "BULLION_DATABASE_URL: this database has the tables of another program. Use an empty one."
        )


def missing_steps(engine: str, taken: Sequence[TakenStep]) -> Sequence[Step]:
    """The steps to take after those taken before. None for a newer store that this code still works with."""
    known = {step.number: step for step in steps(engine)}
    level = code_level(engine)
    for number, checksum, oldest_level in taken:
        step = known.get(number)
        if step is None and (oldest_level or number) > level:
            raise SchemaMismatch(
                f"The store is at schema step {number}, which works with schema level "
                f"{oldest_level or number} or later. This version of Bullion has level {level}. "
                "Run the version that migrated it, or a later one."
            )
        if step is not None and step.checksum != checksum:
            raise SchemaMismatch(
                f"Schema step {number} ({step.name}) of the store is not the one of this version of Bullion. "
                "Released steps never change. Run the version that created the store, or create a new store."
            )
    numbers = {step.number for step in taken}
    return [step for step in steps(engine) if step.number not in numbers]


def require_level(steps_to_take: Sequence[Step], levels_in_use: set[int]) -> None:
    """Raise StepRefused if a node that serves now would no longer work with the store."""
    oldest = min(levels_in_use, default=None)
    for step in steps_to_take:
        if oldest is not None and step.oldest_level > oldest:
            raise StepRefused(
                f"Schema step {step.number} ({step.name}) works with schema level {step.oldest_level} or "
                f"later, and a node of level {oldest} serves this store. Upgrade it first. "
                "'bullion migrate --force' takes the step anyway; that node then stops being ready."
            )


def statements(sql: str) -> list[str]:
    """Of a step outside a transaction: each ends with a semicolon at the end of a line."""
    code = "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
    return [each.strip() for each in re.split(r"(?m);\s*$", code) if each.strip()]


def is_repeated(statement: str) -> bool:
    """Outside a transaction, rows of a big table are changed some at a time, until none is left to change."""
    return re.match(r"(\s|--.*\n)*(UPDATE|DELETE)\b", statement) is not None
