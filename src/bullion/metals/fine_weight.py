"""Fine weight: the pure metal in a gross weight, in whole milligrams.

The hedge is measured in it, because bars and contracts of different fineness cover each other only by their
pure metal. Clients' positions and allocations are gross weights.
"""

from .metal import Metal
from .rounding import half_up
from .weight import ONE_E4

FINENESS_E4_ONE = 10_000
"""Pure metal. 9990 is what the trade calls 999, 9160 is 22 carat."""
FINENESS_E4_USUAL = 9_990

NG_PER_MG = 1_000_000
NG_PER_G = 1_000 * NG_PER_MG
NG_PER_KG = 1_000 * NG_PER_G
NG_PER_OUNCE = 31_103_476_800
"""The troy ounce, exactly."""

_MG_PER_UNIT = {Metal.GOLD: 1_000, Metal.SILVER: 1_000_000}


def fine_mg(quantity_e4: int, metal: Metal, fineness_e4: int) -> int:
    """The fine weight of a quantity in the metal's unit, rounded half up. Convert a weight only once."""
    return half_up(quantity_e4 * _MG_PER_UNIT[metal] * fineness_e4, ONE_E4 * FINENESS_E4_ONE)
