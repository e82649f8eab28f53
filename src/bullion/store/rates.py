"""Ticks in the store: read by every node, published by one, or put by the desk."""

from collections.abc import Sequence

import msgspec

from bullion.rates.board import MARKET
from bullion.rates.freshness import AHEAD_US_MAX
from bullion.rates.source import TickSet
from bullion.rates.tick import Tick
from bullion.unreadable import Unreadable

from . import row_decoders
from .engine import Engine, Row, Transaction, one_row

_LISTENER = "rates"
_FEED_LEASE = "feed"
_US_PER_S = 1_000_000

_encode = msgspec.json.Encoder().encode


def tick_set(version: int, rows: Sequence[Row]) -> TickSet:
    ticks: list[tuple[str, Tick]] = []
    unreadable: list[Unreadable] = []
    for row in rows:
        found = row_decoders.tick(row)
        if isinstance(found, Unreadable):
            unreadable.append(found)
        else:
            ticks.append((row["broker"], found))
    return TickSet(version, ticks, unreadable)


class StoredRates:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known_failovers = engine.failovers

    async def wait_for_change(self, timeout_s: float) -> None:
        await self._engine.wait_for_change(timeout_s, _LISTENER)

    async def ticks(self, since: int | None) -> TickSet:
        # Noted from before the read: if another server takes over meanwhile, the next read is whole.
        failovers = self._engine.failovers
        replaced = failovers != self._known_failovers
        found = await self._ticks(None if replaced else since)
        self._known_failovers = failovers
        return msgspec.structs.replace(found, whole=True) if replaced else found

    async def _ticks(self, since: int | None) -> TickSet:
        if since is not None:
            rows = await self._engine.all("ticks_since", since)
            if rows and rows[0]["version"] >= since:  # Less: a store put back to an older copy.
                return tick_set(rows[0]["version"], [row for row in rows if row["instrument"] is not None])

        async def body(transaction: Transaction) -> TickSet:
            version = (await one_row(transaction, "rates_version"))["version"]
            return tick_set(version, await transaction.all("all_ticks"))

        return await self._engine.read("ticks", body)

    async def publish(self, holder: str, lease_s: float, ticks: Sequence[Tick]) -> bool:
        async def body(transaction: Transaction) -> bool:
            lease = (_FEED_LEASE, holder, round(lease_s * _US_PER_S))
            taken = await transaction.one("take_lease_for", *lease)
            if taken is None:
                return False
            await put_ticks(transaction, MARKET, ticks, taken["clock_us"])
            return True

        return await self._engine.write("publish_ticks", body)


async def put_ticks(transaction: Transaction, broker: str, ticks: Sequence[Tick], now_us: int) -> None:
    """One of an instrument. The store computes `moved_at_us` itself, and notifies the nodes."""
    version = (await one_row(transaction, "move_rates_version", _LISTENER))["version"]
    rows = [(each.instrument, each.bid_e6, each.ask_e6, each.at_us, each.pinned_until_us) for each in ticks]
    await transaction.run("put_ticks", broker, version, _encode(rows).decode(), now_us + AHEAD_US_MAX)
