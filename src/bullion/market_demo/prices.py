"""The venue's own prices: a random walk for each symbol, which it quotes and fills at."""

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

_HALF_SPREAD_BPS = 1
_STEP_BPS = 2
_RANGE_BPS = 100
"""How far a price may go from where it began."""
_BPS = 10_000
_TICK_E6 = 10_000


class TwoSided(NamedTuple):
    bid_e6: int
    ask_e6: int


class Prices:
    """Deterministic by its seed."""

    def __init__(self, bases_e6: Mapping[str, int] | None = None, seed: int = 0) -> None:
        """By symbol, the middle to begin with."""
        self._bases_e6 = dict(bases_e6 or {})
        self._middles_e6 = dict(self._bases_e6)
        self._chance = Random(seed)  # noqa: S311 - prices for trials, no secret

    def step(self) -> None:
        for symbol, base_e6 in self._bases_e6.items():
            middle_e6 = self._middles_e6[symbol]
            moved_e6 = middle_e6 + middle_e6 * self._chance.randint(-_STEP_BPS, _STEP_BPS) // _BPS
            range_e6 = base_e6 * _RANGE_BPS // _BPS
            self._middles_e6[symbol] = min(max(moved_e6, base_e6 - range_e6), base_e6 + range_e6)

    def of(self, symbol: str) -> TwoSided | None:
        """None for a symbol that the venue does not quote."""
        middle_e6 = self._middles_e6.get(symbol)
        if middle_e6 is None:
            return None
        half_e6 = middle_e6 * _HALF_SPREAD_BPS // _BPS
        bid_e6 = (middle_e6 - half_e6) // _TICK_E6 * _TICK_E6
        return TwoSided(bid_e6, bid_e6 + max(2 * half_e6 // _TICK_E6, 1) * _TICK_E6)

    def fill_e6(self, symbol: str, side: str, limit_e6: int | None) -> int | None:
        """What an order is filled at: the quote, but never worse than its limit. None: nothing tells."""
        quote = self.of(symbol)
        if quote is None:
            return limit_e6
        price_e6 = quote.ask_e6 if side == "1" else quote.bid_e6
        if limit_e6 is None:
            return price_e6
        return min(price_e6, limit_e6) if side == "1" else max(price_e6, limit_e6)
