"""The fast reader of orders: it reads an order that is written as nearly all of them are.

It reads only what has one meaning. Everything else, and everything that is wrong, is left to the careful
reader in `order_body`, which gives the same order for whatever this one reads.
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


def read_plain_order(body: bytes) -> PlaceOrder | None:
    """The order, or None if it has to be read with care."""
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
    # Every member has a colon, so with as many colons as members no name is there twice.
    if body.count(b":") != members:
        return None
    quantity_e4 = _quantity_e4(sent.quantity)
    if not 0 < quantity_e4 <= _QUANTITY_E4_MAX:
        return None
    return PlaceOrder(sent.symbol_code, sent.trade_type, quantity_e4, expected_price, client_order_id)


def _quantity_e4(number: Raw) -> int:
    """The quantity, or 0 if it is not written plainly."""
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
