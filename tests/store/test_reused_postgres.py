"""The store that tests on PostgreSQL share is as new for each of them."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.support.reused_postgres import CachedPostgresEngine, ConnectionCache, ReusedDatabase
from tests.support.servers import Postgres
from tests.support.simple_query import query

pytestmark = pytest.mark.anyio

_CONTENT = """
SELECT relname, CASE relkind
    WHEN 'r' THEN table_to_xml(oid, true, true, '') ELSE query_to_xml(
        format('SELECT last_value, is_called FROM %I', relname), true, true, ''
    ) END
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') ORDER BY relname
"""
_FILL = """
DO $$ DECLARE each RECORD; BEGIN
    SET session_replication_role = replica;
    FOR each IN
        SELECT conrelid::regclass AS of_table, conname FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND contype = 'c'
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', each.of_table, each.conname);
    END LOOP;
    FOR each IN
        SELECT table_name, string_agg(CASE data_type WHEN 'text' THEN '''x''' ELSE '77777' END, ', '
            ORDER BY ordinal_position) AS row
        FROM information_schema.columns NATURAL JOIN information_schema.tables
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE' GROUP BY table_name
    LOOP
        EXECUTE format('INSERT INTO %I VALUES (%s)', each.table_name, each.row);
    END LOOP;
    UPDATE catalogue SET version = 7;
    PERFORM nextval(oid) FROM pg_class WHERE relkind = 'S';
END $$
"""


@pytest.fixture
def database(postgres: Postgres, schema_template: str) -> Iterator[ReusedDatabase]:
    made = ReusedDatabase(postgres, schema_template)
    yield made
    made.drop()


def content(postgres: Postgres, name: str) -> dict[str, str]:
    return {table: xml for table, xml in query(postgres.port, name, _CONTENT)}  # noqa: C416 - for its type


def test_every_table_and_sequence_is_as_in_a_new_database(
    postgres: Postgres, schema_template: str, database: ReusedDatabase
) -> None:
    name = database.address.rpartition("/")[2]
    new = content(postgres, schema_template)
    query(postgres.port, name, _FILL)
    filled = content(postgres, name)
    assert [table for table in new if filled[table] == new[table]] == []
    database.delete_rows()
    assert content(postgres, name) == new


async def test_a_test_that_changes_tables_leaves_a_new_database(database: ReusedDatabase) -> None:
    first, cache = database.address, ConnectionCache()
    for statement, stays in (
        ("UPDATE catalogue SET version = 8", True),
        ("BEGIN; DROP TABLE orders CASCADE; ROLLBACK", True),
        ("ALTER TABLE brokers ADD COLUMN note TEXT", False),
    ):
        engine = CachedPostgresEngine(database.address, cache)
        await engine.open()
        async with engine._connection() as connection:
            await connection.execute(statement)
        await engine.close()
        assert database.empty(await cache.reset()) is stays
        assert (database.address == first) is stays
    cache.close()


async def test_connections_are_kept_and_what_a_test_left_open_is_ended(database: ReusedDatabase) -> None:
    cache = ConnectionCache()
    first, left = (CachedPostgresEngine(database.address, cache) for _ in range(2))
    await first.open()
    await left.open()
    async with first._connection() as connection:
        kept = connection.get_server_pid()
        await connection.execute("SET work_mem = '1MB'; SELECT pg_advisory_lock(7)")
    async with left._connection() as leftover:
        await leftover.execute("BEGIN; UPDATE catalogue SET version = 9")  # Its lock would stop us.
        await first.close()
        database.empty(await cache.reset())
    async with asyncio.timeout(5):
        while not leftover.is_closed():
            await asyncio.sleep(0.001)
    await left.close()
    again = CachedPostgresEngine(database.address, cache)
    await again.open()
    async with again._connection() as connection:
        assert connection.get_server_pid() == kept
        assert await connection.fetchval("SHOW work_mem") != "1MB"
        assert await connection.fetchval("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0
        assert await connection.fetchval("SELECT version FROM catalogue") == 0
    await again.close()
    await cache.reset()
    cache.close()
