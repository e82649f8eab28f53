"""What the checks say of an order: priced, or denied by the first check that failed."""

from collections.abc import Mapping
from typing import Any

import msgspec

from bullion.metals.metal import Metal
from bullion.refusals.refusal import Refusal, Refused

REPLAYED = {"Idempotent-Replayed": "true"}


class Priced(msgspec.Struct, frozen=True):
    """The market takes the order at this price; what is left to decide needs the book."""

    metal: Metal
    price_paise: int
    total_paise: int
    tolerance_percent_e4: int
    price_anatomy: str
    rate_at_us: int | None
    """When the oldest rate behind the price was quoted; None for a fixed price."""


class Denied(msgspec.Struct, frozen=True):
    refusal: Refusal
    message: str | None = None
    compared: Mapping[str, Any] = {}
    """The values that the check compared, for the desk's eyes."""
    replayed: bool = False

    def refused(self) -> Refused:
        return Refused(self.refusal, self.message, headers=REPLAYED if self.replayed else None)


Verdict = Priced | Denied
