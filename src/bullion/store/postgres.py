"""The PostgreSQL engine (15 and later), for any number of nodes.

The address may name several hosts. The one that accepts writes is used, so that failover works.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Any, TypeVar

import asyncpg
import structlog

from bullion.faults import NotSent, OutcomeUnknown, StoreConflict, StoreFault, StoreUnavailable

from . import postgres_migration, prepared_queries, queries, schema
from .engine import Row, Transaction, Value, nothing
from .postgres_faults import LOST, OUTDATED, address_faults, faults, reported_by_server
from .postgres_hosts import Hosts
from .postgres_pool import Connection, Pool, PoolUse
from .postgres_stalls import (
    KEEPALIVE_COUNT,
    KEEPALIVE_IDLE_S,
    KEEPALIVE_INTERVAL_S,
    Session,
    StallWatch,
    identify,
    keep_alive,
)
from .postgres_timeline import LogPosition, Timeline, TimelineFence, read_position, read_timeline

T = TypeVar("T")

POOL_SIZE = 8
"""Connections of one node. More made PostgreSQL slower, not faster."""
_CONNECT_TIMEOUT_S = 2.5
"""For each host. Attempts that hang are repeated within this time: see `postgres_hosts`."""
_FIRST_CONNECT_S = 15.0
"""How long a starting process waits for a server that is there but not ready: see `_NOT_READY`."""
_FIRST_CONNECT_PAUSE_S = 0.2
_NOT_READY = (
    TimeoutError,
    ConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.ConnectionDoesNotExistError,
)
"""Errors of a server that is there but does not answer, or is itself starting or stopping.

One that refuses the connection is not there.
"""
_TAKE_S = 5.0
_LISTEN_S = 1.0
"""How long followers wait for a lost listener to reconnect before they read without it."""
_CLOSE_S = 5.0
_COMMAND_TIMEOUT_S = 9.0
"""Only for a server that cannot be reached at all: the server's timeouts and `StallWatch` are shorter."""
_SERVER_SETTINGS = {
    "application_name": "bullion",
    "statement_timeout": "8s",
    "lock_timeout": "5s",
    # A node that is paused in the middle of a transaction must not keep its locks.
    "idle_in_transaction_session_timeout": "4s",
    # Nor must a machine that disappeared without closing its connection; the system's default is two hours.
    "tcp_keepalives_idle": str(KEEPALIVE_IDLE_S),
    "tcp_keepalives_interval": str(KEEPALIVE_INTERVAL_S),
    "tcp_keepalives_count": str(KEEPALIVE_COUNT),
    # Every query has its index. A generic plan that was made while a table was empty must not scan the table
    # once it has grown. JIT compilation does not pay off for short queries.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
}
_NO_TIMEOUT_SETTINGS = {
    name: value
    for name, value in _SERVER_SETTINGS.items()
    if name.startswith(("application_name", "tcp_keepalives"))
} | {"jit": "off", "idle_in_transaction_session_timeout": "60s"}
_READ_ONLY = "ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_sort = off"
"""Rows are read in the order of an index, up to the limit. Otherwise PostgreSQL, when it expects few matches,
reads all of them and sorts."""
_CUSTOM_PLANS = "; SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_sort = off"
_STATEMENTS = {"statement_cache_size": 250, "max_cached_statement_lifetime": 0}
"""Of each connection. A prepared statement takes some 60 KB of PostgreSQL's memory. None expires with time:
a transaction would prepare it again while it holds its locks."""
_TRIES = 5
_CHANNEL = "bullion_catalogue"
NODES_LOCK = 5_041_216_002
"""Held while a node serves: shared by nodes that count in Redis, alone by one that counts in memory."""
_log = structlog.get_logger("store")


class _Connection(asyncpg.Connection):
    session: Session = (0, "")
    timeline: Timeline | None = None

    async def prepare_queries(self, queries: Iterable[str]) -> None:
        """Outside of a transaction: see `prepared_queries`."""
        for query in queries:
            # There is no public way to ask. The key has the class of rows, and whether codecs are ignored.
            if not self._stmt_cache.has((query, asyncpg.Record, False)):  # type: ignore[attr-defined]
                await self.executemany(query, ())  # Prepares and caches the query without running it.


class PostgresEngine:
    def __init__(self, url: str, pool_size: int = POOL_SIZE, *, standby: bool = False) -> None:
        """`standby`: connects to a standby instead of the primary, which can do without it for a while."""
        self._standby = standby
        self._url = url
        self._hosts = Hosts(url, self._check_timeline, "standby" if standby else "read-write")
        self._fence = TimelineFence()
        self.pool_size = pool_size
        self.failovers = 0
        self.conflicts = 0
        """How many transactions were repeated because they conflicted with others."""
        self.on_commit: Callable[[], None] = nothing
        """Called after everything that this process commits."""
        self._queries: dict[str, str] = queries.load("postgres")
        self._pool: Pool | None = None
        self._listener: Connection | None = None
        self._changed: dict[str, asyncio.Event] = {}
        self._listening: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._node_lock_function: str | None = None

    def _connect_options(self) -> dict[str, Any]:
        return {
            "timeout": _CONNECT_TIMEOUT_S,
            "command_timeout": _COMMAND_TIMEOUT_S,
            "server_settings": _SERVER_SETTINGS,
            "connection_class": _Connection,
        }

    async def open(self) -> None:
        pool = Pool(self._connect, self.pool_size, within_s=_TAKE_S)
        with faults(), address_faults():
            pool.release(await self._first_connection(pool))
        self._pool = pool
        self._watching = asyncio.create_task(StallWatch(pool, self._connect).run())

    async def _first_connection(self, pool: Pool) -> Connection:
        give_up_at_s = monotonic() + _FIRST_CONNECT_S
        while True:
            try:
                return await pool.acquire()
            except ConnectionRefusedError:
                raise
            except _NOT_READY:
                if self._standby or monotonic() > give_up_at_s:
                    raise
            await asyncio.sleep(_FIRST_CONNECT_PAUSE_S)

    async def _connect(self) -> Connection:
        connection = await self._hosts.connect(**_STATEMENTS, **self._connect_options())
        try:
            connection.session = await identify(connection, _CONNECT_TIMEOUT_S)
            keep_alive(connection)
            self._fence.admit(connection.timeline)  # Again: meanwhile there may be a new primary.
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _check_timeline(self, connection: Connection) -> None:
        """Refuse a former primary. If the primary is another one than before, leave the old one at once."""
        connection.timeline = await read_timeline(connection, _CONNECT_TIMEOUT_S)
        if self._fence.admit(connection.timeline):
            _log.warning("primary_changed", timeline=connection.timeline.number)
            self.failovers += 1
            if self._pool is not None:
                self._pool.close_all_but(lambda each: each.timeline == connection.timeline)

    async def register_node(self, *, exclusive: bool) -> bool:
        self._node_lock_function = f"pg_try_advisory_lock{'' if exclusive else '_shared'}"
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

    def try_next_host(self) -> None:
        """For new connections. Those in use are closed when they are released."""
        self._hosts.move_on()
        if self._pool is not None:
            self._pool.renew()

    def pool_use(self) -> PoolUse:
        return PoolUse(0, 0, 0) if self._pool is None else self._pool.use()

    async def has_schema(self) -> bool:
        async with self._connection() as connection:
            return bool(await postgres_migration.steps_taken(connection))

    async def migrate(self, *, exclusive: bool = False, force: bool = False) -> int:  # noqa: ARG002 - see below
        """`exclusive` changes nothing: PostgreSQL does not show what other sessions are for."""
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
            return schema.missing_steps("postgres", await postgres_migration.read_steps(connection))

    async def levels_in_use(self) -> set[int]:
        async with self._connection() as connection:
            return await postgres_migration.levels_in_use(connection)

    async def can_write(self) -> bool:
        """A server may be made read-only while connections are open, as hosts do when a disk is full.

        One that cannot write for another reason does not answer for long, and reads show that.
        """
        row = await self.one("takes_writes")
        return row is not None and row["writable"]

    async def write(
        self,
        name: str,
        body: Callable[[Transaction], Awaitable[T]],
        *,
        custom_plans: bool = False,
        holding: Collection[str] = (),
    ) -> T:
        begin = f"BEGIN{_CUSTOM_PLANS if custom_plans else ''}"
        answer = await self._try(name, begin, body, holding)
        self.on_commit()
        return answer

    async def read(
        self, name: str, body: Callable[[Transaction], Awaitable[T]], *, custom_plans: bool = False
    ) -> T:
        begin = f"BEGIN {_READ_ONLY}{_CUSTOM_PLANS if custom_plans else ''}"
        return await self._try(name, begin, body)

    async def one(self, query: str, *values: Value) -> Row | None:
        found = await self.statement(query, *values)
        return found[0] if found else None

    async def all(self, query: str, *values: Value) -> Sequence[Row]:
        return await self.statement(query, *values)

    async def read_when(
        self,
        ready: Callable[[Connection], Awaitable[None]],
        name: str,
        body: Callable[[Transaction], Awaitable[T]],
    ) -> T:
        """A read with custom plans. `ready` comes first, on its connection, and may raise."""
        return await self._transact(name, f"BEGIN {_READ_ONLY}{_CUSTOM_PLANS}", body, ready=ready)

    async def log_position(self) -> LogPosition:
        async with self._connection() as connection:
            return await read_position(connection)

    async def _try(
        self,
        name: str,
        begin: str,
        body: Callable[[Transaction], Awaitable[T]],
        holding: Collection[str] = (),
    ) -> T:
        for tries_left in range(_TRIES - 1, -1, -1):
            try:
                return await self._transact(name, begin, body, holding=holding)
            except StoreConflict:
                self.conflicts += 1
                if not tries_left:
                    raise
                # Long enough for the other transaction to take the locks that this one released.
                await asyncio.sleep(random.uniform(0.005, 0.02))  # noqa: S311 - no secret
        raise AssertionError("the loop above returns or raises")

    async def _transact(
        self,
        name: str,
        begin: str,
        body: Callable[[Transaction], Awaitable[T]],
        *,
        holding: Collection[str] = (),
        ready: Callable[[Connection], Awaitable[None]] | None = None,
    ) -> T:
        committing = False
        try:
            async with self._connection() as connection:
                if ready is not None:
                    await ready(connection)
                await connection.prepare_queries([self._queries[each] for each in holding])
                await connection.execute(f"{begin}; SET LOCAL application_name = 'bullion {name}'")
                try:
                    answer = await body(_OpenTransaction(connection, self._queries))
                    committing = True
                    await connection.execute("COMMIT")
                except BaseException:
                    await _roll_back_failed(connection)
                    raise
                return answer
        except StoreFault as fault:
            fault.add_note(f"in the transaction {name}")
            self._renew_after(fault)
            if committing and isinstance(fault, StoreUnavailable) and not reported_by_server(fault):
                raise OutcomeUnknown(*fault.args) from fault
            raise

    async def write_on_new_connection(
        self, name: str, within_s: float, body: Callable[[Transaction], Awaitable[T]]
    ) -> T:
        """Run `body` in a transaction on a new connection, within `within_s` seconds.

        StoreBusy if a lock is not free by then.
        """
        # Half of the time for the lock, so that the error arrives in time.
        begin = (
            f"BEGIN; SET LOCAL lock_timeout = {int(within_s * 500)}; "
            f"SET LOCAL application_name = 'bullion {name}'"
        )
        with faults():
            async with asyncio.timeout(within_s):
                connection = await self._hosts.connect(**self._connect_options())
                try:
                    await connection.prepare_queries(self._queries[name] for name in prepared_queries.VERIFY)
                    await connection.execute(begin)
                    answer = await body(_OpenTransaction(connection, self._queries))
                    await connection.execute("COMMIT")
                    return answer
                finally:
                    connection.terminate()

    async def read_whole(self, name: str, body: Callable[[Transaction], Awaitable[T]]) -> T:
        async with self.connection_without_timeouts() as connection:
            begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            await connection.execute(f"{begin}; SET LOCAL application_name = 'bullion {name}'")
            return await body(_OpenTransaction(connection, self._queries))

    @asynccontextmanager
    async def connection_without_timeouts(self) -> AsyncIterator[Connection]:
        """A connection of its own, with the server's own plans and without our limits of time."""
        options = self._connect_options() | {"command_timeout": None, "server_settings": _NO_TIMEOUT_SETTINGS}
        with faults():
            connection = await self._hosts.connect(**options)
            try:
                keep_alive(connection)
                yield connection
            finally:
                connection.terminate()

    async def statement(
        self, query: str, *values: Any, writes: bool = False, wait_s: float | None = None
    ) -> Sequence[Row]:
        """Run one statement as its own transaction, in one round trip.

        If the connection is lost while a statement that writes is running, the outcome is unknown. It is not
        sent if another server takes over before, or if it waited longer than `wait_s` for a connection.
        """
        sent, failovers, asked_s = False, self.failovers, monotonic()
        try:
            async with self._connection() as connection:
                if writes and self.failovers != failovers:
                    raise NotSent("another server has become the primary")
                if wait_s is not None and monotonic() - asked_s > wait_s:
                    raise NotSent("there was no connection for it")
                sent = True
                found: Sequence[Row] = await connection.fetch(self._queries[query], *values)
        except StoreUnavailable as fault:
            fault.add_note(f"in the statement {query}")
            self._renew_after(fault)
            if writes and sent and not reported_by_server(fault):
                raise OutcomeUnknown(*fault.args) from fault
            raise
        if writes:
            self.on_commit()
        return found

    def _renew_after(self, fault: StoreFault) -> None:
        """A connection that went silent, or has old statements, is seldom alone: renew them all."""
        if isinstance(fault.__cause__, (TimeoutError, *OUTDATED)) and self._pool is not None:
            self._pool.renew()

    async def wait_for_change(self, timeout_s: float, listener: str = "catalogue") -> None:
        """A notification only saves time: callers also read after the timeout."""
        await self._listen()
        changed = self._changed.setdefault(listener, asyncio.Event())
        with suppress(TimeoutError):
            # Not `wait_for`: notified and cancelled in the same turn of the loop, it would lose the
            # cancellation, and the caller would go on after the node was stopped.
            async with asyncio.timeout(timeout_s):
                await changed.wait()
        changed.clear()

    def _notify(self, _connection: object, _pid: int, _channel: str, listener: str) -> None:
        """Notify one listener, or all if none has that name."""
        changed = self._changed.get(listener)
        for each in self._changed.values() if changed is None else (changed,):
            each.set()

    async def _listen(self) -> None:
        """Keep the listener connected. Without it, changes are found by polling."""
        if self._listener is not None and not self._listener.is_closed():
            return
        if self._listening is None or self._listening.done():
            # One at a time: two new listeners of one node would compete for its lock.
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
        """A connection outside of the pool that receives notifications and holds the lock of this node.

        None if other nodes hold the lock in a way that excludes this one.
        """
        options = self._connect_options() | {"command_timeout": _CONNECT_TIMEOUT_S}
        connection = await self._hosts.connect(**options)
        try:
            keep_alive(connection)
            await connection.add_listener(_CHANNEL, self._notify)
            if self._node_lock_function:
                await postgres_migration.announce_level(connection)
            if self._node_lock_function and not await connection.fetchval(
                f"SELECT {self._node_lock_function}({NODES_LOCK})"
            ):
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
            connection = await pool.acquire()
            try:
                yield connection
            except (TimeoutError, asyncio.CancelledError):
                # Closed, because reusing it would require waiting for the cancelled statement.
                connection.terminate()
                raise
            finally:
                pool.release(connection)


class _OpenTransaction:
    """An open transaction. `_connection` translates driver errors."""

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


async def _roll_back_failed(connection: Connection) -> None:
    """Roll back a failed transaction. A connection that cannot is closed.

    Never raises: the original error, or cancellation, must not be lost.
    """
    try:
        await asyncio.shield(connection.execute("ROLLBACK", timeout=1.0))
    except (asyncpg.PostgresError, *LOST, asyncio.CancelledError):
        connection.terminate()
