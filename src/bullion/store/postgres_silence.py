"""Finds connections to PostgreSQL that went silent: still open, but nothing gets through them.

A statement that takes long may be at work, or wait for a lock: then it is left alone. So the server is asked,
over a new connection, what the session of such a statement does. A session that is idle, while a node has
waited for its answer for a while, has not had the question, or its answer was lost.
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
"""How long a connection is in use before the server is asked about it. Hardly any statement takes as long."""
LOOK_EVERY_S = 0.25
_LOOKS = 3
"""So often a session has to be found at rest. Once, this node may be about to send the next statement; and a
statement that it sends late, after it stood still, may arrive together with the second look."""
_ANSWER_S = 2.0
KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_COUNT = 5, 2, 3

# Times are told as seconds since the epoch: their texts depend on the session's settings.
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
"""The process of a session, and when it began: another server may have a process of the same number."""
Use = tuple[Connection, float]
"""A connection, and since when whoever has it uses it."""

_log = structlog.get_logger("store")


async def identify(connection: Connection, within_s: float) -> Session:
    """Which session a new connection belongs to. It cannot be asked once it is silent."""
    pid, began_at = await connection.fetchrow(_IDENTIFY, timeout=within_s)
    return pid, began_at


def keep_alive(connection: Connection) -> None:
    """Let the system notice, on a connection that is not in use, that the other machine is gone."""
    shared = connection._transport.get_extra_info("socket")  # noqa: SLF001 - asyncpg has no option for it
    if shared is None or shared.family == socket.AF_UNIX:
        return
    with shared.dup() as line:  # The same socket, by an object that allows it under every event loop.
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVES.items():
            if hasattr(socket, name):  # Not every system has all of them.
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class SilenceWatch:
    """Ends silent connections: whoever waits on one hears that it is lost, and the pool makes new ones."""

    def __init__(self, pool: Pool, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._pool = pool
        self._connect = connect

    async def run(self) -> None:
        """Run for as long as the engine is open."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if self._pool.in_use_for(SUSPECT_S):
                # Without a new connection there is nobody to ask, and no other connection to use instead.
                with suppress(asyncpg.PostgresError, *LOST):
                    await self._examine()

    async def _examine(self) -> None:
        """Look until no connection has been in use for long."""
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
        """Those whose sessions do nothing, with since when, by the server's clock."""
        pids = [connection.session[0] for connection, _ in uses]
        found = await asking.fetch(_STATES, pids, timeout=_ANSWER_S)
        states = {(pid, began): (state, changed) for pid, began, state, changed in map(tuple, found)}
        looked_at = [(use, *states.get(use[0].session, (_AT_REST[0], _GONE))) for use in uses]
        return [(use, changed) for use, state, changed in looked_at if state in _AT_REST]

    async def _end(self, asking: Connection, silent: Sequence[Connection]) -> None:
        for connection in silent:
            # First here: whoever waits must not take the end of the session for the answer to a statement.
            connection.terminate()
        self._pool.renew()  # One that went silent is seldom alone.
        _log.warning("connections_stalled", count=len(silent))
        for connection in silent:
            # What its transaction holds would keep others waiting.
            await asking.execute(_END, *connection.session, timeout=_ANSWER_S)
