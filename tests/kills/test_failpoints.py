"""A node that dies at a named place, and another one that is started on what it left."""

import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.failpoints import ARMED, POINTS
from tests.support.node import running, start, until
from tests.support.stacks import STACKS, stack

from .fixtures import Deployment, flood
from .scale import SCALE

AT_ONCE = 4
NAMES = [name for name, point in POINTS.items() if point.often or SCALE > 1]


def dies_at(name: str, folder: Path, settings: dict[str, str]) -> None:
    deployment = Deployment(folder, settings, seed=NAMES.index(name))
    node = start(folder, "tests.support.failpoints", KILL_AT=name, **deployment.settings)
    try:
        deployment.set_up(node)
        deployment.wishes(1)
        deployment.learn_all(node)
        programs = deployment.wishes(6)
        # One client's program runs twice: it sends the same keys at the same time.
        twice = programs[0]
        (folder / "arming").write_text(str(POINTS[name].time))
        (folder / "arming").rename(folder / ARMED)
        flood([(node, wishes) for wishes in [*programs, twice]])
        until(lambda: node.process.poll() is not None, within_s=30)  # Or it never got there.
        assert node.process.returncode == -signal.SIGKILL
    finally:
        node.stop(signal.SIGKILL)
    deployment.check(dead=True)
    with running(folder, **deployment.settings) as plain:
        deployment.learn_all(plain)
        deployment.check()
        deployment.settle(plain)
        deployment.conclude(plain)


@pytest.fixture(scope="module", params=STACKS)
def deaths(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, "Future[None]"]]:
    """Each has a store of its own, and mostly waits: so a few at once."""
    wanted = {
        item.callspec.params["name"]
        for item in request.session.items
        if hasattr(item, "callspec") and item.nodeid.startswith(request.node.nodeid)
    }
    settings = {name: stack(request.param, request) for name in NAMES if name in wanted}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            name: pool.submit(dies_at, name, tmp_path_factory.mktemp(name), own)
            for name, own in settings.items()
        }


@pytest.mark.parametrize("name", NAMES)
def test_a_node_that_dies_leaves_nothing_undone_and_nothing_done_twice(
    deaths: dict[str, "Future[None]"], name: str
) -> None:
    deaths[name].result()
