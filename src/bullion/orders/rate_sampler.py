"""Samples the price of every symbol once a second, and writes the candles of each minute.

Every node samples, in memory. One node at a time writes, under a lease. The others keep their last minutes,
so that the next writer has those that the last one could not write. Candles merge in any order, so a minute
that two nodes wrote is right.
"""

import asyncio
from collections.abc import Iterator

import msgspec
import structlog

from bullion.accounts.switches import Switches
from bullion.catalogue.catalogue import Catalogue
from bullion.faults import StoreFault
from bullion.last_success import note_start, note_success
from bullion.metals.symbol import Symbol
from bullion.rates.board import Board
from bullion.rates.candle import Candle, CandleStore, Step, SymbolCandle, minute_begin_s
from bullion.rates.formula import SymbolPrice, symbol_price
from bullion.rates.freshness import fresh_from_us, frozen, stale_after_us
from bullion.rates.quote import account_price_paise
from bullion.refusals.refusal import RefusalCode

from .bounds import PAISE_MAX

_EVERY_S = 1.0
LEASE_S = 150.0
"""Longer than two turns of the writer. If it dies, another node takes over after this long."""
MINUTES_KEPT = 5
"""More minutes than a lease lasts, so that no minute is lost when another node takes over."""
_SYMBOLS_AT_ONCE = 50
_MEMORY_AGE_NS_MAX = 2_000_000_000
"""A node that has lost its store does not know the prices."""
_E4_PER_PAISA = 100
_PAISE_MAX = PAISE_MAX // _E4_PER_PAISA
"""The store could not keep a higher price, nor the other candles that are written with it."""

_log = structlog.get_logger("rate_samples")


class _Priced(msgspec.Struct, frozen=True):
    price_e4: int | None
    """None without a price, or if its source hangs."""
    fresh_from_us: int | None
    stale_after_us: int | None
    valid_until_us: int | None


class RateSampler:
    def __init__(self, catalogue: Catalogue, board: Board, store: CandleStore, holder: str) -> None:
        self._catalogue = catalogue
        self._board = board
        self._store = store
        self._holder = holder
        self._candles: dict[int, dict[tuple[str, str], Candle]] = {}
        """By minute, then by broker and symbol."""
        self._priced: dict[tuple[str, str], _Priced] = {}
        self._made_from = (-1, -1)
        self._written_s = 0
        self._failing = False

    async def run(self) -> None:
        """Run for as long as the node does."""
        note_start("rate_samples")
        while True:
            await asyncio.sleep(_EVERY_S)
            try:
                await self._take_turn()
            except Exception:  # noqa: BLE001 - the node must not stop because of its charts
                self._log_failure()
            else:
                if not self._failing:
                    note_success("rate_samples")

    async def stop(self) -> None:
        """Write the minute that has begun, and leave the lease to the next node."""
        try:
            await self.write(None, lease_s=0)
        except Exception:  # noqa: BLE001 - as above
            self._log_failure()

    async def _take_turn(self) -> None:
        for _ in self.sample():
            await asyncio.sleep(0)
        minute_s = minute_begin_s(self._catalogue.now_us())
        if minute_s > self._written_s:
            self._written_s = minute_s
            await self.write(minute_s)

    def _log_failure(self) -> None:
        if not self._failing:
            _log.exception("rate_samples_failed")
        self._failing = True

    def sample(self) -> Iterator[None]:
        """Yields now and then, so that calls need not wait until every symbol is sampled."""
        now_us = self._catalogue.now_us()
        if self._catalogue.older_than(_MEMORY_AGE_NS_MAX) or not self._board.ready:
            return
        begins_s = minute_begin_s(now_us)
        candles = self._candles.setdefault(begins_s, {})
        is_open: dict[str, bool] = {}
        for number, symbol in enumerate(list(self._catalogue.symbols.values()), 1):
            if number % _SYMBOLS_AT_ONCE == 0:
                yield
            broker = symbol.broker
            if broker not in is_open:
                is_open[broker] = _is_open(self._catalogue.switches_of(broker), now_us)
            price_e4 = self._price_e4(symbol, now_us) if symbol.trading and is_open[broker] else None
            if price_e4 is None:
                continue
            name = (broker, symbol.code)
            known = candles.get(name)
            candles[name] = (
                Candle.of(begins_s, price_e4, now_us) if known is None else known.add(price_e4, now_us)
            )

    async def write(self, until_s: int | None, *, lease_s: float = LEASE_S) -> None:
        """Write the minutes that began before `until_s`, or all of them. A failed write is tried again."""
        for old_s in sorted(self._candles)[:-MINUTES_KEPT]:
            del self._candles[old_s]
        minutes = [each for each in self._candles if until_s is None or each < until_s]
        try:
            written = await self._store.write(self._holder, lease_s, self._rows(minutes))
        except StoreFault as fault:
            if not self._failing:
                _log.warning("rate_samples_delayed", fault=repr(fault))
            self._failing = True
            return
        self._failing = False
        if written:
            for minute_s in minutes:
                del self._candles[minute_s]

    def _rows(self, minutes: list[int]) -> list[SymbolCandle]:
        """The candles of these minutes, and what they add to those of their hours and days."""
        rows: dict[tuple[str, str, Step, int], Candle] = {}
        for minute_s in minutes:
            for (broker, code), candle in self._candles[minute_s].items():
                zone = self._catalogue.switches_of(broker).zone
                for step in Step:
                    part = candle.within(step, zone)
                    name = (broker, code, step, part.begins_s)
                    rows[name] = rows[name].merge(part) if name in rows else part
        return [SymbolCandle(broker, code, step, each) for (broker, code, step, _), each in rows.items()]

    def _price_e4(self, symbol: Symbol, now_us: int) -> int | None:
        """Computed again only if something behind a price may have changed. None if it is too old."""
        made_from = (self._catalogue.serial, self._board.serial)
        if made_from != self._made_from:
            self._priced.clear()
            self._made_from = made_from
        name = (symbol.broker, symbol.code)
        priced = self._priced.get(name)
        if priced is None or (priced.valid_until_us is not None and now_us >= priced.valid_until_us):
            priced = self._priced[name] = self._price(symbol, now_us)
        from_us, until_us = priced.fresh_from_us, priced.stale_after_us
        stale = until_us is not None and now_us > until_us
        ahead = from_us is not None and now_us < from_us
        return None if stale or ahead else priced.price_e4

    def _price(self, symbol: Symbol, now_us: int) -> _Priced:
        broker = symbol.broker
        price = symbol_price(
            symbol,
            lambda instrument: self._board.tick(broker, instrument),
            lambda duty: self._catalogue.duties.get((broker, duty)),
            now_us,
        )
        if isinstance(price, RefusalCode):
            # A duty that comes into force may be what is missing.
            return _Priced(None, None, None, valid_until_us=now_us)
        if frozen(price.ticks, symbol.freeze_after_s):
            return _Priced(None, None, None, None)
        ticks, age_s_max = price.ticks, symbol.rate_age_s_max
        return _Priced(
            middle_price_e4(price),
            fresh_from_us(ticks, age_s_max),
            stale_after_us(ticks, age_s_max),
            price.valid_until_us,
        )


def middle_price_e4(price: SymbolPrice) -> int | None:
    """Between bid and ask, each in whole paise; the only side of a symbol that has one."""
    sides = [account_price_paise(each, 0) for each in (price.bid, price.ask) if each is not None]
    if not sides or not all(0 < side <= _PAISE_MAX for side in sides):
        return None
    return sum(sides) * _E4_PER_PAISA // len(sides)


def _is_open(switches: Switches, now_us: int) -> bool:
    return switches.trading_hours is None or switches.trading_hours.is_open(now_us)
