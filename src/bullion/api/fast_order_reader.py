"""The fast path for reading orders: plain JSON without escapes, as nearly all clients send it.

Everything unusual or invalid is left to the complete reader in `order_body`. Both give the same order for
every body that this one accepts.
"""

import re

import msgspec
from msgspec import UNSET, Raw

from bullion.metals.weight import PLACES
from bullion.orders.bounds import QUANTITY_MAX
from bullion.orders.request import PlaceOrder

from .wire import orders as wire

_QUANTITY_E4_MAX = QUANTITY_MAX * 10**PLACES
_QUANTITY = re.compile(rb"([0-9]{1,7})(?:\.([0-9]{1,4}))?")
_PRICE = re.compile(rb"([1-9][0-9]{0,11})(?:\.([0-9]{1,8}))?")
_decode = msgspec.json.Decoder(wire.PlaceOrder).decode


def read_order_fast(body: bytes) -> PlaceOrder | None:
    """The order, or None if `order_body` has to read it."""
    if b"\\" in body or not body.isascii():
        return None
    try:
        sent = _decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return None
    expected_price: str | None = None
    client_order_id: str | None = None
    members = 3
    if sent.expected_price is not UNSET:
        members += 1
        expected_price = _price(sent.expected_price)
        if expected_price is None:
            return None
    if sent.client_order_id is not UNSET:
        members += 1
        client_order_id = sent.client_order_id
    # Every member has a colon. With as many colons as members, no name is duplicated.
    if body.count(b":") != members:
        return None
    quantity_e4 = _quantity_e4(sent.quantity)
    if not 0 < quantity_e4 <= _QUANTITY_E4_MAX:
        return None
    return PlaceOrder(sent.symbol_code, sent.trade_type, quantity_e4, expected_price, client_order_id)


def _quantity_e4(number: Raw) -> int:
    """The quantity, or 0 if it is not a plain decimal."""
    match = _QUANTITY.fullmatch(number)
    if match is None:
        return 0
    whole, part = match.groups()
    return int(whole) * 10**PLACES if part is None else int(whole + part.ljust(PLACES, b"0"))


def _price(number: Raw) -> str | None:
    match = _PRICE.fullmatch(number)
    if match is None:
        return None
    whole, part = match.groups()
    part = part.rstrip(b"0") if part else b""
    return (whole + b"." + part if part else whole).decode("ascii")
