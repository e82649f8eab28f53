"""How a symbol gets its price: the three formulas, as values. `bullion.rates.formula` computes them."""

from dataclasses import dataclass
from decimal import Decimal

FACTOR_PLACES = 10
"""Decimal places that a number of a formula may have."""


@dataclass(frozen=True, slots=True)
class Direct:
    """The bid and ask of one instrument."""

    instrument: str

    @property
    def instruments(self) -> tuple[str, ...]:
        return (self.instrument,)


@dataclass(frozen=True, slots=True)
class Fixed:
    """Entered by the desk; a side without a price is not offered."""

    buy_paise: int | None
    sell_paise: int | None

    def __post_init__(self) -> None:
        prices = [price for price in (self.buy_paise, self.sell_paise) if price is not None]
        if not prices or min(prices) <= 0:
            raise ValueError("a fixed price needs a side with a price, and prices must be above 0")

    @property
    def instruments(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Landed:
    """The landed cost of the metal: spot in dollars, currency, conversion, duty and margin."""

    spot: str
    currency: str
    premium_usd: Decimal
    interbank: Decimal
    conversion: Decimal
    duty: str
    margin_paise: int

    @property
    def instruments(self) -> tuple[str, ...]:
        return (self.spot, self.currency)


Pricing = Direct | Fixed | Landed
