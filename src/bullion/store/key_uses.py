"""When each key was last used: noted in memory by the calls, written now and then for all of them at once."""

import asyncio
from collections.abc import Callable, Iterable

import msgspec
import structlog

from bullion.faults import StoreFault

from .engine import Engine, Transaction

_EVERY_S = 2.0

_log = structlog.get_logger("store")
_encode = msgspec.json.Encoder().encode


class KeyUses:
    def __init__(
        self,
        engine: Engine,
        now_us: Callable[[], int],
        tell: Callable[[Iterable[str]], None] = lambda _: None,
    ) -> None:
        """`tell` hears now and then which keys were used: memory keeps those when it has to make room."""
        self._engine = engine
        self._now_us = now_us
        self._tell = tell
        self._used: set[str] = set()

    def note(self, key_id: str) -> None:
        # Only that it was used: the time is that of writing it, which is near enough for people.
        self._used.add(key_id)

    async def run(self) -> None:
        """Run for as long as the node does."""
        while True:
            await asyncio.sleep(_EVERY_S)
            await self.write()

    async def write(self) -> None:
        if not self._used:
            return
        used, self._used = self._used, set()
        self._tell(used)
        at_us = self._now_us()

        async def body(transaction: Transaction) -> None:
            await transaction.run("note_key_uses", _encode(sorted(used)).decode(), at_us)

        try:
            await self._engine.write("key_uses", body)
        except StoreFault as fault:
            self._used |= used  # Only a hint for the desk: it can wait for the next try.
            _log.warning("key_uses_not_written", fault=repr(fault), keys=len(used))
