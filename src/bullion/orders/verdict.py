"""What the checks say of an order: priced, or denied by the first check that failed."""

from collections.abc import Mapping
from typing import Any

import msgspec

from bullion.metals.metal import Metal
from bullion.refusals.refusal import RefusalCode, RefusalError

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
    instrument: str | None = None
    """What the order is hedged in; None where nothing is hedged, in the test environment."""
    stock_kept: bool = False
    """Whether a buy takes from a stock that the desk keeps."""


class Refusal(msgspec.Struct, frozen=True):
    refusal: RefusalCode
    message: str | None = None
    compared: Mapping[str, Any] = {}
    """The values that the check compared, for the desk's eyes."""
    replayed: bool = False
    fields: Mapping[str, Any] = {}
    """What the client is told beside code and message."""
    closed: bool = False
    """Whether production is not open: then only an exact replay of an order gets an answer of its own."""

    def refused(self) -> RefusalError:
        return RefusalError(
            self.refusal, self.message, fields=self.fields, headers=REPLAYED if self.replayed else None
        )


Verdict = Priced | Refusal
