"""The queue's tests run on real stores, on every engine."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bullion.store.engine import Engine
from bullion.store.postgres import PostgresEngine
from tests.contract.conftest import MakeEngine, engine, engine_name, new_file  # noqa: F401 - fixtures
from tests.support.servers import Postgres

from .fixtures import Node, create_books

# As it was when it had just been made: quicker than another database, of which a server soon has hundreds.
_WIPE = """
DO $$ DECLARE each TEXT; BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);
    FOR each IN
        SELECT relname FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
            AND relname NOT IN ('migrations', 'catalogue', 'rates')
            AND pg_relation_size(oid) > 0  -- To open the others takes half of the time.
    LOOP
        EXECUTE format('DELETE FROM %I', each);
    END LOOP;
    UPDATE catalogue SET version = 0, oldest_change = 0;
    UPDATE rates SET version = 0;
END $$
"""


@pytest.fixture(scope="session")
def shared_database(postgres: Postgres, schema_template: str) -> str:
    return postgres.new_database(schema_template)


@pytest.fixture
def make_engine(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> MakeEngine:  # noqa: F811
    """Each call gives another node's engine on the same store."""
    if engine_name == "sqlite":
        return new_file(tmp_path)
    server: Postgres = request.getfixturevalue("postgres")
    address: str = request.getfixturevalue("shared_database")
    server.sql(_WIPE, address.rpartition("/")[2])
    return lambda: PostgresEngine(address)


@pytest.fixture
async def books(engine: Engine) -> list[int]:  # noqa: F811
    return await create_books(engine)


@pytest.fixture
async def node(engine: Engine, books: list[int]) -> Node:  # noqa: F811
    return await Node(engine).start()


@pytest.fixture
async def other_node(make_engine: MakeEngine, node: Node) -> AsyncIterator[Node]:
    """Another node on the same store."""
    second = make_engine()
    await second.open()
    yield await Node(second).start()
    await second.close()


@pytest.fixture
async def postgres_engine(postgres: Postgres, schema_template: str) -> AsyncIterator[PostgresEngine]:
    own = PostgresEngine(postgres.new_database(schema_template))
    await own.open()
    yield own
    await own.close()
