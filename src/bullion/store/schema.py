"""The numbered steps that make the schema, and the rule by which they are taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files


class SchemaMismatch(Exception):
    """The store was made by other code than this. Its message says what to do."""


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
    """All steps in order. One that an engine needs in its own words is a file `0007_name.<engine>.sql`."""
    found = []
    for file in files("bullion.store").joinpath("migrations").iterdir():
        stem, *own, ending = file.name.split(".")
        if ending == "sql" and own in ([], [engine]):
            number, _, name = stem.partition("_")
            found.append(Step(int(number), name, file.read_text("utf-8")))
    found.sort(key=lambda step: step.number)
    return tuple(found)


def check_ours(tables: set[str]) -> None:
    """A database that has an `accounts` but no `migrations` table is somebody else's: leave it alone."""
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
                "Steps are never changed once released; restore the file, or make a new store."
            )
    last = max((number for number, _ in taken), default=0)
    return [step for step in steps(engine) if step.number > last]
