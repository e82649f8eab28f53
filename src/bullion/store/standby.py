"""Reads reports at a standby of PostgreSQL, and at the primary while the standby is not fit for it.

A report must not miss what its reader has just changed. So the primary is asked first how far its log goes,
and the standby must have replayed as much. A mark in the store proves that the standby copies this store and
not another: each process writes a new mark before its first report, and again after a failover, because a
standby may still follow the former primary then.

Only `Reports` is given a standby, and only `Desk.report` uses that: no order is decided with what it reads.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from secrets import token_hex
from time import monotonic
from typing import TypeVar

import asyncpg
import structlog

from bullion.faults import StoreFault

from .desk_transaction import DeskCache
from .engine import Transaction
from .postgres import PostgresEngine
from .postgres_pool import Connection
from .postgres_timeline import MARK, LogPosition
from .records import Records, RecordStore

T = TypeVar("T")

CATCH_UP_S = 2.0
"""How long a report waits until the standby has what the primary had."""
READ_S = 8.0
"""For a report at the standby, all in all."""
AVOIDED_S = 10.0
"""After a failure, reports read from the primary for this long."""
POOL_SIZE = 4

READ_THERE, AWAY, SLOW, BEHIND, CONFLICT, OTHER_STORE = (
    "standby",
    "away",
    "slow",
    "behind",
    "conflict",
    "other_store",
)
OUTCOMES = (READ_THERE, AWAY, SLOW, BEHIND, CONFLICT, OTHER_STORE)
"""Where a report was read: at the standby, or why not there."""

_MARK_BYTES = 8
_REPLAYED = """
SELECT pg_is_in_recovery() AND coalesce(pg_last_wal_replay_lsn() >= CAST(CAST($1 AS TEXT) AS PG_LSN), FALSE)
"""
_POLL_S = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Pauses between two looks at the standby; the last is repeated."""
_log = structlog.get_logger("store")

Told = Callable[[int], None]
"""Called with the time that a report is complete up to, if a standby was read."""


class StandbyUnfit(Exception):
    """The standby cannot be used for this report."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Standby:
    def __init__(self, url: str, primary: PostgresEngine) -> None:
        self._url = url
        self._primary = primary
        self._engine: PostgresEngine | None = None
        self._cache: DeskCache | None = None
        self._opening = asyncio.Lock()
        self._marked: str | None = None
        """The primary's timeline on which this process wrote a mark."""

    async def close(self) -> None:
        if self._engine is not None:
            await self._engine.close()

    async def read(self, name: str, body: Callable[[Records], Awaitable[T]]) -> tuple[T, int]:
        """Also the time that it is complete up to, by the primary's clock. May raise StandbyUnfit.

        Without the primary's position, nobody knows how old the standby is: then it is unfit too.
        """
        try:
            return await self._read_once(name, body)
        except StandbyUnfit as unfit:
            if unfit.reason != OTHER_STORE:
                raise
        # Another process may have written its mark in between.
        return await self._read_once(name, body)

    async def _read_once(self, name: str, body: Callable[[Records], Awaitable[T]]) -> tuple[T, int]:
        try:
            async with asyncio.timeout(READ_S):
                position = await self._position()
                return await self._read(name, body, position), position.at_us
        except TimeoutError:
            if self._engine is not None:
                self._engine.try_next_host()
            raise StandbyUnfit(SLOW, f"no answer within {READ_S:g} s") from None
        except StoreFault as fault:
            raise StandbyUnfit(_reason(fault), str(fault)) from fault

    async def _read(self, name: str, body: Callable[[Records], Awaitable[T]], position: LogPosition) -> T:
        engine, cache = await self._opened()

        async def caught_up(connection: Connection) -> None:
            """Before the transaction: its snapshot must be taken after the position was replayed."""
            give_up_at_s, looks = monotonic() + CATCH_UP_S, 0
            while not await connection.fetchval(_REPLAYED, position.lsn):
                if monotonic() > give_up_at_s:
                    engine.try_next_host()
                    raise StandbyUnfit(BEHIND, f"more than {CATCH_UP_S:g} s behind, or no standby any more")
                await asyncio.sleep(_POLL_S[min(looks, len(_POLL_S) - 1)])
                looks += 1

        async def checked(transaction: Transaction) -> T:
            if await _read_mark(transaction) != position.mark:
                engine.try_next_host()
                raise StandbyUnfit(OTHER_STORE, "it does not copy this store, or follows a former primary")
            return await body(Records(transaction, cache))

        return await engine.read_when(caught_up, name, checked)

    async def _opened(self) -> tuple[PostgresEngine, DeskCache]:
        async with self._opening:
            if self._engine is None or self._cache is None:
                engine = PostgresEngine(self._url, POOL_SIZE, standby=True)
                try:
                    await engine.open()
                except BaseException:
                    await engine.close()
                    raise
                # A cache of its own: what the primary's reads keep there may be newer.
                self._engine, self._cache = engine, DeskCache(engine)
            return self._engine, self._cache

    async def _position(self) -> LogPosition:
        position = await self._primary.log_position()
        if position.timeline != self._marked:
            mark = token_hex(_MARK_BYTES)
            await self._primary.write(
                "standby_mark", lambda open_: open_.run("put_deployment_value", MARK, mark)
            )
            self._marked = position.timeline
            position = await self._primary.log_position()
        return position


async def _read_mark(transaction: Transaction) -> str | None:
    row = await transaction.one("deployment_value", MARK)
    return None if row is None else str(row["value"])


def _reason(fault: StoreFault) -> str:
    """A standby cancels reports that hinder its replay."""
    return CONFLICT if isinstance(fault.__cause__, asyncpg.SerializationError) else AWAY


class Reports:
    """Reads whole days and histories for people: at the standby if there is one, else at the primary."""

    def __init__(self, primary: RecordStore, standby: Standby | None = None) -> None:
        self._primary = primary
        self.standby = standby
        self.outcomes: Counter[str] = Counter()
        """How many reports were read at the standby, and how many at the primary, for which reason."""
        self._avoided_until_s = 0.0
        self._why_avoided = AWAY

    async def read(self, name: str, body: Callable[[Records], Awaitable[T]], told: Told | None = None) -> T:
        """One snapshot. `body` may run twice, and must have no other effects."""
        if self.standby is None:
            return await self._primary.read(name, body)
        if monotonic() < self._avoided_until_s:
            self.outcomes[self._why_avoided] += 1
            return await self._primary.read(name, body)
        try:
            found, at_us = await self.standby.read(name, body)
        except StandbyUnfit as unfit:
            self._note(name, unfit)
            return await self._primary.read(name, body)
        self.outcomes[READ_THERE] += 1
        if told is not None:
            told(at_us)
        return found

    def _note(self, name: str, unfit: StandbyUnfit) -> None:
        self.outcomes[unfit.reason] += 1
        _log.warning("report_from_primary", report=name, reason=unfit.reason, error=str(unfit))
        if unfit.reason != CONFLICT:  # Which another report does not have to meet.
            self._avoided_until_s = monotonic() + AVOIDED_S
            self._why_avoided = unfit.reason

    async def close(self) -> None:
        if self.standby is not None:
            await self.standby.close()
