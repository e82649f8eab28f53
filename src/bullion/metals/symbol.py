"""A symbol: what is traded, in which sizes, on which sides, and how it is priced."""

from dataclasses import dataclass
from enum import StrEnum

from .fine_weight import FINENESS_E4_ONE, FINENESS_E4_USUAL
from .metal import Metal
from .pricing import Direct, Fixed, Landed, Pricing


class Side(StrEnum):
    BUY = "buy"
    SELL = "sell"


BUY, SELL = Side
"""For code that every order runs: to look a member up in its class costs more than a call of a function."""


@dataclass(frozen=True, slots=True)
class SizeRule:
    minimum_e4: int
    maximum_e4: int
    step_e4: int

    def __post_init__(self) -> None:
        if self.step_e4 <= 0:
            raise ValueError("step must be above 0")
        if not 0 < self.minimum_e4 <= self.maximum_e4:
            raise ValueError("minimum must be above 0 and not above maximum")
        if self.maximum_e4 // self.step_e4 * self.step_e4 < self.minimum_e4:
            raise ValueError("no multiple of step lies between minimum and maximum")

    def allows(self, quantity_e4: int) -> bool:
        return self.minimum_e4 <= quantity_e4 <= self.maximum_e4 and quantity_e4 % self.step_e4 == 0


@dataclass(frozen=True, slots=True)
class Symbol:
    broker: str
    code: str
    metal: Metal
    quoted_weight_e4: int
    trading: bool
    sides: frozenset[Side]
    frozen: bool
    size: SizeRule
    rate_age_s_max: int | None
    freeze_after_s: int | None
    pricing: Pricing
    stock_kept: bool = False
    """Whether the desk counts a stock of it, from which buys are taken."""
    fineness_e4: int = FINENESS_E4_USUAL
    """Its share of pure metal. Only the hedge counts in fine weight."""
    in_book: bool = False
    """Whether the house's book confirms its orders, and covers what all clients hold together."""

    def __post_init__(self) -> None:
        if self.quoted_weight_e4 <= 0:
            raise ValueError("quoted_weight must be above 0")
        if not 0 < self.fineness_e4 <= FINENESS_E4_ONE:
            raise ValueError("fineness must be above 0 and at most 1000")
        if not self.sides:
            raise ValueError("sides must name buy, sell or both; to stop trading, set trading to false")

    @property
    def hedged_in(self) -> str:
        """The venue's instrument that covers it."""
        match self.pricing:
            case Direct():
                return self.pricing.instrument
            case Landed():
                return self.pricing.spot
            case Fixed():
                return self.code

    @property
    def unit(self) -> str:
        return self.metal.unit
