"""The two deployments that the acceptance tests run on."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.servers import Postgres, Redis

STACKS = ["sqlite", "postgres"]


def stack(name: str, request: pytest.FixtureRequest, template: str | None = None) -> dict[str, str]:
    """The settings of a deployment: on a laptop, or with the servers that a broker runs in earnest.

    Its database has no rows, unless it is to be a copy of the database with the address `template`. It is
    dropped after the fixture that asks for it.
    """
    if name == "sqlite":
        return {}
    postgres: Postgres = request.getfixturevalue("postgres")
    redis: Redis = request.getfixturevalue("redis")
    original = template.rpartition("/")[2] if template else request.getfixturevalue("schema_template")
    address = postgres.new_database(original)
    request.addfinalizer(lambda: postgres.drop(address))
    return {"BULLION_DATABASE_URL": address, "BULLION_REDIS_URL": redis.url}


def in_turn(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Of tests marked `stacks_in_turn`, each case on one stack: the first on SQLite, the next on PostgreSQL.

    It is for tests with many cases that are decided before the store is asked, and for files with many tests
    of one thing: every case is tried, and both stacks are, but not every case on both. With the argument
    `only`, all of them run on that stack.
    """
    turns: dict[Path, dict[tuple[str, str], int]] = defaultdict(dict)
    for item in items:
        marker = item.get_closest_marker("stacks_in_turn")
        if marker is None:
            yield item
            continue
        assert isinstance(item, pytest.Function)
        name = str(item.callspec.params["node"])
        cases = turns[item.path]
        turn = cases.setdefault((item.originalname, item.callspec.id.replace(name, "", 1)), len(cases))
        if (marker.kwargs.get("only") or STACKS[turn % len(STACKS)]) == name:
            yield item
