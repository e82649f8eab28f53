"""The market's part of a client's price, read from the price anatomy of the order."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import msgspec

from bullion.metals.rounding import half_up
from bullion.metals.symbol import Side

_MARKET = ("metal", "ask", "bid", "fixed")
"""The component that is the market's price: of a landed price the metal alone, without duty and margin."""


class Reference(msgspec.Struct, frozen=True):
    """The house's cash at the market's price, and the duty beside it, both signed as the deal's cash."""

    reference_paise: int
    duty_paise: int


def deal_reference(price_anatomy: str, side: str, quantity_e4: int) -> Reference:
    """For an order of that side and quantity. Each amount is rounded half up once.

    The anatomy of a price without components, or of another shape, raises KeyError or ValueError.
    """
    anatomy: Mapping[str, Any] = msgspec.json.decode(price_anatomy)
    components = {each["name"]: each["value"] for each in anatomy["components"]}
    market = next((components[name] for name in _MARKET if name in components), None)
    if market is None:
        raise KeyError("the price anatomy names no market price")
    weight_e4 = Fraction(anatomy["quoted_weight"]) * 10_000
    sign = 1 if side == Side.BUY else -1
    return Reference(
        sign * _total_paise(Fraction(market), quantity_e4, weight_e4),
        sign * _total_paise(Fraction(components.get("duty", "0")), quantity_e4, weight_e4),
    )


def _total_paise(rupees: Fraction, quantity_e4: int, quoted_weight_e4: Fraction) -> int:
    exact = rupees * 100 * quantity_e4 / quoted_weight_e4
    return half_up(exact.numerator, exact.denominator)
