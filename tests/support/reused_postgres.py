"""A PostgreSQL store that is emptied after each test, and connections that outlive a test.

A database and connections of a test's own cost PostgreSQL 90 ms of a core. A third of it is for the database.
The rest is for new sessions, which have read no table's description and prepared no query.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import asyncpg

from bullion.store.postgres import POOL_SIZE

from .held_queries import WatchedPostgresEngine
from .servers import Postgres
from .simple_query import SimpleSession

Connection = Any

_TABLES = """
SELECT relname, relkind, oid FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S')
ORDER BY relname
"""
_SCHEMA = """
CREATE SCHEMA testing;

-- Rows only if the test has changed tables, views or functions.
CREATE TABLE testing.ddl (tag TEXT);
CREATE FUNCTION testing.note_ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO testing.ddl VALUES (tg_tag);
END $$;

CREATE FUNCTION testing.end_sessions(kept INT[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    this_database OID := (SELECT oid FROM pg_database WHERE datname = current_database());
BEGIN
    LOOP
        PERFORM pg_terminate_backend(pid) FROM pg_stat_get_activity(NULL)
        WHERE datid = this_database AND backend_type = 'client backend'
            AND pid <> pg_backend_pid() AND pid <> ALL (kept);
        EXIT WHEN NOT found;
        PERFORM pg_sleep(0.001);
        PERFORM pg_stat_clear_snapshot();
    END LOOP;
END $$;

CREATE FUNCTION testing.empty() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    used OID[] := ARRAY(
        SELECT oid FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0
    );
BEGIN
    {statements}
END $$;

CREATE EVENT TRIGGER note_ddl ON ddl_command_end EXECUTE FUNCTION testing.note_ddl();
"""


class ReusedDatabase:
    """A copy of a template, for one test after the other."""

    def __init__(self, server: Postgres, template: str) -> None:
        self._server = server
        self._template = template
        self._make()

    def _make(self) -> None:
        self.address = self._server.new_database(self._template)
        self._session = SimpleSession(self._server.port, self.address.rpartition("/")[2])
        statements = "\n    ".join(self._emptying())
        self._session.query(_SCHEMA.format(statements=statements))
        # Without triggers and foreign keys, so that the order of the tables does not matter.
        self._session.query("SET session_replication_role = replica")

    def _emptying(self) -> Iterator[str]:
        """The statements that make every table and sequence what it is now."""
        for name, kind, oid in self._session.query(_TABLES):
            if kind == "S":
                ((last, is_called),) = self._session.query(f"SELECT last_value, is_called FROM {name}")
                yield f"PERFORM setval('{name}', {last}, '{is_called}');"
                continue
            yield f"IF {oid} = ANY (used) THEN DELETE FROM {name}; END IF;"
            if self._session.query(f"SELECT 1 FROM {name} LIMIT 1"):
                self._session.query(
                    f"CREATE SCHEMA IF NOT EXISTS seeds; CREATE TABLE seeds.{name} AS TABLE {name}"
                )
                yield f"INSERT INTO {name} SELECT * FROM seeds.{name};"

    def empty(self, kept: Iterable[int] = ()) -> bool:
        """Make it as it was when it was new. False: another one takes its place, because tables were changed.

        `kept`: the processes of sessions that may stay. All others are ended, as leftovers of the test.
        """
        self.end_sessions(kept)
        if self._session.query("SELECT 1 FROM testing.ddl LIMIT 1"):
            self.drop()
            self._make()
            return False
        self.delete_rows()
        return True

    def delete_rows(self) -> None:
        self._session.query("SELECT testing.empty()")

    def end_sessions(self, kept: Iterable[int] = ()) -> None:
        self._session.query(f"SELECT testing.end_sessions('{{{','.join(map(str, kept))}}}')")

    def drop(self) -> None:
        self._session.close()
        self._server.drop(self.address)


class ConnectionCache:
    """Connections of engines that were closed, for the next test's engines. They belong to one event loop."""

    def __init__(self) -> None:
        self._ready: list[Connection] = []
        self._returned: list[Connection] = []

    def take(self) -> Connection | None:
        while self._ready:
            connection = self._ready.pop()
            if not connection.is_closed():
                return connection
        return None

    def put(self, connections: Iterable[Connection]) -> None:
        """For the tests that follow. Whoever opens the store again in this test gets new sessions."""
        self._returned += connections

    async def reset(self) -> Sequence[int]:
        """Make the returned ones ready for the next test. The processes of all sessions that are kept."""
        for connection in self._returned:
            try:
                await connection.reset(timeout=5)
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
                connection.terminate()
        open_ones = [each for each in (*self._ready, *self._returned) if not each.is_closed()]
        self._ready, more = open_ones[-POOL_SIZE:], open_ones[:-POOL_SIZE]
        self._returned = []
        for connection in more:
            connection.terminate()
        return [each.get_server_pid() for each in self._ready]

    def close(self) -> None:
        for connection in (*self._ready, *self._returned):
            connection.terminate()
        self._ready, self._returned = [], []


class CachedPostgresEngine(WatchedPostgresEngine):
    """Its pool takes connections from a cache, and leaves them there when it is closed."""

    def __init__(self, url: str, cache: ConnectionCache) -> None:
        super().__init__(url)
        self._cache = cache

    async def _connect(self) -> Connection:
        connection = self._cache.take()
        if connection is None:
            return await super()._connect()
        try:
            await self._check_timeline(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def close(self) -> None:
        if self._pool is not None:
            idle, self._pool._idle = self._pool._idle, []
            self._pool._unopened += len(idle)
            self._cache.put(idle)
        await super().close()
