"""The decision trace: why an order was accepted or refused, for the desk."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from .request import PlaceOrder


class Trace(msgspec.Struct, frozen=True, array_like=True, gc=False):
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


class TraceLog(Protocol):
    def add(self, trace: Trace) -> None:
        """Queue it to be stored. Never waits; traces are lost if the node dies or the queue is full."""
