"""Keeps the catalogue as the store has it."""

import asyncio
import time
from collections.abc import Callable

import structlog

from bullion.faults import StoreFault

from .catalogue import Catalogue
from .source import Source

_POLL_S = 0.25
"""Whatever becomes of notifications, memory is never older than this and one read."""
_RETRY_S = 0.25

_log = structlog.get_logger("catalogue")


class Keeper:
    def __init__(
        self,
        catalogue: Catalogue,
        source: Source,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._catalogue = catalogue
        self._source = source
        self._monotonic_ns = monotonic_ns
        self._asking: asyncio.Task[None] | None = None
        self._cut_off = False

    async def catch_up(self) -> None:
        """Bring memory to what the store holds now. May raise StoreFault.

        Those who ask while a question is on its way to the store may not share its answer, which may be
        older than what they ask about; they share the next one.
        """
        asking = self._asking
        if asking is not None:
            await asyncio.wait([asking])
        if self._asking is asking:
            self._asking = asyncio.create_task(self._ask())
        shared = self._asking
        assert shared is not None  # noqa: S101 - set two lines above, or by another caller meanwhile
        await asyncio.shield(shared)

    async def _ask(self) -> None:
        asked_at_ns = self._monotonic_ns()
        changes = await self._source.changes(self._catalogue.version)
        self._catalogue.apply(changes, asked_at_ns)

    async def keep(self) -> None:
        """Run for as long as the node does."""
        while True:
            try:
                await self._source.changed(_POLL_S)
                await self.catch_up()
            except StoreFault as fault:
                if not self._cut_off:
                    _log.error("store_cut_off", fault=repr(fault), age_s=round(self._catalogue.age_s(), 1))
                self._cut_off = True
                await asyncio.sleep(_RETRY_S)
            except Exception:  # noqa: BLE001
                # A row that we cannot read must not end the node: memory grows old, and is then not trusted.
                _log.exception("catalogue_not_followed")
                await asyncio.sleep(_RETRY_S)
            else:
                if self._cut_off:
                    _log.info("store_back")
                self._cut_off = False
