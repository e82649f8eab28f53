"""An intent: one order that a program decided to place, with its idempotency key."""

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from bullion_client.enums import Environment, TradeType
from bullion_client.numbers import Number, json_number, read_price, read_quantity

_SYMBOL_CODE_LENGTH_MAX = 32
_CLIENT_ORDER_ID_LENGTH_MAX = 64
_KEY = re.compile(r"[!-~](?:[ -~]{0,62}[!-~])?")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""A NUL or an unpaired surrogate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """One order to place: its idempotency key and its body. It contains no secret.

    It is created before the first try and is the same for all tries, so there is one order however often it
    is sent. The errors of placing have it, and a `Journal` has it after a crash. Pass it to `Client.resume`
    to continue.
    """

    environment: Environment
    """The environment to place it in. A client of the other environment refuses it."""

    idempotency_key: str
    """Its key at the service. It never expires, and belongs to the account, not to the API key."""

    symbol_code: str
    """The symbol to trade."""

    trade_type: TradeType
    """Buy or sell."""

    quantity: Decimal
    """The weight, in the symbol's unit."""

    expected_price: Decimal | None
    """The order is refused if the price is too far from this; None if any price is accepted."""

    client_order_id: str | None
    """The caller's own reference."""

    made_at: datetime
    """When it was created. If it is resumed and was not booked, it is booked at the price of that time."""

    account: str | None = None
    """The login of its account, if a journal was used."""

    in_doubt: bool = True
    """Whether a try without a response may have booked it, or may still book it.

    It is false only if every try was answered. An intent that you build yourself is in doubt.
    """

    unanswered_until: datetime | None = None
    """If it is in doubt: until when such a try may have been in flight. None if that is unknown."""

    def body(self) -> bytes:
        """The JSON to send. Numbers are exact, which the `json` module cannot write."""
        fields = {
            "symbol_code": json.dumps(self.symbol_code),
            "trade_type": json.dumps(str(self.trade_type)),
            "quantity": json_number(self.quantity),
        }
        if self.expected_price is not None:
            fields["expected_price"] = json_number(self.expected_price)
        if self.client_order_id is not None:
            fields["client_order_id"] = json.dumps(self.client_order_id)
        return ("{" + ", ".join(f'"{name}": {text}' for name, text in fields.items()) + "}").encode()


def make_intent(
    environment: Environment,
    idempotency_key: str,
    made_at: datetime,
    symbol_code: str,
    trade_type: TradeType | str,
    quantity: Number,
    expected_price: Number | None,
    client_order_id: str | None,
) -> Intent:
    """A new intent that was not sent yet. Raises `ValueError` or `TypeError` for a field that is invalid."""
    return check_intent(
        Intent(
            environment=environment,
            idempotency_key=idempotency_key,
            symbol_code=symbol_code,
            trade_type=TradeType(trade_type),
            quantity=read_quantity(quantity),
            expected_price=None if expected_price is None else read_price(expected_price),
            client_order_id=client_order_id,
            made_at=made_at,
            in_doubt=False,
        )
    )


def check_intent(intent: Intent) -> Intent:
    """Raise an error for a field that is invalid in any case; return the intent with normalised numbers."""
    if not _KEY.fullmatch(intent.idempotency_key):
        raise ValueError(
            "idempotency_key must have 1 to 64 printable ASCII characters, without blanks around them"
        )
    _check_text("symbol_code", intent.symbol_code, _SYMBOL_CODE_LENGTH_MAX)
    if not intent.symbol_code:
        raise ValueError("symbol_code is empty")
    if intent.client_order_id is not None:
        _check_text("client_order_id", intent.client_order_id, _CLIENT_ORDER_ID_LENGTH_MAX)
    side, price = TradeType(intent.trade_type), intent.expected_price
    if not side.known:
        raise ValueError(f"trade_type must be 'buy' or 'sell'; this is {str(side)!r}")
    return replace(
        intent,
        trade_type=side,
        quantity=read_quantity(intent.quantity),
        expected_price=None if price is None else read_price(price),
    )


def _check_text(name: str, text: str, length_max: int) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a string, not {type(text).__name__}")
    if len(text) > length_max:
        raise ValueError(f"{name} has {len(text)} characters; it may have up to {length_max}")
    if _UNSTORABLE.search(text):
        raise ValueError(f"{name} has a NUL or an unpaired surrogate, which the service does not accept")
