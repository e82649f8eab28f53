"""Keeps a part of a node's memory up to date with the store."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bullion.faults import StoreFault

_POLL_S = 0.25
"""Even without notifications, memory is never older than this plus one read."""
_RETRY_S = 0.25

_log = structlog.get_logger("follower")


class Follower:
    def __init__(
        self, what: str, ask: Callable[[], Awaitable[None]], changed: Callable[[float], Awaitable[None]]
    ) -> None:
        """`ask` brings memory up to date; `changed` returns when there may be something new."""
        self._what = what
        self._ask = ask
        self._changed = changed
        self._asking: asyncio.Future[None] | None = None
        self._cut_off = False

    async def catch_up(self) -> None:
        """Bring memory up to date with the store. May raise StoreFault.

        A read that is already running may be older than what this caller needs, so callers that arrive
        meanwhile share the next read.
        """
        asking = self._asking
        if asking is not None:
            await asyncio.wait([asking])
        if self._asking is asking:
            self._asking = asyncio.ensure_future(self._ask())
        shared = self._asking
        assert shared is not None  # noqa: S101 - set two lines above, or by another caller meanwhile
        await asyncio.shield(shared)

    async def keep(self) -> None:
        """Run for as long as the node does."""
        while True:
            try:
                await self._changed(_POLL_S)
                await self.catch_up()
            except StoreFault as fault:
                if not self._cut_off:
                    _log.error("store_cut_off", what=self._what, fault=repr(fault))
                self._cut_off = True
                await asyncio.sleep(_RETRY_S)
            except Exception:  # noqa: BLE001
                # A row that cannot be read must not end the node: its memory grows too old, and is not used.
                _log.exception("not_followed", what=self._what)
                await asyncio.sleep(_RETRY_S)
            else:
                if self._cut_off:
                    _log.info("store_back", what=self._what)
                self._cut_off = False
