"""A trading group and the terms it trades on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import lcm
from typing import NamedTuple

from bullion.metals.symbol import Side, SizeRule


class Sizes(NamedTuple):
    """The sizes that symbol and terms both allow; there may be none."""

    minimum_e4: int
    maximum_e4: int
    step_e4: int

    @classmethod
    def of(cls, size: SizeRule) -> "Sizes":
        return cls(size.minimum_e4, size.maximum_e4, size.step_e4)

    @property
    def smallest_e4(self) -> int:
        """The first multiple of the step that is not below the minimum."""
        return -(-self.minimum_e4 // self.step_e4) * self.step_e4

    def allow(self, quantity_e4: int) -> bool:
        minimum_e4, maximum_e4, step_e4 = self
        return minimum_e4 <= quantity_e4 <= maximum_e4 and quantity_e4 % step_e4 == 0


@dataclass(frozen=True, slots=True)
class Terms:
    """What a group adds to a symbol: premiums per quoted weight, and tighter sizes.

    Without a premium the side is not offered to the group; without a size the symbol's own applies.
    """

    buy_premium_paise: int | None
    sell_premium_paise: int | None
    minimum_e4: int | None = None
    maximum_e4: int | None = None
    step_e4: int | None = None

    def __post_init__(self) -> None:
        for name, size in (
            ("minimum", self.minimum_e4),
            ("maximum", self.maximum_e4),
            ("step", self.step_e4),
        ):
            if size is not None and size <= 0:
                raise ValueError(f"{name} must be above 0")
        if self.minimum_e4 is not None and self.maximum_e4 is not None and self.minimum_e4 > self.maximum_e4:
            raise ValueError("minimum must not be above maximum")

    def margin_paise(self, side: Side) -> int | None:
        """What the house earns when a client deals on this side: a premium added, or taken off."""
        if side is Side.BUY:
            return self.buy_premium_paise
        return None if self.sell_premium_paise is None else -self.sell_premium_paise

    def with_margin(self, side: Side, paise: int) -> "Terms":
        if side is Side.BUY:
            return replace(self, buy_premium_paise=paise)
        return replace(self, sell_premium_paise=-paise)

    def allow(self, quantity_e4: int) -> bool:
        return (
            (self.minimum_e4 is None or quantity_e4 >= self.minimum_e4)
            and (self.maximum_e4 is None or quantity_e4 <= self.maximum_e4)
            and (self.step_e4 is None or quantity_e4 % self.step_e4 == 0)
        )

    def within(self, size: SizeRule) -> Sizes:
        """The sizes that pass both the symbol's rule and these terms."""
        minimum_e4 = max(size.minimum_e4, self.minimum_e4 or 0)
        maximum_e4 = size.maximum_e4 if self.maximum_e4 is None else min(size.maximum_e4, self.maximum_e4)
        return Sizes(minimum_e4, maximum_e4, lcm(size.step_e4, self.step_e4 or 1))


@dataclass(frozen=True, slots=True)
class Group:
    broker: str
    code: str
    trading: bool
    terms: Mapping[str, Terms]
    """By symbol code."""
    default_terms: Terms | None
    """For symbols that are not in `terms`; without it they have no price for the group."""

    def terms_for(self, symbol_code: str) -> Terms | None:
        return self.terms.get(symbol_code, self.default_terms)
