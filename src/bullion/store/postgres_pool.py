"""The connections of one node to PostgreSQL: a bounded number, each made when it is first needed.

Faster than asyncpg's own pool: taking a connection from that and returning it costs more than twice the loop
time of a short statement, because each return is a task. Every batch of bookings would pay for it.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from bullion.faults import StoreUnavailable

Connection = Any
"""A connection of asyncpg's; its type is generic in the record class."""


class Pool:
    def __init__(self, connect: Callable[[], Awaitable[Connection]], size: int, *, within_s: float) -> None:
        """`within_s` is how long it may take to get one that does not lie ready."""
        self._connect = connect
        self._within_s = within_s
        self._places = size
        """For connections that are still to be made."""
        self._idle: list[Connection] = []
        """The one used last is the last, and taken first: what it needs is still in the server's caches."""
        self._in_use: dict[Connection, float] = {}
        """With since when, by `monotonic`."""
        self._current: set[Connection] = set()
        """Not to be renewed."""
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()
        self._all_back = asyncio.Event()
        self._closed = False

    async def take(self) -> Connection:
        """One that nobody else uses, to be given back. May raise TimeoutError, and what `connect` raises."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                self._in_use[connection] = monotonic()
                return connection
            self._current.discard(connection)
            self._places += 1
        async with asyncio.timeout(self._within_s):
            connection = await self._turn() or await self._make()
        self._in_use[connection] = monotonic()
        return connection

    async def _turn(self) -> Connection | None:
        """Wait for somebody's connection, or for the place to make one, which is None."""
        if self._places:
            self._places -= 1
            return None
        turn: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # It came in the same moment: to the next in line.
                self._pass_on(turn.result())
            raise

    async def _make(self) -> Connection:
        try:
            connection = await self._connect()
        except BaseException:
            self._pass_on(None)
            raise
        self._current.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        self._in_use.pop(connection, None)
        if connection in self._current and not connection.is_closed():
            self._pass_on(connection)
        else:
            connection.terminate()
            self._current.discard(connection)
            self._pass_on(None)
        if self._closed and not self._in_use:
            self._all_back.set()

    def _pass_on(self, connection: Connection | None) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # Else the caller was cancelled.
                turn.set_result(connection)
                return
        if connection is None:
            self._places += 1
        else:
            self._idle.append(connection)

    def in_use_for(self, long_s: float) -> list[tuple[Connection, float]]:
        """Those that somebody has had for at least as long, with since when."""
        before_s = monotonic() - long_s
        return [use for use in self._in_use.items() if use[1] <= before_s]

    def renew(self) -> None:
        """Use none of those that there are again."""
        for connection in self._idle:
            connection.terminate()
        self._places += len(self._idle)
        self._idle.clear()
        self._current.clear()

    async def close(self, within_s: float) -> None:
        """Those in use are waited for, but not longer than that."""
        self._closed = True
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                if self._in_use:
                    await self._all_back.wait()
                for connection in self._idle:
                    await connection.close()
        for connection in (*self._idle, *self._in_use):
            connection.terminate()
