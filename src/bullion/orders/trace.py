"""The decision trace: why an order was taken or refused, for the desk to read."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from .request import PlaceOrder


class Trace(msgspec.Struct, frozen=True, array_like=True):
    """Encoded as an array: there is one for every order, and field names would be more than half of it."""

    request_id: str
    at_us: int
    broker: str
    account_id: int
    environment: str
    key_id: str | None
    outcome: str
    """The refusal's code; or the order's status, or `replayed`, or `scenario` for a simulated answer."""
    idempotency_key: str | None = None
    asked: PlaceOrder | None = None
    """None when the call was refused before its body was understood."""
    order_id: str | None = None
    message: str | None = None
    compared: Mapping[str, Any] = {}
    """What the deciding check compared. Names end with the unit: `_e4`, `_paise`, `_us`."""


class TraceBook(Protocol):
    def note(self, trace: Trace) -> None:
        """Store it soon. Never waits; traces may be lost if the node dies or too many come at once."""
