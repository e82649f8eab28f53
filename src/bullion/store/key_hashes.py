"""Hashes of keys that were made with the deployment's old secret: noted by the calls, written in batches."""

import asyncio

import msgspec
import structlog

from bullion.faults import StoreFault

from .engine import Engine, Transaction

_EVERY_S = 2.0

_log = structlog.get_logger("store")
_encode = msgspec.json.Encoder().encode


class KeyHashes:
    """The memory of nodes keeps the old hashes: they are accepted while a node knows both secrets."""

    def __init__(self, engine: Engine, secret_id: str) -> None:
        self._engine = engine
        self._secret_id = secret_id
        self._due: dict[str, tuple[str, str]] = {}
        self._written: set[str] = set()

    def add(self, key_id: str, stored: bytes, wanted: bytes) -> None:
        if key_id not in self._written:
            self._due[key_id] = (stored.hex(), wanted.hex())

    async def run(self) -> None:
        """Run for as long as the node does."""
        while True:
            await asyncio.sleep(_EVERY_S)
            await self.write()

    async def write(self) -> None:
        if not self._due:
            return
        due, self._due = self._due, {}
        # In one order, so that two nodes never wait for each other in a circle.
        rows = [(key_id, *due[key_id]) for key_id in sorted(due)]

        async def body(transaction: Transaction) -> None:
            await transaction.run("rehash_keys", _encode(rows).decode(), self._secret_id)

        try:
            await self._engine.write("rehash_keys", body)
        except StoreFault as fault:
            self._due = due | self._due
            _log.warning("keys_not_rehashed", fault=repr(fault), keys=len(due))
        else:
            self._written |= due.keys()
