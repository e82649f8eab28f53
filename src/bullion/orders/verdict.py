"""The verdict of the checks on an order: priced, or refused by the first check that failed."""

from collections.abc import Mapping
from typing import Any

import msgspec

from bullion.metals.fine_weight import FINENESS_E4_USUAL
from bullion.metals.metal import Metal
from bullion.refusals.refusal import RefusalCode, RefusalError

REPLAYED = {"Idempotent-Replayed": "true"}


class Priced(msgspec.Struct, frozen=True, gc=False):
    """The market accepts the order at this price; the remaining checks need the book."""

    metal: Metal
    price_paise: int
    total_paise: int
    tolerance_percent_e4: int
    price_anatomy: str
    rate_at_us: int | None
    """When the oldest rate behind the price was quoted; None for a fixed price."""
    instrument: str | None = None
    """The instrument that the order is hedged in; None in the test environment."""
    stock_kept: bool = False
    """Whether a buy takes from a stock that the desk keeps."""
    fineness_e4: int = FINENESS_E4_USUAL
    in_book: bool = False
    """Whether the house's book confirms the order."""


class Refusal(msgspec.Struct, frozen=True):
    refusal: RefusalCode
    message: str | None = None
    compared: Mapping[str, Any] = {}
    """The values that the check compared, for the desk."""
    replayed: bool = False
    fields: Mapping[str, Any] = {}
    """Further fields of the error body."""
    closed: bool = False
    """Whether production is closed: only an exact replay of an order takes precedence over that."""

    def to_error(self) -> RefusalError:
        return RefusalError(
            self.refusal, self.message, fields=self.fields, headers=REPLAYED if self.replayed else None
        )


Verdict = Priced | Refusal
