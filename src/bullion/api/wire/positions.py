"""Net positions against the weight allocation."""

from functools import lru_cache
from typing import Annotated

from msgspec import Struct

from bullion.allocation.book import OpenWeight
from bullion.allocation.position import Position
from bullion.metals.metal import Metal
from bullion.metals.weight import weight_text

from .values import MetalText, SignedWeight, Unit, Weight, about


class MetalPosition(Struct, frozen=True):
    """A metal's position. Buys and sells net off, whatever the symbol."""

    net: Annotated[SignedWeight, about("What was bought less what was sold; below 0 when more was sold.")]
    limit: Annotated[Weight, about("The allocation: the weight that the account may hold, long or short.")]
    used: Annotated[Weight, about("`net` without its sign.")]
    free: Annotated[Weight, about("What is left of `limit`; 0 also when `used` is past it.")]
    unit: Annotated[Unit, about("The unit of all four: `g` for gold, `kg` for silver.")]


class TestPositions(Struct):
    """The positions of the account's test book, against its real allocation."""

    gold: MetalPosition
    silver: MetalPosition


class SymbolPosition(Struct):
    """What is open in one symbol."""

    symbol_code: Annotated[str, about("The symbol.")]
    metal: Annotated[MetalText, about("Which allocation it counts against.")]
    buy: Annotated[Weight, about("The weight of all open buys.")]
    sell: Annotated[Weight, about("The weight of all open sells.")]
    net: Annotated[SignedWeight, about("`buy` less `sell`.")]
    unit: Annotated[Unit, about("The unit of all three: `g` for gold, `kg` for silver.")]


class ProductionPositions(TestPositions):
    """The positions of the account's real book."""

    symbols: Annotated[
        list[SymbolPosition],
        about("One row for each symbol with an open order, also where buys and sells cancel out."),
    ]


@lru_cache(maxsize=8192)
def metal_position(metal: Metal, position: Position) -> MetalPosition:
    return MetalPosition(
        net=weight_text(position.net_e4),
        limit=weight_text(position.limit_e4),
        used=weight_text(position.used_e4),
        free=weight_text(position.free_e4),
        unit=metal.unit,
    )


def symbol_position(weight: OpenWeight) -> SymbolPosition:
    return SymbolPosition(
        symbol_code=weight.symbol_code,
        metal=weight.metal,
        buy=weight_text(weight.buy_e4),
        sell=weight_text(weight.sell_e4),
        net=weight_text(weight.buy_e4 - weight.sell_e4),
        unit=weight.metal.unit,
    )
