"""Watches whether this code may use the store as it is now.

An older copy may be restored under a running node, or a later version may have taken a step that shuts this
one out.
"""

import asyncio

import structlog

from bullion.faults import StoreFault
from bullion.last_success import note_start, note_success
from bullion.store.engine import Engine
from bullion.store.schema import SchemaMismatch

_EVERY_S = 1.0
_BEHIND = "The store's schema is older than this version of Bullion. Run 'bullion migrate'."

_log = structlog.get_logger("store")


class SchemaWatch:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._current = True

    def current(self) -> bool:
        return self._current

    async def check(self) -> None:
        """If the store cannot be read, the last result stays: that fault is reported elsewhere."""
        try:
            unfit = _BEHIND if await self._engine.missing_steps() else None
        except SchemaMismatch as error:
            unfit = str(error)
        except StoreFault:
            return
        if unfit is not None and self._current:
            _log.error("schema_unfit", reason=unfit)
        elif unfit is None and not self._current:
            _log.info("schema_fit")
        self._current = unfit is None
        note_success("schema")

    async def run(self) -> None:
        """Run for as long as the node does."""
        note_start("schema")
        while True:
            await self.check()
            await asyncio.sleep(_EVERY_S)
