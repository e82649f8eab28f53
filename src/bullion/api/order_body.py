"""Reads the headers and body of `POST /orders`, and reports all problems at once.

Numbers stay text until their value is known to be exact and within bounds. No floats are used, and no number
that a caller chose is ever used as an exponent or turned into a huge integer.
"""

from collections.abc import Sequence
from typing import Any

from bullion.metals.weight import PLACES
from bullion.orders.bounds import (
    CLIENT_ORDER_ID_LENGTH_MAX,
    KEY_LENGTH_MAX,
    PRICE_DIGITS_MAX,
    QUANTITY_MAX,
    SYMBOL_CODE_LENGTH_MAX,
)
from bullion.orders.request import PlaceOrder
from bullion.refusals.catalogue import IDEMPOTENCY_KEY_REQUIRED
from bullion.refusals.refusal import RefusalError
from bullion.web.headers import HeaderValues

from .fast_order_reader import read_order_fast
from .json_body import (
    BODY_BYTES_MAX,
    MISSING,
    Number,
    check_characters,
    check_content_type,
    check_length,
    check_names,
    kind,
    read_object,
    read_text,
)
from .problems import Problems, excerpt
from .wire import orders as wire

__all__ = ["BODY_BYTES_MAX", "read_place_order"]

_QUANTITY_E4_MAX = QUANTITY_MAX * 10**PLACES
_QUANTITY_WHOLE_DIGITS_MAX = len(str(QUANTITY_MAX))
_PRICE_EXPONENT_MAX = 100
_NUMBER_LENGTH_MAX = 100

_JSON = [b"application/json"]
_KEY = ("header", "Idempotency-Key")
_NAME = "order"
_TEXTS = ("symbol_code", "trade_type", "client_order_id")
_FIELDS = wire.PlaceOrder.__struct_fields__
_KNOWN = frozenset(_FIELDS)


def read_place_order(headers: HeaderValues, body: bytes) -> tuple[str, PlaceOrder]:
    """The idempotency key and the order, or RefusalError.

    A missing key is refused before everything else; an invalid key is one of the problems.
    """
    problems = Problems()
    key = _read_key(headers.get(b"idempotency-key", ()), problems)
    content_types = headers.get(b"content-type", ())
    if content_types != _JSON:
        check_content_type(content_types, problems)
    order = read_order_fast(body) or _read_order(body, problems)
    if problems or order is None:
        raise problems.to_error()
    return key, order


# --- Headers ------------------------------------------------------------------------------------------


def _read_key(sent: Sequence[bytes], problems: Problems) -> str:
    # Blanks around a header's value are not part of it.
    keys = [value.strip(b" \t").decode("latin-1") for value in sent]
    if not any(keys):
        raise RefusalError(IDEMPOTENCY_KEY_REQUIRED)
    key = keys[0]
    if len(keys) > 1:
        problems.add(_KEY, "Idempotency-Key was sent more than once. Send one.", "duplicate")
        return key
    if len(key) > KEY_LENGTH_MAX:
        message = f"Idempotency-Key has {len(key)} characters; it may have up to {KEY_LENGTH_MAX}."
        problems.add(_KEY, message, "too_long")
    if not (key.isascii() and key.isprintable()):
        problems.add(_KEY, "Idempotency-Key may have printable ASCII characters only.", "bad_character")
    return key


# --- The order ---------------------------------------------------------------------------------------


def _read_order(body: bytes, problems: Problems) -> PlaceOrder | None:
    """The order. Invalid fields get a placeholder, which is never used: the problems are raised instead."""
    pairs = read_object(body, problems, _NAME)
    if pairs is None:
        return None
    sent: dict[str, Any] = dict(pairs)
    order = PlaceOrder(
        _read_symbol_code(sent, problems),
        _read_trade_type(sent, problems),
        _read_quantity_e4(sent, problems),
        _read_expected_price(sent, problems),
        _read_client_order_id(sent, problems),
    )
    # Only escapes can produce these characters: raw, they are not valid UTF-8 or JSON.
    if b"\\" in body:
        check_characters(sent, _TEXTS, problems)
    if len(sent) != len(pairs) or not _KNOWN.issuperset(sent):
        check_names(pairs, _FIELDS, problems, _NAME)
    return order


# --- Texts --------------------------------------------------------------------------------------------


def _read_symbol_code(sent: dict[str, Any], problems: Problems) -> str:
    code = read_text("symbol_code", sent, problems)
    if code is None:
        return ""
    if not code:
        problems.add(("body", "symbol_code"), "symbol_code is empty.", "empty")
    check_length("symbol_code", code, SYMBOL_CODE_LENGTH_MAX, problems)
    return code


def _read_trade_type(sent: dict[str, Any], problems: Problems) -> str:
    """Any string: a check refuses an invalid side later, with its own code."""
    return read_text("trade_type", sent, problems) or ""


def _read_client_order_id(sent: dict[str, Any], problems: Problems) -> str | None:
    if sent.get("client_order_id") is None:
        return None
    client_order_id = read_text("client_order_id", sent, problems)
    if client_order_id is not None:
        check_length("client_order_id", client_order_id, CLIENT_ORDER_ID_LENGTH_MAX, problems)
    return client_order_id


# --- Numbers ------------------------------------------------------------------------------------------


def _read_quantity_e4(sent: dict[str, Any], problems: Problems) -> int:
    number = _read_positive("quantity", sent, problems)
    if number is None:
        return 0
    text, digits, power = number
    quantity_e4: int
    # Checked before anything is computed: the exponent may have ninety digits.
    if len(digits) + power > _QUANTITY_WHOLE_DIGITS_MAX:
        quantity_e4 = _QUANTITY_E4_MAX + 1
    elif power < -PLACES:
        message = f"quantity may have up to {PLACES} decimal places; {excerpt(text)} has more."
        problems.add(("body", "quantity"), message, "too_many_digits")
        return 0
    else:
        quantity_e4 = int(digits) * 10 ** (power + PLACES)
    if quantity_e4 > _QUANTITY_E4_MAX:
        message = f"quantity may be at most {QUANTITY_MAX}; {excerpt(text)} is more."
        problems.add(("body", "quantity"), message, "too_large")
    return quantity_e4


def _read_expected_price(sent: dict[str, Any], problems: Problems) -> str | None:
    if sent.get("expected_price") is None:
        return None
    number = _read_positive("expected_price", sent, problems)
    if number is None:
        return None
    text, digits, power = number
    if len(digits) > PRICE_DIGITS_MAX:
        message = (
            f"expected_price may have up to {PRICE_DIGITS_MAX} significant digits; this has {len(digits)}."
        )
        problems.add(("body", "expected_price"), message, "too_many_digits")
    exponent = len(digits) + power - 1
    if exponent > _PRICE_EXPONENT_MAX:
        problems.add(("body", "expected_price"), f"expected_price {excerpt(text)} is too large.", "too_large")
        return None
    if exponent < -_PRICE_EXPONENT_MAX:
        problems.add(("body", "expected_price"), f"expected_price {excerpt(text)} is too small.", "too_small")
        return None
    return _plain(digits, power)


def _read_positive(field: str, sent: dict[str, Any], problems: Problems) -> tuple[str, str, int] | None:
    """A number above 0, as its text, significant digits and power of ten."""
    value = sent.get(field, MISSING)
    if type(value) is not Number:
        if value is MISSING:
            problems.add(("body", field), f"{field} is required.", "missing")
        else:
            message = f"{field} must be a JSON number such as 12.5, not {kind(value)}."
            problems.add(("body", field), message, "not_a_number")
        return None
    if len(value) > _NUMBER_LENGTH_MAX:
        message = f"{field} is written with more than {_NUMBER_LENGTH_MAX} characters."
        problems.add(("body", field), message, "too_long")
        return None
    # Every number with a minus sign is refused, -0 too.
    digits, power = ("", 0) if value[0] == "-" else _exact(value)
    if not digits:
        problems.add(("body", field), f"{field} must be greater than 0.", "too_small")
        return None
    return value, digits, power


def _exact(text: str) -> tuple[str, int]:
    """A number without a sign, as its significant digits and a power of ten: 12.50 is 125 and -1."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    significant = digits.rstrip("0")
    return significant, int(exponent or "0") - len(part) + len(digits) - len(significant)


def _plain(digits: str, power: int) -> str:
    """The shortest decimal without an exponent."""
    point = len(digits) + power
    if power >= 0:
        return digits + "0" * power
    if point > 0:
        return f"{digits[:point]}.{digits[point:]}"
    return "0." + "0" * -point + digits
