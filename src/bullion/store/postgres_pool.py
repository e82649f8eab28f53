"""The connection pool of one node for PostgreSQL: bounded, with connections opened on demand.

Faster than asyncpg's own pool: taking a connection from that and returning it costs more than twice the loop
time of a short statement, because each return is a task. Every batch of bookings would pay for it.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

from bullion.faults import StoreUnavailable

Connection = Any
"""A connection of asyncpg's; its type is generic in the record class."""


class PoolUse(NamedTuple):
    in_use: int
    idle: int
    waiting: int
    """Callers that wait for a connection."""


class Pool:
    def __init__(self, connect: Callable[[], Awaitable[Connection]], size: int, *, within_s: float) -> None:
        """`within_s`: time limit for getting a connection if none is idle."""
        self._connect = connect
        self._within_s = within_s
        self._unopened = size
        """How many more connections may be opened."""
        self._idle: list[Connection] = []
        """Last in, first out: the server still has the caches of the connection used last."""
        self._in_use: dict[Connection, float] = {}
        """Each with the time since when it is in use, by `monotonic`."""
        self._current: set[Connection] = set()
        """Connections that may be reused."""
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()
        self._all_released = asyncio.Event()
        self._closed = False

    async def acquire(self) -> Connection:
        """A connection for exclusive use, to be released. May raise TimeoutError and errors of `connect`."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                self._in_use[connection] = monotonic()
                return connection
            self._current.discard(connection)
            self._unopened += 1
        async with asyncio.timeout(self._within_s):
            connection = await self._wait_turn() or await self._open()
        self._in_use[connection] = monotonic()
        return connection

    async def _wait_turn(self) -> Connection | None:
        """Wait for a released connection; None: the caller may open a new one."""
        if self._unopened:
            self._unopened -= 1
            return None
        turn: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # It was assigned at the same moment.
                self._hand_to_next(turn.result())
            raise

    async def _open(self) -> Connection:
        try:
            connection = await self._connect()
        except BaseException:
            self._hand_to_next(None)
            raise
        self._current.add(connection)
        return connection

    def release(self, connection: Connection) -> None:
        self._in_use.pop(connection, None)
        if connection in self._current and not connection.is_closed():
            self._hand_to_next(connection)
        else:
            connection.terminate()
            self._current.discard(connection)
            self._hand_to_next(None)
        if self._closed and not self._in_use:
            self._all_released.set()

    def _hand_to_next(self, connection: Connection | None) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # Else the caller was cancelled.
                turn.set_result(connection)
                return
        if connection is None:
            self._unopened += 1
        else:
            self._idle.append(connection)

    def use(self) -> PoolUse:
        return PoolUse(len(self._in_use), len(self._idle), len(self._waiting))

    def in_use_for(self, long_s: float) -> list[tuple[Connection, float]]:
        """Connections that have been in use for at least this long, with the time since when."""
        before_s = monotonic() - long_s
        return [use for use in self._in_use.items() if use[1] <= before_s]

    def renew(self) -> None:
        """Replace all connections: idle ones now, the others when they are released."""
        for connection in self._idle:
            connection.terminate()
        self._unopened += len(self._idle)
        self._idle.clear()
        self._current.clear()

    def close_all_but(self, kept: Callable[[Connection], bool]) -> None:
        """Close connections at once, also those in use: their callers get an error."""
        for connection in (*self._idle, *self._in_use):
            if not kept(connection):
                connection.terminate()

    async def close(self, within_s: float) -> None:
        """Wait for connections in use, up to `within_s` seconds, and close all."""
        self._closed = True
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                if self._in_use:
                    await self._all_released.wait()
                for connection in self._idle:
                    await connection.close()
        for connection in (*self._idle, *self._in_use):
            connection.terminate()
