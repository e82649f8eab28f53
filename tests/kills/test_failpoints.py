"""A node that dies at a named place, and another one that is started on what it left."""

import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.support.failpoints import ARMED, POINTS
from tests.support.node import running, start, until
from tests.support.scale import SCALE
from tests.support.stacks import STACKS, stack

from .fixtures import Deployment, flood

AT_ONCE = 4
ORDERS = 5 if SCALE == 1 else 6
"""Of each client, one of them a test order."""
NAMES = [name for name, point in POINTS.items() if point.often or SCALE > 1]
# Between two transactions it is the same which engine keeps what was committed.
_ON_SQLITE = [pytest.mark.stacks_in_turn(only="sqlite")] if SCALE == 1 else []
CASES = [pytest.param(name, marks=[] if POINTS[name].inside else _ON_SQLITE) for name in NAMES]


def dies_at(name: str, deployment: Deployment) -> None:
    folder = deployment.folder
    node = start(folder, "tests.support.failpoints", KILL_AT=name, **deployment.settings)
    try:
        deployment.wishes(1)
        deployment.learn_all(node)
        programs = deployment.wishes(ORDERS)
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
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """Brokers and clients without an order. Each death has a copy of it."""
    prepared = Deployment(tmp_path_factory.mktemp("prepared"), stack(request.param, request))
    with running(prepared.folder, **prepared.settings) as node:
        prepared.set_up(node)
    return prepared


@pytest.fixture(scope="module")
def deaths(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, prepared: Deployment
) -> Iterator[dict[str, "Future[None]"]]:
    """Each has a store of its own, and mostly waits: so a few at once."""
    address = prepared.settings.get("BULLION_DATABASE_URL")
    wanted = {
        item.callspec.params["name"]
        for item in request.session.items
        if hasattr(item, "callspec")
        and item.nodeid.startswith(request.node.nodeid)
        and item.callspec.params["prepared"] == ("postgres" if address else "sqlite")
    }
    deployments = {}
    for seed, name in enumerate(NAMES):
        if name in wanted:
            folder = tmp_path_factory.mktemp(name)
            shutil.copytree(prepared.folder, folder, dirs_exist_ok=True)
            settings = stack("postgres", request, address) if address else {}
            deployments[name] = prepared.copy(folder, settings, seed)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {name: pool.submit(dies_at, name, own) for name, own in deployments.items()}


@pytest.mark.parametrize("name", CASES)
def test_a_node_that_dies_leaves_nothing_undone_and_nothing_done_twice(
    deaths: dict[str, "Future[None]"], name: str
) -> None:
    deaths[name].result()
