"""Records when each key was last used: collected in memory, and written every two seconds.

If thousands of keys are in use, to write them all each time would be a burst that costs as much as hundreds
of orders. So each write takes a share of them, those that have waited longest.
"""

import asyncio
from collections.abc import Callable, Iterable
from itertools import islice

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.last_success import note_start, note_success

from .engine import Engine, Transaction

_EVERY_S = 2.0
_AT_ONCE = 100
"""So many keys are written each time, whatever waits."""
_SHARES = 15
"""Of more keys, a share is written each time: a key waits for about half a minute."""

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
        """Since the last write."""
        self._waiting: dict[str, int] = {}
        """When they were used last, in the order in which they began to wait."""

    def add(self, key_id: str) -> None:
        # Without a time: the time of the next write is close enough.
        self._used.add(key_id)

    async def run(self) -> None:
        """Run for as long as the node does."""
        note_start("key_uses")
        while True:
            await asyncio.sleep(_EVERY_S)
            await self.write()

    async def write(self, *, everything: bool = False) -> None:
        used, self._used = self._used, set()
        if used:
            self._on_written(used)
        self._waiting |= dict.fromkeys(used, self._now_us())
        if not self._waiting:
            note_success("key_uses")
            return
        share = max(_AT_ONCE, -(-len(self._waiting) // _SHARES))
        written = dict(islice(self._waiting.items(), None if everything else share))

        async def body(transaction: Transaction) -> None:
            await transaction.run("record_key_uses", _encode(sorted(written.items())).decode())

        try:
            await self._engine.write("key_uses", body)
        except StoreFault as fault:
            # Only a hint for the desk: they go on waiting.
            _log.warning("key_uses_not_written", fault=repr(fault), keys=len(written))
        else:
            for key_id in written:
                self._waiting.pop(key_id, None)
            note_success("key_uses")
