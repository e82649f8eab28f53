"""Watches whether the store's schema fits this code: an older copy may be restored under a running node."""

import asyncio

from bullion.faults import StoreFault
from bullion.store.engine import Engine
from bullion.store.schema import SchemaMismatch

_EVERY_S = 1.0


class SchemaWatch:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._current = True

    def current(self) -> bool:
        return self._current

    async def check(self) -> None:
        """If the store cannot be read, the last result stays: that fault is reported elsewhere."""
        try:
            self._current = await self._engine.steps_missing() == 0
        except SchemaMismatch:
            self._current = False
        except StoreFault:
            return

    async def run(self) -> None:
        """Run for as long as the node does."""
        while True:
            await self.check()
            await asyncio.sleep(_EVERY_S)
