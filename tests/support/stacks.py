"""The two deployments that the acceptance tests run on."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis

STACKS = ["sqlite", "postgres"]
_OVER_HTTP = {"acceptance", "desk"}
"""Folders of tests that reach the store through a running node."""


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
    """Of tests over HTTP, each case on one stack: the first on SQLite, the next on PostgreSQL.

    Every case is tried, and both stacks are, but not every case on both: what differs between the stores is
    told by the tests of the store's contract. Tests marked `both_stacks` run on both, and in a campaign all
    do, but for those marked `stacks_in_turn`. With its argument `only`, all of them run on that stack.
    """
    turns: dict[Path, dict[tuple[str, str], int]] = defaultdict(dict)
    for item in items:
        name = _stack_of(item)
        marker = item.get_closest_marker("stacks_in_turn")
        if name is None or (marker is None and not _over_http(item)):
            yield item
            continue
        assert isinstance(item, pytest.Function)
        cases = turns[item.path]
        turn = cases.setdefault((item.originalname, item.callspec.id.replace(name, "", 1)), len(cases))
        only = marker.kwargs.get("only") if marker else None
        if (only or STACKS[turn % len(STACKS)]) == name:
            yield item


def _stack_of(item: pytest.Item) -> str | None:
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return None
    return next((str(value) for value in item.callspec.params.values() if value in STACKS), None)


def _over_http(item: pytest.Item) -> bool:
    if SCALE > 1 or item.get_closest_marker("both_stacks") is not None:
        return False
    return item.path.parent.name in _OVER_HTTP
