"""The shared engine: PostgreSQL 15 and later, for any number of nodes.

Several hosts may be named in the address; the one that takes writes is used, so that a fail-over is followed.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import asyncpg
import structlog

from bullion.faults import OutcomeUnknown, StoreConflict, StoreFault, StoreUnavailable

from . import postgres_migration, prepared_queries, queries, schema
from .engine import Row, Transaction, Value
from .postgres_faults import LOST, OUTDATED, address_faults, faults, told_by_server
from .postgres_hosts import Hosts
from .postgres_pool import Connection, Pool
from .postgres_silence import (
    KEEPALIVE_COUNT,
    KEEPALIVE_IDLE_S,
    KEEPALIVE_INTERVAL_S,
    Session,
    SilenceWatch,
    identify,
    keep_alive,
)

T = TypeVar("T")

POOL_SIZE = 8
"""Connections of one node. More made PostgreSQL slower, not faster."""
_CONNECT_TIMEOUT_S = 2.5
"""For each host. Half of the time in which orders have to be normal again: a try that began before the server
could be reached has to end first."""
_TAKE_S = 5.0
_LISTEN_S = 1.0
"""How long those who follow the store wait for a lost listener, before they look without it."""
_CLOSE_S = 5.0
_COMMAND_TIMEOUT_S = 9.0
"""Only for a server that cannot be reached at all: its own time limits, and `SilenceWatch`, come first."""
_SERVER_SETTINGS = {
    "application_name": "bullion",
    "statement_timeout": "8s",
    "lock_timeout": "5s",
    # A node that stands still in the middle of a transaction must not hold what others wait for.
    "idle_in_transaction_session_timeout": "4s",
    # Nor must a machine that is gone, with no word on the line; the system's own limit is two hours.
    "tcp_keepalives_idle": str(KEEPALIVE_IDLE_S),
    "tcp_keepalives_interval": str(KEEPALIVE_INTERVAL_S),
    "tcp_keepalives_count": str(KEEPALIVE_COUNT),
    # Every query of ours has its index. A plan that was made while a table was empty, and kept, must not read
    # that table from end to end once it has grown; and what is quick is not worth compiling.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
}
_WHOLE_READ_SETTINGS = {
    name: value
    for name, value in _SERVER_SETTINGS.items()
    if name.startswith(("application_name", "tcp_keepalives"))
} | {"jit": "off", "idle_in_transaction_session_timeout": "60s"}
_READ_ONLY = "ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_sort = off"
"""Rows come in the order of an index, and no more are read than asked for. Where PostgreSQL expects few
matches, it would rather read all of them and sort."""
_CUSTOM_PLANS = "; SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_sort = off"
_TRIES = 5
_CHANNEL = "bullion_catalogue"
_NODES_LOCK = 5_041_216_002
"""Held while a node serves: shared by nodes that count in Redis, alone by one that counts in memory."""
_log = structlog.get_logger("store")


class _Connection(asyncpg.Connection):
    is_ready = False
    session: Session = (0, "")

    async def make_ready(self, queries: Iterable[str]) -> None:
        """Outside of a transaction: see `prepared_queries`."""
        for query in queries:
            await self.executemany(query, ())  # Prepared and kept, as by any use, and run not once.
        self.is_ready = True


class PostgresEngine:
    def __init__(self, url: str, pool_size: int = POOL_SIZE) -> None:
        self._url = url
        self._hosts = Hosts(url)
        self._pool_size = pool_size
        self._queries: dict[str, str] = queries.load("postgres")
        self._ready = [self._queries[name] for name in prepared_queries.ALL]
        self._pool: Pool | None = None
        self._listener: Connection | None = None
        self._changed: dict[str, asyncio.Event] = {}
        self._listening: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._join_with: str | None = None

    def _connect_options(self) -> dict[str, Any]:
        return {
            "timeout": _CONNECT_TIMEOUT_S,
            "command_timeout": _COMMAND_TIMEOUT_S,
            "server_settings": _SERVER_SETTINGS,
            "connection_class": _Connection,
        }

    async def open(self) -> None:
        pool = Pool(self._connect, self._pool_size, within_s=_TAKE_S)
        with faults(), address_faults():
            pool.give_back(await pool.take())
        self._pool = pool
        self._watching = asyncio.create_task(SilenceWatch(pool, self._connect).run())

    async def _connect(self) -> Connection:
        connection = await self._hosts.connect(statement_cache_size=500, **self._connect_options())
        try:
            connection.session = await identify(connection, _CONNECT_TIMEOUT_S)
            keep_alive(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def join(self, *, alone: bool) -> bool:
        self._join_with = f"pg_try_advisory_lock{'' if alone else '_shared'}"
        with faults():
            self._listener = await self._connect_listener()
        return self._listener is not None

    async def close(self) -> None:
        for task in (self._watching, self._listening):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        if self._listener is not None:
            self._listener.terminate()
        if self._pool is not None:
            await self._pool.close(_CLOSE_S)

    async def is_made(self) -> bool:
        async with self._connection() as connection:
            return bool(await postgres_migration.steps_taken(connection))

    async def migrate(self, *, alone: bool = False, force: bool = False) -> int:  # noqa: ARG002 - see below
        """`alone` changes nothing: PostgreSQL does not tell what the other sessions are there for."""
        with faults():
            # Not of the pool: between two tries it is at rest, which in the pool would count as silent.
            connection = await self._hosts.connect(**self._connect_options())
            try:
                keep_alive(connection)
                return await postgres_migration.migrate(connection, force=force)
            finally:
                connection.terminate()

    async def missing_steps(self) -> Sequence[schema.Step]:
        async with self._connection() as connection:
            return schema.still_to_take("postgres", await postgres_migration.steps_taken(connection))

    async def levels_in_use(self) -> set[int]:
        async with self._connection() as connection:
            return await postgres_migration.levels_in_use(connection)

    async def write(
        self, name: str, body: Callable[[Transaction], Awaitable[T]], *, custom_plans: bool = False
    ) -> T:
        begin = f"BEGIN{_CUSTOM_PLANS if custom_plans else ''}"
        return await self._try(name, begin, body, writes=True)

    async def read(
        self, name: str, body: Callable[[Transaction], Awaitable[T]], *, custom_plans: bool = False
    ) -> T:
        begin = f"BEGIN {_READ_ONLY}{_CUSTOM_PLANS if custom_plans else ''}"
        return await self._try(name, begin, body)

    async def _try(
        self, name: str, begin: str, body: Callable[[Transaction], Awaitable[T]], *, writes: bool = False
    ) -> T:
        for tries_left in range(_TRIES - 1, -1, -1):
            try:
                return await self._transact(name, begin, body, writes=writes)
            except StoreConflict:
                if not tries_left:
                    raise
                # Long enough for the other one, which waits for what we gave up, to take it first.
                await asyncio.sleep(random.uniform(0.005, 0.02))  # noqa: S311 - no secret
        raise AssertionError("the loop above returns or raises")

    async def _transact(
        self, name: str, begin: str, body: Callable[[Transaction], Awaitable[T]], *, writes: bool = False
    ) -> T:
        committing = False
        try:
            async with self._connection() as connection:
                if writes and not connection.is_ready:
                    await connection.make_ready(self._ready)
                await connection.execute(f"{begin}; SET LOCAL application_name = 'bullion {name}'")
                try:
                    answer = await body(_Open(connection, self._queries))
                    committing = True
                    await connection.execute("COMMIT")
                except BaseException:
                    await _abandon(connection)
                    raise
                return answer
        except StoreFault as fault:
            fault.add_note(f"in the transaction {name}")
            self._renew_after(fault)
            if committing and isinstance(fault, StoreUnavailable) and not told_by_server(fault):
                raise OutcomeUnknown(*fault.args) from fault
            raise

    async def write_apart(self, name: str, within_s: float, body: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run `body` in a transaction on a connection of its own, opened anew and closed after it.

        All in all it takes no longer than `within_s`; a lock that is not had by then is StoreBusy.
        """
        # Half of the time for the lock, so that there is some left to say that it was not had.
        begin = (
            f"BEGIN; SET LOCAL lock_timeout = {int(within_s * 500)}; "
            f"SET LOCAL application_name = 'bullion {name}'"
        )
        with faults():
            async with asyncio.timeout(within_s):
                connection = await self._hosts.connect(**self._connect_options())
                try:
                    await connection.make_ready(self._queries[name] for name in prepared_queries.VERIFY)
                    await connection.execute(begin)
                    answer = await body(_Open(connection, self._queries))
                    await connection.execute("COMMIT")
                    return answer
                finally:
                    connection.terminate()

    async def read_whole(self, name: str, body: Callable[[Transaction], Awaitable[T]]) -> T:
        """On a connection of its own, with the server's own plans and without our limits of time."""
        options = self._connect_options() | {"command_timeout": None, "server_settings": _WHOLE_READ_SETTINGS}
        with faults():
            connection = await self._hosts.connect(**options)
            try:
                keep_alive(connection)
                begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                await connection.execute(f"{begin}; SET LOCAL application_name = 'bullion {name}'")
                return await body(_Open(connection, self._queries))
            finally:
                connection.terminate()

    async def statement(self, query: str, *values: Any, writes: bool = False) -> Sequence[Row]:
        """One statement that is its own transaction: one round trip.

        When the connection is lost while one that writes is running, it may have been done or not.
        """
        sent = False
        try:
            async with self._connection() as connection:
                sent = True
                found: Sequence[Row] = await connection.fetch(self._queries[query], *values)
                return found
        except StoreUnavailable as fault:
            fault.add_note(f"in the statement {query}")
            self._renew_after(fault)
            if writes and sent and not told_by_server(fault):
                raise OutcomeUnknown(*fault.args) from fault
            raise

    def _renew_after(self, fault: StoreFault) -> None:
        """A connection that went silent, or has old statements, is seldom alone: renew them all."""
        if isinstance(fault.__cause__, (TimeoutError, *OUTDATED)) and self._pool is not None:
            self._pool.renew()

    async def wait_for_change(self, timeout_s: float, listener: str = "catalogue") -> None:
        """A notification is only an early hint: callers read again in any case."""
        await self._listen()
        changed = self._changed.setdefault(listener, asyncio.Event())
        with suppress(TimeoutError):
            # Not `wait_for`: notified and cancelled in the same turn of the loop, it would lose the
            # cancellation, and the caller would go on after the node was stopped.
            async with asyncio.timeout(timeout_s):
                await changed.wait()
        changed.clear()

    def _notify_listeners(self) -> None:
        for changed in self._changed.values():
            changed.set()

    async def _listen(self) -> None:
        """Keep the listener connected. Without one, changes are still found by looking again and again."""
        if self._listener is not None and not self._listener.is_closed():
            return
        if self._listening is None or self._listening.done():
            # One at a time: of two that come back together, one would hold the other's place among the nodes.
            self._listening = asyncio.create_task(self._renew_listener())
        await asyncio.wait([self._listening], timeout=_LISTEN_S)

    async def _renew_listener(self) -> None:
        try:
            self._listener = await self._connect_listener()
        except (asyncpg.PostgresError, *LOST) as error:
            if self._listener is not None:
                _log.warning("listener_lost", error=repr(error))
            self._listener = None

    async def _connect_listener(self) -> Connection | None:
        """One connection outside the pool hears of changes, and holds this node's place among the nodes.

        None when the nodes that serve already leave no place for this one.
        """
        options = self._connect_options() | {"command_timeout": _CONNECT_TIMEOUT_S}
        connection = await self._hosts.connect(**options)
        try:
            keep_alive(connection)
            await connection.add_listener(_CHANNEL, lambda *_: self._notify_listeners())
            if self._join_with:
                await postgres_migration.announce_level(connection)
            if self._join_with and not await connection.fetchval(f"SELECT {self._join_with}({_NODES_LOCK})"):
                _log.error(
                    "node_not_registered",
                    why="another node serves this store, and budgets in memory allow one",
                )
                connection.terminate()
                return None
        except BaseException:
            connection.terminate()
            raise
        return connection

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        pool = self._pool
        if pool is None:
            raise StoreUnavailable("the store is closed")
        with faults():
            connection = await pool.take()
            try:
                yield connection
            except (TimeoutError, asyncio.CancelledError):
                # It would have to be waited for, to hear that it has given up.
                connection.terminate()
                raise
            finally:
                pool.give_back(connection)


class _Open:
    """An open transaction. Faults are folded where the connection is handed out."""

    def __init__(self, connection: Connection, named: dict[str, str]) -> None:
        self._connection = connection
        self._named = named

    async def all(self, query: str, *values: Value) -> Sequence[Row]:
        with faults():
            found: Sequence[Row] = await self._connection.fetch(self._named[query], *values)
            return found

    async def one(self, query: str, *values: Value) -> Row | None:
        found = await self.all(query, *values)
        return found[0] if found else None

    async def run(self, query: str, *values: Value) -> None:
        await self.all(query, *values)


async def _abandon(connection: Connection) -> None:
    """End a transaction that failed. A connection that cannot even do that is not given back.

    Never raises: what went wrong before, a cancellation above all, must not be lost behind it.
    """
    try:
        await asyncio.shield(connection.execute("ROLLBACK", timeout=1.0))
    except (asyncpg.PostgresError, *LOST, asyncio.CancelledError):
        connection.terminate()
