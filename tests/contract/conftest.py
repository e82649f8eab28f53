"""The engines that the store's tests run on. Another engine joins by one more entry here."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bullion.store.engine import Engine
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine
from tests.support.servers import Postgres

MakeEngine = Callable[[], Engine]


@pytest.fixture(params=["sqlite", "postgres"])
def engine_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make_engine(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> MakeEngine:
    """Each call gives another node's engine on the same store."""
    if engine_name == "sqlite":
        return lambda: SqliteEngine(tmp_path / "store" / "bullion.db")
    server: Postgres = request.getfixturevalue("postgres")
    address = server.new_database()
    return lambda: PostgresEngine(address)


@pytest.fixture
async def engine(make_engine: MakeEngine) -> AsyncIterator[Engine]:
    engine = make_engine()
    await engine.open()
    await engine.migrate()
    yield engine
    await engine.close()


@pytest.fixture
async def other_engine(make_engine: MakeEngine, engine: Engine) -> AsyncIterator[Engine]:
    other = make_engine()
    await other.open()
    yield other
    await other.close()
