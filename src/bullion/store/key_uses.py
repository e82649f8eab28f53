"""Records when each key was last used: collected in memory, and written for all keys every two seconds."""

import asyncio
from collections.abc import Callable, Iterable

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.last_success import note_success

from .engine import Engine, Transaction

_EVERY_S = 2.0

_log = structlog.get_logger("store")
_encode = msgspec.json.Encoder().encode


class KeyUses:
    def __init__(
        self,
        engine: Engine,
        now_us: Callable[[], int],
        on_written: Callable[[Iterable[str]], None] = lambda _: None,
    ) -> None:
        """`on_written` is called with the keys that were used, which memory then evicts last."""
        self._engine = engine
        self._now_us = now_us
        self._on_written = on_written
        self._used: set[str] = set()

    def add(self, key_id: str) -> None:
        # Without a time: the time of the write is close enough.
        self._used.add(key_id)

    async def run(self) -> None:
        """Run for as long as the node does."""
        while True:
            await asyncio.sleep(_EVERY_S)
            await self.write()

    async def write(self) -> None:
        if not self._used:
            note_success("key_uses")
            return
        used, self._used = self._used, set()
        self._on_written(used)
        at_us = self._now_us()

        async def body(transaction: Transaction) -> None:
            await transaction.run("record_key_uses", _encode(sorted(used)).decode(), at_us)

        try:
            await self._engine.write("key_uses", body)
        except StoreFault as fault:
            self._used |= used  # Only a hint for the desk: the next write retries.
            _log.warning("key_uses_not_written", fault=repr(fault), keys=len(used))
        else:
            note_success("key_uses")
