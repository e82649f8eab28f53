"""From a symbol's exact price to whole paise. Prices are rounded only here; halves go up."""

from decimal import Decimal

PAISE_PER_RUPEE = 100


def account_price_paise(symbol_price: Decimal, premium_paise: int) -> int:
    """The symbol's price plus the group's signed premium. The caller checks that it is above 0."""
    rupees, parts = symbol_price.as_integer_ratio()
    return _half_up(rupees * PAISE_PER_RUPEE, parts) + premium_paise


def total_paise(price_paise: int, quantity_e4: int, quoted_weight_e4: int) -> int:
    """What the quantity costs at that price per quoted weight."""
    # As `_half_up` rounds, without a call of it: every order comes here.
    return (2 * price_paise * quantity_e4 + quoted_weight_e4) // (2 * quoted_weight_e4)


def _half_up(numerator: int, denominator: int) -> int:
    return (2 * numerator + denominator) // (2 * denominator)
