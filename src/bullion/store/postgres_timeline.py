"""Refuses a former primary: one that still accepts writes after another server was promoted.

A promotion starts a new timeline in PostgreSQL's log, with a higher number. So of two servers that accept
writes, the one with the lower number is the former primary. It was cut off, or hung, and does not know yet.
"""

from typing import Any, NamedTuple

import asyncpg
import structlog

Connection = Any

# The name of a log file begins with the timeline, in hexadecimal digits. A standby has no name to give.
_TIMELINE = """
SELECT
    (SELECT system_identifier FROM pg_control_system()),
    CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END
"""
# The mark is read with the statement's snapshot, before the position is: it is in the log before that.
_POSITION = """
SELECT
    CAST(pg_current_wal_flush_lsn() AS TEXT),
    left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
    CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT),
    (SELECT value FROM deployment WHERE name = $1)
"""
MARK = "standby_mark"
"""The name of a value in the store by which copies of the store are recognised: see `standby`."""

_log = structlog.get_logger("store")


class Timeline(NamedTuple):
    cluster: int
    """PostgreSQL's number of the cluster. Timelines of different clusters cannot be compared."""
    number: str


class LogPosition(NamedTuple):
    """How far the primary's log is on its disk: everything committed is before it."""

    lsn: str
    timeline: str
    at_us: int
    """By the primary's clock."""
    mark: str | None


class FormerPrimary(ConnectionError):
    """The server is not the primary any more."""


async def read_timeline(connection: Connection, within_s: float) -> Timeline | None:
    """None if the server does not tell: some hosted ones do not."""
    try:
        return Timeline(*await connection.fetchrow(_TIMELINE, timeout=within_s))
    except asyncpg.PostgresConnectionError:
        raise
    except asyncpg.PostgresError:
        return None


async def read_position(connection: Connection) -> LogPosition:
    return LogPosition(*await connection.fetchrow(_POSITION, MARK))


class TimelineFence:
    """The newest timeline that this node has seen."""

    def __init__(self) -> None:
        self._newest: Timeline | None = None
        self._refused: Timeline | None = None

    def admit(self, timeline: Timeline | None) -> bool:
        """Whether the server is another than before. Raises FormerPrimary if its timeline is an older one."""
        newest = self._newest
        if timeline is None or timeline == newest:
            return False
        if newest is not None and timeline.cluster == newest.cluster and timeline.number < newest.number:
            if timeline != self._refused:
                _log.warning("former_primary_refused", timeline=timeline.number, newest=newest.number)
            self._refused = timeline
            raise FormerPrimary(
                "a server accepts writes, but it is a former primary: its timeline is "
                f"{timeline.number}, and this node has used {newest.number}"
            )
        self._newest, self._refused = timeline, None
        return newest is not None
