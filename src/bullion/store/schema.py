"""The numbered steps that make the schema, and which of them a store still needs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

# A column of a view in PostgreSQL's words, and how SQLite writes it.
_TIME = r"to_timestamp\(([\w.]+) / 1000000\.0\)"
_SQLITE_TIME = r"strftime('%Y-%m-%d %H:%M:%S', \1 / 1000000, 'unixepoch') || printf('.%06d+00', \1 % 1000000)"
_DECIMAL = r"([\w.]+) \* 0\.(0*1)\b"
_SQLITE_DECIMAL = (
    "iif({0} IS NULL, NULL, iif({0} < 0, '-', '') || printf('%d.%0{1}d', abs({0}) / 1{2}, abs({0}) % 1{2}))"
)
_FLAG = r"(?m)^(\s*)([\w.]+ <?= [\w.]+) AS"


class SchemaMismatch(Exception):
    """The store has the schema of another version. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return sha256(self.sql.encode()).hexdigest()


@cache
def steps(engine: str) -> tuple[Step, ...]:
    """All steps in order: `0007_name.sql`, and behind it `0007_name.<engine>.sql` if there is one."""
    found: dict[str, str] = {}
    for file in sorted(
        files("bullion.store").joinpath("migrations").iterdir(), key=lambda file: file.name.count(".")
    ):
        stem, *own, ending = file.name.split(".")
        if ending == "sql" and own in ([], [engine]):
            found[stem] = found.get(stem, "") + file.read_text("utf-8")
    return tuple(Step(int(stem[:4]), stem[5:], sql) for stem, sql in sorted(found.items()))


def for_sqlite(sql: str) -> str:
    """A step in SQLite's words: INTEGER for BIGINT, strict tables, and text in the columns of views."""
    sql = sql.replace("BIGINT", "INTEGER")
    sql = re.sub(r"(?m)^\); -- SQLite: (.+)$", r") STRICT, \1;", sql)
    sql = re.sub(r"(?m)^\);", ") STRICT;", sql)
    sql = re.sub(_TIME, _SQLITE_TIME, sql)
    sql = re.sub(
        _DECIMAL, lambda found: _SQLITE_DECIMAL.format(found[1], len(found[2]), "0" * len(found[2])), sql
    )
    return re.sub(_FLAG, r"\1iif(\2, 'yes', 'no') AS", sql)


def check_ours(tables: set[str]) -> None:
    """A database with an `accounts` but no `migrations` table belongs to something else: leave it alone."""
    if tables & {"accounts", "brokers", "audit"} and "migrations" not in tables:
        raise SchemaMismatch(
            "BULLION_DATABASE_URL: this database holds the tables of something else. Name an empty one."
        )


def still_to_take(engine: str, taken: Sequence[tuple[int, str]]) -> Sequence[Step]:
    """The steps to take after those taken before, given as number and checksum."""
    known = {step.number: step for step in steps(engine)}
    for number, checksum in taken:
        step = known.get(number)
        if step is None:
            raise SchemaMismatch(
                f"The store is at schema step {number}, which this version of Bullion does not know. "
                "Run the version that made it, or a later one."
            )
        if step.checksum != checksum:
            raise SchemaMismatch(
                f"Schema step {number} ({step.name}) of the store is not the one of this version of Bullion. "
                "Released steps never change. Run the version that made the store, or make a new store."
            )
    last = max((number for number, _ in taken), default=0)
    return [step for step in steps(engine) if step.number > last]
