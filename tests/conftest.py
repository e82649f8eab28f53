"""What every test may use."""

import gc
import os
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from bullion.store.postgres import PostgresEngine
from tests.support import httpx_shortcuts, parallel
from tests.support.forked_process import end_fork_server, fork_server
from tests.support.group_scope import GroupScope
from tests.support.migrated_store import migrate
from tests.support.order_of_tests import spread
from tests.support.quick import forbid_processes, is_quick
from tests.support.reused_postgres import CachedPostgresEngine, ConnectionCache, ReusedDatabase
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

# In the plainest form: tracebacks in colours and frames took a tenth of the workers' time.
structlog.configure(
    processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()]
)

httpx_shortcuts.take()

_LEFT_OUT = pytest.StashKey[int]()
_group_scope = GroupScope()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.register(parallel)
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
    if not isinstance(item, pytest.Function) or item.get_closest_marker("one_worker") is not None:
        return
    fixtures = item._fixtureinfo.name2fixturedefs
    shared = [name for name, defined in fixtures.items() if defined[-1].scope == "module"]
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    if parameters.get("engine_name") == "postgres":  # They share connections: see `reused_store`.
        shared.append("engine_name")
    if shared:
        chosen = [str(parameters[name]) for name in shared if name in parameters]
        item.add_marker(pytest.mark.one_worker("-".join([item.path.parent.name, item.path.stem, *chosen])))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not any("::" in each for each in config.args):  # Whoever names a test wants that one.
        items[:] = in_turn(item for item in items if SCALE > 1 or not item.get_closest_marker("campaign"))
    if config.getoption("workers") != "0":
        items[:] = spread(items)
    if not config.getoption("quick"):
        return
    left_out = [item for item in items if not is_quick(item)]
    slow = set(left_out)
    items[:] = [item for item in items if item not in slow]
    config.hook.pytest_deselected(items=left_out)
    config.stash[_LEFT_OUT] = len(left_out)


def pytest_sessionstart(session: pytest.Session) -> None:
    """The fork server of all workers, which are forks of this process: to start one for each takes longer.

    It imports the service while this process collects the tests.
    """
    options = session.config.option
    if options.workers != "0" and not options.quick and not options.collectonly:
        fork_server()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    if item.config.getoption("quick"):
        forbid_processes()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    if nextitem is None and item.parent is not None:  # All servers end with this test, but these first.
        item.parent.addfinalizer(_group_scope.close)
    try:
        return (yield)
    finally:
        if nextitem is None or parallel.group_name(nextitem) != parallel.group_name(item):
            _group_scope.close()


def pytest_unconfigure() -> None:
    end_fork_server()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("quick"):
        left_out = config.stash.get(_LEFT_OUT, 0)
        terminalreporter.write_line(f"--quick left out {left_out} tests. 'make test' runs them all.")


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The event loop that the service runs on."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="session")
def group_scope() -> GroupScope:
    """For what all tests of a group share: see `parallel.group_name`."""
    return _group_scope


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
def reused_database(postgres: Postgres, schema_template: str) -> Iterator[ReusedDatabase]:
    database = ReusedDatabase(postgres, schema_template)
    yield database
    database.drop()


@pytest.fixture(scope="module")
async def connection_cache() -> AsyncIterator[ConnectionCache]:
    """While it is there, the tests of the module share an event loop."""
    cache = ConnectionCache()
    yield cache
    cache.close()


@pytest.fixture
async def reused_store(
    reused_database: ReusedDatabase, connection_cache: ConnectionCache
) -> AsyncIterator[Callable[[], PostgresEngine]]:
    """Each call gives another node's engine on the same store, which has its tables and no rows."""
    yield lambda: CachedPostgresEngine(reused_database.address, connection_cache)
    if not reused_database.empty(await connection_cache.reset()):
        connection_cache.close()


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    server = Redis()
    try:
        yield server.start()
    except NotInstalled as error:
        missing(error, "postgresql redis-server")
    finally:
        server.remove()
