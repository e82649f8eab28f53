"""The hedge book as the store keeps it."""

import msgspec

from bullion.hedge.contract import Contract
from bullion.hedge.venue import Fill
from bullion.metals.metal import Metal


class BookPosition(msgspec.Struct, frozen=True):
    """The hedge book of one metal. Weights are fine milligrams, signed from the broker's side."""

    broker: str
    metal: Metal
    policy: str
    limit_mg: int
    volatility_e4: int
    """The daily volatility, in ten-thousandths of a percent."""
    client_mg: int = 0
    cover_mg: int = 0
    version: int = 0
    """The ordinal of its last entry."""
    opened_at_us: int = 0
    open_since_us: int | None = None
    """Since when the residual has not been 0."""

    @property
    def residual_mg(self) -> int:
        return self.client_mg + self.cover_mg


class StoredContract(msgspec.Struct, frozen=True):
    contract: Contract
    active: bool = True
    """Whether new covers may use it."""


class CoverDeal(msgspec.Struct, frozen=True):
    """What was dealt for a cover."""

    fill: Fill
    fee_minor: int
    """In paise or cents, the contract's currency."""
    dollar_e6: int
    """What a dollar cost then; 0 for a contract in rupees."""
    fine_mg: int = 0
