"""The two deployments that the acceptance tests run on."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.group_scope import GroupScope
from tests.support.node import Node, shared
from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis

STACKS = ["sqlite", "postgres"]
_OVER_HTTP = {"acceptance", "desk"}
"""Folders of tests that reach the store through a running node."""
_FILES_OF_A_GROUP = 5
"""Every broker that a test makes costs its node some work each second, so a node is not kept for longer."""
_files: dict[Path, dict[Path, int]] = defaultdict(dict)
"""Of each folder, in the order in which they are collected."""


def stack(
    name: str,
    request: pytest.FixtureRequest,
    template: str | None = None,
    at_end: Callable[[Callable[[], None]], object] | None = None,
) -> dict[str, str]:
    """The settings of a deployment: on a laptop, or with the servers that a broker runs in earnest.

    Its database has no rows, unless it is to be a copy of the database with the address `template`. It is
    dropped after the fixture that asks for it, or when `at_end` calls what it is given.
    """
    if name == "sqlite":
        return {}
    postgres: Postgres = request.getfixturevalue("postgres")
    redis: Redis = request.getfixturevalue("redis")
    original = template.rpartition("/")[2] if template else request.getfixturevalue("schema_template")
    address = postgres.new_database(original)
    (at_end or request.addfinalizer)(lambda: postgres.drop(address))
    return {"BULLION_DATABASE_URL": address, "BULLION_REDIS_URL": redis.url}


def shared_node(request: pytest.FixtureRequest, **settings: str) -> Node:
    """A node on the stack that the fixture has as its parameter, for the tests of a group."""
    group_scope: GroupScope = request.getfixturevalue("group_scope")
    name = "-".join([request.param, *(f"{key}={value}" for key, value in settings.items())])

    @contextmanager
    def running() -> Iterator[Node]:
        folders: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
        with ExitStack() as at_end:
            on = stack(request.param, request, at_end=at_end.callback)
            yield at_end.enter_context(shared(folders.mktemp("node"), **settings, **on))

    return group_scope.get(request, name, running)


def group_neighbours(item: pytest.Item, *nodes: str) -> None:
    """Put tests of a few files in one group, if they use such a node of their folder on the same stack.

    To start a node and to fill its caches takes as long as a few tests.
    """
    assert isinstance(item, pytest.Function)
    folder = _files[item.path.parent]
    number = folder.setdefault(item.path, len(folder)) // _FILES_OF_A_GROUP
    fixtures = item._fixtureinfo.name2fixturedefs
    in_file = item.nodeid.partition("::")[0]
    used = any(name in fixtures and fixtures[name][-1].baseid != in_file for name in nodes)
    on = _stack_of(item)
    if used and on and item.get_closest_marker("one_worker") is None:
        item.add_marker(pytest.mark.one_worker(f"{item.path.parent.name}-{number}-{on}"))


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
