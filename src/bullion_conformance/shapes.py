"""Reads values out of responses strictly: plain decimals, times with an offset, UUIDs."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

from bullion_conformance.verdict import CheckFailed, expect

_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})"
)

AMOUNTS = {
    *("quantity", "price", "total", "close_price", "realized_pnl"),
    *("net", "limit", "used", "free", "buy", "sell"),
}
"""Fields that hold an amount or a weight in any response. The `total` of a list is a count."""
WEIGHTS = {"quantity", "net", "limit", "used", "free", "buy", "sell"}
TIMES = {"created_at", "closed_at"}
SIDES = ("buy", "sell")
STATUSES = ("pending", "open", "closing", "closed", "rejected", "deleted")
SCOPES = ("account:read", "orders:read", "orders:write")


def decimal(value: Any, name: str) -> Decimal:
    if not isinstance(value, str):
        raise CheckFailed(
            f"`{name}` is {_kind(value)}: {value!r}; expected a string with a decimal number in it."
        )
    if not _DECIMAL.fullmatch(value):
        raise CheckFailed(f"`{name}` is {value!r}; expected a plain decimal number such as '12.5'.")
    return Decimal(value)


def decimals(value: str) -> int:
    """The number of digits after the point."""
    return len(value.partition(".")[2])


def in_paise(rupees: Decimal) -> Decimal:
    return rupees.quantize(Decimal("0.01"), ROUND_HALF_UP)


def instant(value: Any, name: str) -> datetime:
    if not isinstance(value, str):
        raise CheckFailed(f"`{name}` is {_kind(value)}: {value!r}; expected an ISO 8601 time.")
    if not _TIME.fullmatch(value):
        raise CheckFailed(f"`{name}` is {value!r}; expected an ISO 8601 time with its offset from UTC.")
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except ValueError as error:
        raise CheckFailed(f"`{name}` is {value!r}, which is not a time.") from error


def uuid(value: Any, name: str) -> str:
    try:
        UUID(value if isinstance(value, str) else "")
    except ValueError as error:
        raise CheckFailed(f"`{name}` is {value!r}; expected a UUID in a string.") from error
    text: str = value
    return text


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise CheckFailed(f"`{name}` is {_kind(value)}: {value!r}; expected a string.")
    return value


def whole(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise CheckFailed(f"`{name}` is {_kind(value)}: {value!r}; expected a whole number.")
    return value


def one_of(value: Any, allowed: tuple[str, ...], name: str) -> None:
    expect(value in allowed, f"`{name}` is {value!r}; expected {' or '.join(allowed)}.")


def value_of(body: Mapping[str, Any], name: str) -> Any:
    if name not in body:
        raise CheckFailed(f"The response has no `{name}`; it has {', '.join(body) or 'nothing'}.")
    return body[name]


def values_of(body: Mapping[str, Any], name: str) -> list[Any]:
    found = value_of(body, name)
    if not isinstance(found, list):
        raise CheckFailed(f"`{name}` is not an array: {found!r}.")
    return found


def decimal_of(body: Mapping[str, Any], name: str) -> Decimal:
    return decimal(value_of(body, name), name)


def time_of(body: Mapping[str, Any], name: str) -> datetime:
    return instant(value_of(body, name), name)


def text_of(body: Mapping[str, Any], name: str) -> str:
    return text(value_of(body, name), name)


def fields_in(body: Any) -> Iterator[tuple[str, Any]]:
    """Every field of every object in a body, however deep."""
    if isinstance(body, dict):
        for name, value in body.items():
            if not (name == "total" and "items" in body):
                yield name, value
            yield from fields_in(value)
    elif isinstance(body, list):
        for each in body:
            yield from fields_in(each)


def orders_in(body: Any) -> Iterator[dict[str, Any]]:
    """Every order in a response: alone, in a list, or in a refusal."""
    if isinstance(body, dict):
        if "trade_type" in body and "symbol_code" in body:
            yield body
        for value in body.values():
            yield from orders_in(value)
    elif isinstance(body, list):
        for each in body:
            yield from orders_in(each)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | Decimal():
            return "a JSON number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"
