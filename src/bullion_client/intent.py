"""An intent: one order that a program has decided on, with the key that makes it one order."""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bullion_client.enums import TradeType
from bullion_client.environment import Environment
from bullion_client.numbers import Number, json_number, read_price, read_quantity

_SYMBOL_CODE_LENGTH_MAX = 32
_CLIENT_ORDER_ID_LENGTH_MAX = 64
_KEY = re.compile(r"[!-~](?:[ -~]{0,62}[!-~])?")
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
"""A NUL, or half of a character: the service takes neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """One order that was decided on: its key and its body. It holds no secret.

    Made before the first try, and the same through all of them, so that however often it is sent there is
    one order. It comes with the error when placing gave up, and out of a `Journal` after a crash; hand it
    to `Client.resume` to go on.
    """

    environment: Environment
    """Where it goes. A client of the other environment refuses it."""

    idempotency_key: str
    """Its name at the service. It never expires, and belongs to the account: a rotated API key finds it."""

    symbol_code: str
    """What to trade."""

    trade_type: TradeType
    """Buy or sell."""

    quantity: Decimal
    """The weight, in the symbol's unit."""

    expected_price: Decimal | None
    """The price from which the market must not have gone too far, if that was asked for."""

    client_order_id: str | None
    """The caller's own reference."""

    made_at: datetime
    """When it was decided on. Resumed much later, it is placed at the price of then, if it was not before."""

    account: str | None = None
    """The login of the account that it was made for, if a journal made sure of it."""

    in_doubt: bool = True
    """Whether a try may have booked it, or may yet, that nobody has seen the answer of.

    False only where every try was answered. One that you put together yourself is in doubt.
    """

    unanswered_until: datetime | None = None
    """If it is in doubt: until when such a try may have been under way. None if that is not known."""

    def body(self) -> bytes:
        """The JSON to send. Numbers are written out exactly, which Python's own writer cannot do."""
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
    """A new intent, without a try so far.

    What can be checked for certain is checked, so that a mistake is told before anything is sent.
    """
    if not _KEY.fullmatch(idempotency_key):
        raise ValueError(
            "idempotency_key must have 1 to 64 printable ASCII characters, without blanks around them"
        )
    _check_text("symbol_code", symbol_code, _SYMBOL_CODE_LENGTH_MAX)
    if not symbol_code:
        raise ValueError("symbol_code is empty")
    if client_order_id is not None:
        _check_text("client_order_id", client_order_id, _CLIENT_ORDER_ID_LENGTH_MAX)
    side = TradeType(trade_type)
    if not side.known:
        raise ValueError(f"trade_type must be 'buy' or 'sell'; this is {trade_type!r}")
    return Intent(
        environment=environment,
        idempotency_key=idempotency_key,
        symbol_code=symbol_code,
        trade_type=side,
        quantity=read_quantity(quantity),
        expected_price=None if expected_price is None else read_price(expected_price),
        client_order_id=client_order_id,
        made_at=made_at,
        in_doubt=False,
    )


def _check_text(name: str, text: str, length_max: int) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a string, not {type(text).__name__}")
    if len(text) > length_max:
        raise ValueError(f"{name} has {len(text)} characters; it may have up to {length_max}")
    if _NOT_STORABLE.search(text):
        raise ValueError(f"{name} holds a NUL or half of a character, which the service does not take")
