"""What the desk reads of the market: symbols with their stock, and the newest ticks."""

from dataclasses import dataclass

from bullion.metals.symbol import Symbol
from bullion.rates.tick import Tick


@dataclass(frozen=True, slots=True)
class HeldSymbol:
    symbol: Symbol
    stock_e4: int | None
    """None: stock is not counted."""


@dataclass(frozen=True, slots=True)
class HeldTick:
    """The tick that the board shows of an instrument."""

    tick: Tick
    own: bool
    """Put by the broker's own desk, not by the feed that all brokers share."""
