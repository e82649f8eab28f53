"""Finds stalled connections to PostgreSQL: still open, but no data gets through.

A slow statement may be running, or waiting for a lock: then it is left alone. So the server is asked, over a
new connection, for the state of the session. If the session is idle although a node has been waiting for its
response for a while, the request or the response was lost.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import asyncpg
import structlog

from .postgres_faults import LOST
from .postgres_pool import Connection, Pool

SUSPECT_S = 1.0
"""How long a connection is in use before the server is asked about it. Few statements take that long."""
LOOK_EVERY_S = 0.25
_LOOKS = 3
"""How many checks in a row must find the session idle. After one check, this node may be about to send the
next statement; after two, a statement that was sent late may be about to arrive."""
_ANSWER_S = 1.0
KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_COUNT = 5, 2, 3

# Times as seconds since the epoch: their text form depends on the session's settings.
_IDENTIFY = """
SELECT pid, CAST(extract(epoch FROM backend_start) AS TEXT) FROM pg_stat_get_activity(pg_backend_pid())
"""
_STATES = """
SELECT
    pid,
    CAST(extract(epoch FROM backend_start) AS TEXT),
    state,
    CAST(extract(epoch FROM state_change) AS TEXT)
FROM pg_stat_activity
WHERE pid = ANY($1)
"""
_END = """
SELECT pg_terminate_backend(pid)
FROM pg_stat_activity
WHERE pid = $1 AND CAST(extract(epoch FROM backend_start) AS TEXT) = $2
"""
_KEEPALIVES = {
    "TCP_KEEPIDLE": KEEPALIVE_IDLE_S,
    "TCP_KEEPINTVL": KEEPALIVE_INTERVAL_S,
    "TCP_KEEPCNT": KEEPALIVE_COUNT,
}
_AT_REST = ("idle", "idle in transaction", "idle in transaction (aborted)")
_GONE = "gone"

Session = tuple[int, str]
"""The process id of a session and its start time: after a failover another server may use the same id."""
Use = tuple[Connection, float]
"""A connection, and the time since when it is in use."""

_log = structlog.get_logger("store")


async def identify(connection: Connection, within_s: float) -> Session:
    """The session of a new connection. A stalled connection can no longer be asked."""
    pid, began_at = await connection.fetchrow(_IDENTIFY, timeout=within_s)
    return pid, began_at


def keep_alive(connection: Connection) -> None:
    """Enable TCP keepalive, so that the system detects a lost peer on an idle connection."""
    shared = connection._transport.get_extra_info("socket")  # noqa: SLF001 - asyncpg has no option for it
    if shared is None or shared.family == socket.AF_UNIX:
        return
    with shared.dup() as line:  # A duplicate, because uvloop's socket object does not allow it.
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVES.items():
            if hasattr(socket, name):  # Not every system has all of them.
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class StallWatch:
    """Closes stalled connections: their callers get an error, and the pool opens new ones."""

    def __init__(self, pool: Pool, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._pool = pool
        self._connect = connect

    async def run(self) -> None:
        """Check in the background, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if self._pool.in_use_for(SUSPECT_S):
                # Without a new connection there is no way to check, and nothing to replace them with.
                with suppress(asyncpg.PostgresError, *LOST):
                    await self._examine()

    async def _examine(self) -> None:
        """Check until no connection has been in use for long."""
        asking = await self._connect()
        try:
            seen: Counter[tuple[Use, str]] = Counter()
            while uses := self._pool.in_use_for(SUSPECT_S):
                at_rest = await self._at_rest(asking, uses)
                seen = Counter({each: seen[each] + 1 for each in at_rest})
                silent = [connection for ((connection, _), _), times in seen.items() if times >= _LOOKS]
                if silent:
                    await self._end(asking, silent)
                await asyncio.sleep(LOOK_EVERY_S)
        finally:
            asking.terminate()

    async def _at_rest(self, asking: Connection, uses: Sequence[Use]) -> list[tuple[Use, str]]:
        """The uses whose sessions are idle, with the time since when, by the server's clock."""
        pids = [connection.session[0] for connection, _ in uses]
        found = await asking.fetch(_STATES, pids, timeout=_ANSWER_S)
        states = {(pid, began): (state, changed) for pid, began, state, changed in map(tuple, found)}
        looked_at = [(use, *states.get(use[0].session, (_AT_REST[0], _GONE))) for use in uses]
        return [(use, changed) for use, state, changed in looked_at if state in _AT_REST]

    async def _end(self, asking: Connection, silent: Sequence[Connection]) -> None:
        for connection in silent:
            # Closed here first: its caller must not take the end of the session for a response.
            connection.terminate()
        self._pool.renew()  # A connection rarely stalls alone.
        _log.warning("connections_stalled", count=len(silent))
        for connection in silent:
            # The locks of its transaction would block others.
            await asking.execute(_END, *connection.session, timeout=_ANSWER_S)
