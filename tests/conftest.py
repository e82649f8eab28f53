"""What every test may use."""

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from bullion.store.postgres import PostgresEngine
from tests.support.migrated_store import migrate
from tests.support.order_of_tests import spread
from tests.support.quick import forbid_processes, is_quick
from tests.support.scale import SCALE
from tests.support.servers import NotInstalled, Postgres, Redis, missing
from tests.support.stacks import in_turn

# The machine may be busy: an example that takes long is not a failure.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

# There is no TLS on loopback. Without this, each HTTP client of the tests and of the processes they start
# loads all certificates of the machine. That takes 50 ms of a core, and tests make hundreds of clients.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)

_LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="only tests that start no process and are not marked slow"
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected lives to the end of the run, so the garbage collector need not look through it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests that share a fixture of their file run in one worker: what it starts is started once a stack."""
    if not isinstance(item, pytest.Function) or item.get_closest_marker("xdist_group") is not None:
        return
    if not item.config.pluginmanager.hasplugin("xdist"):
        return
    fixtures = item._fixtureinfo.name2fixturedefs
    shared = [name for name, defined in fixtures.items() if defined[-1].scope == "module"]
    if shared:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        chosen = [str(parameters[name]) for name in shared if name in parameters]
        item.add_marker(pytest.mark.xdist_group("-".join([item.path.parent.name, item.path.stem, *chosen])))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not any("::" in each for each in config.args):  # Whoever names a test wants that one.
        items[:] = in_turn(item for item in items if SCALE > 1 or not item.get_closest_marker("campaign"))
    if getattr(config.option, "loadgroup", False):
        items[:] = spread(items)
    if not config.getoption("quick"):
        return
    forbid_processes()
    left_out = [item for item in items if not is_quick(item)]
    slow = set(left_out)
    items[:] = [item for item in items if item not in slow]
    config.hook.pytest_deselected(items=left_out)
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = len(left_out)
    config.stash[_LEFT_OUT] = len(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker has ended. Every worker leaves out the same tests. One that crashed says nothing of it."""
    if hasattr(node, "workeroutput"):
        node.config.stash[_LEFT_OUT] = node.workeroutput.get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("quick"):
        left_out = config.stash.get(_LEFT_OUT, 0)
        terminalreporter.write_line(f"--quick left out {left_out} tests. 'make test' runs them all.")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """For `-n auto`: more than one for each core, as a good part of the tests waits for leases and pauses."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 2 * cores + 2


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The event loop that the service runs on."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    try:
        yield server.make()
    except NotInstalled as error:
        missing(error, "postgresql redis-server")
    finally:
        server.remove()


@pytest.fixture(scope="session")
def schema_template(postgres: Postgres) -> str:
    """A database with the tables of this version, for `new_database`: a copy is cheaper than migrating."""
    address = postgres.new_database()
    migrate(PostgresEngine(address))
    return address.rpartition("/")[2]


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    server = Redis()
    try:
        yield server.start()
    except NotInstalled as error:
        missing(error, "postgresql redis-server")
    finally:
        server.remove()
