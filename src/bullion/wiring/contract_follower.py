"""Keeps the contracts that covers are dealt in in memory, because every order that is sent needs them."""

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from bullion.faults import StoreFault
from bullion.hedge.contract import Contract
from bullion.last_success import note_start, note_success
from bullion.store.records import RecordStore

_EVERY_S = 1.0

_log = structlog.get_logger("hedge")


class ContractFollower:
    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._found: Mapping[str, Sequence[Contract]] = {}

    def of_broker(self, broker: str) -> Sequence[Contract]:
        """The contracts that may be dealt in."""
        return self._found.get(broker, ())

    async def refresh(self) -> None:
        """May raise StoreFault."""
        self._found = await self._records.read("contracts", lambda records: records.active_contracts())

    async def run(self) -> None:
        """Read them again in the background, until cancelled."""
        note_start("contracts")
        while True:
            try:
                await self.refresh()
                note_success("contracts")
            except StoreFault as fault:
                _log.warning("contracts_not_read", fault=repr(fault))
            await asyncio.sleep(_EVERY_S)
