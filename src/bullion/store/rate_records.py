"""Rates and duties as the desk reads and sets them."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TypeGuard

import msgspec

from bullion.metals.pricing import Landed
from bullion.metals.rupees import rupees_text
from bullion.metals.symbol import Symbol
from bullion.orders.order_id import ids_since
from bullion.rates.board import MARKET, Board
from bullion.rates.candle import Candle, Step
from bullion.rates.duty import Duty, DutyTable
from bullion.rates.feeds.source_settings import GuardNumbers
from bullion.rates.feeds.status import FeedStatus
from bullion.rates.tick import Tick
from bullion.records.market import BoardTick, PricedOrder
from bullion.unreadable import Unreadable, UnreadableRows

from . import feed_controls, rate_candles, rates, row_decoders
from .decoding import readable
from .desk_transaction import DeskTransaction
from .engine import Row

_ALL = 1 << 31
_RECORDED_US = 60_000_000
"""The longest time between pricing and recording an order."""


class RateRecords(DeskTransaction):
    async def tick(self, broker: str, instrument: str) -> BoardTick | None:
        found = [await self._find("one_tick", whose, instrument) for whose in (MARKET, broker)]
        shown = _shown(broker, [row for row in found if row is not None])
        return readable(shown[0]) if shown else None

    async def ticks(self, broker: str) -> list[BoardTick | Unreadable]:
        """For each instrument, the tick that orders are priced by."""
        return _shown(broker, await self._transaction.all("ticks_of_broker", broker))

    async def put_tick(self, broker: str, tick: Tick) -> None:
        """The store computes `moved_at_us` itself."""
        await rates.put_ticks(self._transaction, broker, [tick], await self.now_us())

    async def feed_status(self) -> FeedStatus | None:
        return await feed_controls.read_status(self._transaction)

    async def feed_guards(self) -> Mapping[str, GuardNumbers]:
        """Those that the desk changed, by instrument."""
        return (await feed_controls.read_controls(self._transaction)).guards

    async def put_feed_guard(self, instrument: str, numbers: GuardNumbers) -> None:
        await self._transaction.run("put_feed_guard", instrument, msgspec.json.encode(numbers).decode())

    async def preferred_source(self, instrument: str) -> str | None:
        """None: the order of the settings."""
        held = (await feed_controls.read_controls(self._transaction)).preferences.get(instrument)
        return None if held is None else held.source

    async def prefer_source(self, instrument: str, source: str | None, at_us: int) -> None:
        """None: the order of the settings."""
        if source is None:
            await self._transaction.run("delete_feed_preference", instrument)
        else:
            await self._transaction.run("put_feed_preference", instrument, source, at_us)

    async def release_quote(self, source: str, instrument: str, level_e6: int, at_us: int) -> None:
        await self._transaction.run("put_feed_release", source, instrument, level_e6, at_us)

    async def duty(self, broker: str, name: str) -> DutyTable | None:
        found = await self._transaction.all("one_duty", broker, name)
        return readable(row_decoders.duty_table(found)) if found else None

    async def duties(self, broker: str) -> list[DutyTable | Unreadable]:
        found = await self._transaction.all("duties_of_broker", broker)
        return [row_decoders.duty_table(list(table)) for _, table in groupby(found, lambda row: row["name"])]

    async def orders_priced_by(
        self, table: DutyTable, duty: Duty, from_us: int, until_us: int, limit: int
    ) -> list[PricedOrder]:
        """The first production orders, up to the limit, that were priced by this duty in that time.

        Found by the time in order ids and the duty in `price_anatomy`. That has the amount, not the table's
        name: orders of symbols that use another table now are left out.
        """
        symbols = map(row_decoders.symbol, await self._transaction.all("symbols_page", table.broker, _ALL, 0))
        others = [each.code for each in symbols if _uses_another(each, table)]
        found = await self._transaction.all(
            "orders_priced_by_duty",
            ids_since(from_us),
            ids_since(until_us + _RECORDED_US),
            _component(duty),
            table.broker,
            msgspec.json.encode(others).decode(),
            limit,
        )
        return [PricedOrder(str(row["id"]), row["deal_no"]) for row in found]

    async def candles(self, broker: str, symbol_code: str, step: Step, since_s: int) -> list[Candle]:
        """Of a symbol, oldest first."""
        found = await self._transaction.all("candles_of_symbol", broker, symbol_code, step.value, since_s)
        return [rate_candles.candle(row) for row in found]

    async def candles_of_all(self, broker: str, step: Step, since_s: int) -> dict[str, list[Candle]]:
        """Of every symbol of the broker that has any, oldest first."""
        found = await self._transaction.all("candles_of_broker", broker, step.value, since_s)
        candles: dict[str, list[Candle]] = {}
        for row in found:
            candles.setdefault(row["symbol_code"], []).append(rate_candles.candle(row))
        return candles

    async def last_candles(self, broker: str, step: Step, before_s: int, since_s: int) -> dict[str, Candle]:
        """The last candle of each symbol that began before one time and from another on."""
        found = await self._transaction.all("last_candle_before", broker, step.value, before_s, since_s)
        return {row["symbol_code"]: rate_candles.candle(row) for row in found}

    async def put_duty(self, table: DutyTable) -> None:
        await self._record_change("duty", table.broker, table.name)
        await self._transaction.run("drop_duty", table.broker, table.name)
        for duty in table.duties:
            await self._transaction.run(
                "insert_duty", table.broker, table.name, duty.from_date.isoformat(), duty.rupees_paise
            )


def _shown(broker: str, found: Sequence[Row]) -> list[BoardTick | Unreadable]:
    """Applies the board's own rules, so that the desk sees the ticks that orders are priced by."""
    read = rates.tick_set(0, found)
    board = Board(UnreadableRows(logs=False))
    board.apply(read.ticks, read.version, read.unreadable)
    own = {tick.instrument: tick for whose, tick in read.ticks if whose == broker}
    shown: dict[str, BoardTick | Unreadable] = {
        tick.instrument: BoardTick(tick, own.get(tick.instrument) == tick) for tick in board.ticks(broker)
    }
    for entry in read.unreadable:
        shown.setdefault(entry.subject, entry)
    return [shown[instrument] for instrument in sorted(shown)]


def _uses_another(symbol: Symbol | Unreadable, table: DutyTable) -> TypeGuard[Symbol]:
    return (
        isinstance(symbol, Symbol)
        and isinstance(symbol.pricing, Landed)
        and symbol.pricing.duty != table.name
    )


def _component(duty: Duty) -> str:
    """A LIKE pattern for `price_anatomy` with this duty: see `bullion.orders.offer`."""
    component = {"name": "duty", "value": rupees_text(duty.rupees_paise)}
    return f"%{msgspec.json.encode(component).decode()}%"
