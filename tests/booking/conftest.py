"""The queue's tests run on real stores, on every engine."""

from collections.abc import AsyncIterator, Callable

import pytest

from bullion.store.engine import Engine
from bullion.store.postgres import PostgresEngine
from tests.contract.conftest import (  # noqa: F401 - fixtures
    MakeEngine,
    end_tasks,
    engine,
    engine_name,
    loop_task,
    make_engine,
)

from .fixtures import Node, create_books


@pytest.fixture
async def books(engine: Engine) -> list[int]:  # noqa: F811
    return await create_books(engine)


@pytest.fixture
async def node(engine: Engine, books: list[int]) -> Node:  # noqa: F811
    return await Node(engine).start()


@pytest.fixture
async def other_node(make_engine: MakeEngine, node: Node) -> AsyncIterator[Node]:  # noqa: F811
    """Another node on the same store."""
    second = make_engine()
    await second.open()
    yield await Node(second).start()
    await second.close()


@pytest.fixture
async def postgres_engine(reused_store: Callable[[], PostgresEngine]) -> AsyncIterator[PostgresEngine]:
    own = reused_store()
    await own.open()
    yield own
    await own.close()
