"""The engines that the store's tests run on. Another engine joins by one more entry here."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bullion.store.engine import Engine
from bullion.store.sqlite import SqliteEngine


def _sqlite(folder: Path) -> Engine:
    return SqliteEngine(folder / "store" / "bullion.db")


ENGINES: dict[str, Callable[[Path], Engine]] = {"sqlite": _sqlite}


@pytest.fixture(params=sorted(ENGINES))
def make_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Engine]:
    """Each call gives another node's engine on the same store."""
    return lambda: ENGINES[request.param](tmp_path)


@pytest.fixture
async def engine(make_engine: Callable[[], Engine]) -> AsyncIterator[Engine]:
    engine = make_engine()
    await engine.open()
    await engine.migrate()
    yield engine
    await engine.close()


@pytest.fixture
async def other_engine(make_engine: Callable[[], Engine], engine: Engine) -> AsyncIterator[Engine]:
    other = make_engine()
    await other.open()
    yield other
    await other.close()
