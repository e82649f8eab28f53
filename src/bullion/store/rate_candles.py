"""Candles of rates in the store: written by one node at a time; old ones are deleted with each write."""

from collections.abc import Mapping, Sequence

import msgspec

from bullion.rates.candle import Candle, Step, SymbolCandle

from .engine import Engine, Row, Transaction, one_row

_LEASE = "rate_candles"
_US_PER_S = 1_000_000
_DAY_S = 86_400
_DELETED_MAX = 1_000
"""Beside as many as are written: so a write stays small after the setting was lowered."""

_encode = msgspec.json.Encoder().encode


class StoredCandles:
    def __init__(self, engine: Engine, days_kept: Mapping[Step, int]) -> None:
        self._engine = engine
        self._days_kept = days_kept

    async def write(self, holder: str, lease_s: float, candles: Sequence[SymbolCandle]) -> bool:
        """False: another node holds the lease. With a lease of 0 s, the next node can take it at once."""

        async def body(transaction: Transaction) -> bool:
            now_us = (await one_row(transaction, "catalogue_state"))["clock_us"]
            until_us = now_us + round(lease_s * _US_PER_S) if lease_s else 0
            if await transaction.one("take_lease", _LEASE, holder, until_us, now_us) is None:
                return False
            await merge_candles(transaction, candles)
            for step, days in self._days_kept.items():
                oldest_s = now_us // _US_PER_S - days * _DAY_S
                most = len(candles) + _DELETED_MAX
                await transaction.run("delete_old_candles", step.value, oldest_s, most)
            return True

        return await self._engine.write("rate_candles", body, custom_plans=True)


async def merge_candles(transaction: Transaction, candles: Sequence[SymbolCandle]) -> None:
    """Each candle of a symbol may be named once."""
    if candles:
        rows = [
            (broker, code, step.value, *msgspec.structs.astuple(candle))
            for broker, code, step, candle in candles
        ]
        await transaction.run("merge_candles", _encode(rows).decode())


def candle(row: Row) -> Candle:
    return Candle(*(row[name] for name in Candle.__struct_fields__))
