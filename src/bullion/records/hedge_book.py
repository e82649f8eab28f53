"""The hedge book as the store keeps it."""

import msgspec

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
