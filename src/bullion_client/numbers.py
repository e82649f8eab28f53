"""Numbers that a caller passes in: exact, and within the service's general bounds.

A float is refused, whatever its value, because it was rounded already: 0.1 + 0.2 would be sent as
0.30000000000000004. Bounds that the desk sets, such as the sizes of a symbol, are left to the service.
"""

import re
from decimal import Decimal
from typing import TypeAlias

Number: TypeAlias = Decimal | int | str
"""The types of a weight or a price: `Decimal("2.5")`, `5` or `"2.5"`, but never a float."""

QUANTITY_MAX = 1_000_000
QUANTITY_PLACES_MAX = 4
_LENGTH_MAX = 100
"""The service accepts no number with more characters."""
# Decimal itself also accepts "1_000", blanks around it and the digits of other scripts.
# No digit can match in two ways, so matching takes linear time.
_WRITTEN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")


def read_quantity(value: Number) -> Decimal:
    """A weight: above 0, at most 1000000, with at most 4 decimals."""
    quantity = _read_positive("quantity", value)
    if quantity > QUANTITY_MAX:
        raise ValueError(f"quantity may be at most {QUANTITY_MAX}; this is {_shown(value)}")
    if -_exponent(quantity) > QUANTITY_PLACES_MAX:
        raise ValueError(f"quantity may have at most {QUANTITY_PLACES_MAX} decimals; this is {_shown(value)}")
    return quantity


def read_price(value: Number) -> Decimal:
    """A price: above 0."""
    return _read_positive("expected_price", value)


def json_number(value: Decimal) -> str:
    """A number of this module in JSON: all its digits and no exponent."""
    return f"{value:f}"


def _read_positive(name: str, value: Number) -> Decimal:
    number = _read(name, value)
    if not number.is_finite():
        raise ValueError(f"{name} must be a number; this is {_shown(value)}")
    if number <= 0:
        raise ValueError(f"{name} must be greater than 0; this is {_shown(value)}")
    plain = _without_trailing_zeros(number)
    if max(plain.adjusted() + 1, -_exponent(plain) + 2) > _LENGTH_MAX:
        raise ValueError(f"{name} cannot be written in {_LENGTH_MAX} characters; this is {_shown(value)}")
    return plain


def _read(name: str, value: Number) -> Decimal:
    if isinstance(value, float):
        raise TypeError(
            f"{name} must not be a float, which is not exact: "
            f"write Decimal({str(value)!r}) or {str(value)!r} instead of {value!r}"
        )
    # A bool is an int to Python, but True is not a weight.
    if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
        raise TypeError(f"{name} must be a Decimal, an int or a string, not {type(value).__name__}")
    if isinstance(value, str) and not _WRITTEN.fullmatch(value):
        raise ValueError(f"{name} must be written like '2.5', in digits and a point; this is {_shown(value)}")
    if isinstance(value, int) and abs(value) >= 10**_LENGTH_MAX:
        raise ValueError(f"{name} cannot be written in {_LENGTH_MAX} characters")
    # The constructor ignores the context, so nothing is rounded.
    return Decimal(value)


def _without_trailing_zeros(number: Decimal) -> Decimal:
    """The same value in one form, so that 5, 5.0 and 5E0 are sent and stored alike.

    Not `normalize`, which rounds to the precision of the caller's context.
    """
    digits = "".join(map(str, number.as_tuple().digits))
    significant = digits.rstrip("0")
    exponent = _exponent(number) + len(digits) - len(significant)
    if 0 < exponent <= _LENGTH_MAX:
        significant, exponent = significant + "0" * exponent, 0
    return Decimal((0, tuple(map(int, significant)), exponent))


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # noqa: S101 - it is a letter only for NaN and infinity
    return exponent


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LENGTH_MAX else f"{text[:_LENGTH_MAX]}…"
