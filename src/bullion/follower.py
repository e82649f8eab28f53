"""Keeps a part of a node's memory up to date with the store."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

import structlog

from bullion.faults import StoreFault
from bullion.last_success import note_start, note_success

_POLL_S = 0.25
"""Even without notifications, memory is never older than this plus one read."""
_RETRY_S = 0.25

_log = structlog.get_logger("follower")


class Follower:
    def __init__(
        self,
        what: str,
        read: Callable[[], Awaitable[None]],
        wait_for_change: Callable[[float], Awaitable[None]],
    ) -> None:
        """`read` brings memory up to date. `wait_for_change` returns on a change or after a timeout."""
        self._what = what
        self._read = read
        self._wait_for_change = wait_for_change
        self._reading: asyncio.Future[None] | None = None
        self._store_lost = False

    async def catch_up(self) -> None:
        """Bring memory up to date with the store. May raise StoreFault.

        A read that is already running may be older than what this caller needs, so callers that arrive
        meanwhile share the next read.
        """
        reading = self._reading
        if reading is not None:
            await asyncio.wait([reading])
        if self._reading is reading:
            self._reading = asyncio.ensure_future(self._read())
        shared = self._reading
        assert shared is not None  # noqa: S101 - set two lines above, or by another caller meanwhile
        await asyncio.shield(shared)

    async def run(self) -> None:
        """Follow the store in the background, until cancelled."""
        note_start(self._what)
        read_s = monotonic()
        while True:
            try:
                await self._wait_for_change(_POLL_S)
                await self.catch_up()
            except StoreFault as fault:
                if not self._store_lost:
                    _log.error("store_lost", what=self._what, fault=repr(fault))
                self._store_lost = True
                await asyncio.sleep(_RETRY_S)
            except Exception:  # noqa: BLE001
                # The node must not stop because of it: its memory becomes too old, and is no longer used.
                _log.exception("refresh_failed", what=self._what)
                await asyncio.sleep(_RETRY_S)
            else:
                note_success(self._what)
                now_s = monotonic()
                if self._store_lost:
                    _log.info("store_back", what=self._what, away_s=round(now_s - read_s, 1))
                self._store_lost = False
                read_s = now_s
