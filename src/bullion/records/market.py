"""Symbols with their stock, ticks of the board, and orders by their price, for the desk."""

from dataclasses import dataclass

from bullion.metals.symbol import Symbol
from bullion.rates.tick import Tick


@dataclass(frozen=True, slots=True)
class SymbolWithStock:
    symbol: Symbol
    stock_e4: int | None
    """None: stock is not counted."""


@dataclass(frozen=True, slots=True)
class BoardTick:
    """The tick that the board shows of an instrument."""

    tick: Tick
    own: bool
    """Whether the broker's desk set it; otherwise it comes from the shared feed."""


@dataclass(frozen=True, slots=True)
class PricedOrder:
    id: str
    deal_no: int | None
    """None: it never became a deal."""
