"""Rates and duties as the desk reads and puts them."""

from collections.abc import Sequence
from itertools import groupby

from bullion.rates.board import MARKET, Board
from bullion.rates.duty import DutyTable
from bullion.rates.tick import Tick
from bullion.records.port import HeldTick

from . import rates, rows
from .engine import Row
from .open_transaction import OpenTransaction


class RateRecords(OpenTransaction):
    async def tick(self, broker: str, instrument: str) -> HeldTick | None:
        found = [await self._find("one_tick", whose, instrument) for whose in (MARKET, broker)]
        shown = _shown(broker, [row for row in found if row is not None])
        return shown[0] if shown else None

    async def ticks(self, broker: str) -> list[HeldTick]:
        return _shown(broker, await self._transaction.all("ticks_of_broker", broker))

    async def put_tick(self, broker: str, tick: Tick) -> None:
        await rates.put_ticks(self._transaction, broker, [tick])

    async def duty(self, broker: str, name: str) -> DutyTable | None:
        found = await self._transaction.all("one_duty", broker, name)
        return rows.duty_table(found) if found else None

    async def duties(self, broker: str) -> list[DutyTable]:
        found = await self._transaction.all("duties_of_broker", broker)
        return [rows.duty_table(list(table)) for _, table in groupby(found, lambda row: row["name"])]

    async def put_duty(self, table: DutyTable) -> None:
        await self._note("duty", table.broker, table.name)
        await self._transaction.run("drop_duty", table.broker, table.name)
        for duty in table.duties:
            await self._transaction.run(
                "insert_duty", table.broker, table.name, duty.from_date.isoformat(), duty.rupees_paise
            )


def _shown(broker: str, found: Sequence[Row]) -> list[HeldTick]:
    """By the board's own rule, so that the desk sees what orders are priced by."""
    board = Board()
    board.take([(row["broker"], rates.tick(row)) for row in found], version=0)
    own = {row["instrument"]: rates.tick(row) for row in found if row["broker"] == broker}
    return [HeldTick(tick, own.get(tick.instrument) == tick) for tick in board.ticks(broker)]
