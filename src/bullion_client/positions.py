"""What the account holds, against what the operator allows it to hold."""

from dataclasses import dataclass
from decimal import Decimal

from bullion_client.enums import Metal, Unit


@dataclass(frozen=True, slots=True)
class MetalPosition:
    """The open position in one metal and its weight allocation."""

    net: Decimal
    """Bought less sold, of what is open."""

    limit: Decimal
    """The allocation."""

    used: Decimal
    """`net` without its sign."""

    free: Decimal
    """What is left of the allocation, never below 0."""

    unit: Unit
    """What the weights are measured in."""


@dataclass(frozen=True, slots=True)
class SymbolPosition:
    """What is open in one symbol. Production only."""

    symbol_code: str
    """The symbol."""

    metal: Metal
    """Its metal."""

    buy: Decimal
    """The open weight that was bought."""

    sell: Decimal
    """The open weight that was sold."""

    net: Decimal
    """The one less the other."""

    unit: Unit
    """What the weights are measured in."""


@dataclass(frozen=True, slots=True)
class Positions:
    """The positions of an account."""

    gold: MetalPosition
    """The position in gold."""

    silver: MetalPosition
    """The position in silver."""

    symbols: tuple[SymbolPosition, ...] = ()
    """A row for each symbol with something open. Empty in the test environment."""
