"""The engines that the store's tests run on. Another engine joins by one more entry here."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.desk.desk import Desk
from bullion.store.engine import Engine
from bullion.store.records import Records
from bullion.store.sqlite import SqliteEngine
from tests.support.held_queries import WatchedPostgresEngine
from tests.support.migrated_store import copy_migrated
from tests.support.servers import Postgres

from .desk_over import desk_over

MakeEngine = Callable[[], Engine]


@pytest.fixture(params=["sqlite", "postgres"])
def engine_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_store(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> MakeEngine:
    """Each call gives another node's engine on the same store, which has no tables yet."""
    if engine_name == "sqlite":
        return lambda: SqliteEngine(tmp_path / "store" / "bullion.db")
    return _new_database(request, "template1")


@pytest.fixture
def make_engine(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> MakeEngine:
    """Each call gives another node's engine on the same store, which has its tables and no rows."""
    if engine_name == "sqlite":
        return new_file(tmp_path)
    if "anyio_backend" not in request.fixturenames:  # It has an event loop of its own.
        return _new_database(request, request.getfixturevalue("schema_template"))
    make: MakeEngine = request.getfixturevalue("reused_store")
    return make


@pytest.fixture
async def loop_task(anyio_backend: object) -> "asyncio.Task[object]":
    """The task that runs a test and its fixtures."""
    task = asyncio.current_task()
    assert task is not None
    return task


@pytest.fixture(autouse=True)
def end_tasks(loop_task: "asyncio.Task[object]") -> Iterator[None]:
    """Cancel the tasks that a test has left, also where its event loop goes on: see `connection_cache`."""
    yield
    loop = loop_task.get_loop()
    left = asyncio.all_tasks(loop) - {loop_task}
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))


def new_file(folder: Path) -> MakeEngine:
    path = folder / "store" / "bullion.db"
    copy_migrated(path)
    return lambda: SqliteEngine(path)


def _new_database(request: pytest.FixtureRequest, template: str) -> MakeEngine:
    server: Postgres = request.getfixturevalue("postgres")
    address = server.new_database(template)
    request.addfinalizer(lambda: server.drop(address))
    return lambda: WatchedPostgresEngine(address)


@pytest.fixture
async def engine(make_engine: MakeEngine) -> AsyncIterator[Engine]:
    engine = make_engine()
    await engine.open()
    yield engine
    await engine.close()


@pytest.fixture
async def other_engine(make_engine: MakeEngine, engine: Engine) -> AsyncIterator[Engine]:
    other = make_engine()
    await other.open()
    yield other
    await other.close()


@pytest.fixture
async def desk(engine: Engine) -> Desk:
    """With two brokers that have a group each."""
    desk = desk_over(engine)

    async def body(records: Records) -> None:
        for tag in ("main", "other"):
            await records.put_broker(Broker(tag, tag))
            await records.put_group(Group(tag, "retail", trading=True, terms={}, default_terms=None))

    await desk.store.write("brokers", body)
    return desk
