"""Decodes a stored row into a value, or into an `Unreadable` with the reason."""

from collections.abc import Callable
from typing import TypeVar

from bullion.unreadable import Unreadable, UnreadableRow, reason_of

from .engine import Row

T = TypeVar("T")

INSTANT_US_MAX = 253_402_300_799_999_999
"""The last microsecond of the year 9999: a later time cannot be written as a date."""


def decoded(
    kind: str, broker: str, subject: str, read: Callable[[], T], stand_in: object = None
) -> T | Unreadable:
    try:
        return read()
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one row, the others are read
        return Unreadable(kind, broker, subject, reason_of(error), stand_in)


def readable(found: T | Unreadable) -> T:
    """The value of a single row. May raise UnreadableRow."""
    if isinstance(found, Unreadable):
        raise UnreadableRow(found)
    return found


def column(row: Row, name: str, read: Callable[[str], T]) -> T:
    """Decode one column of text. Errors name the column."""
    try:
        return read(row[name])
    except Exception as error:
        raise ValueError(f"{name}: {reason_of(error)}") from error


def instant(row: Row, name: str) -> int:
    at_us: int = row[name]
    if not 0 <= at_us <= INSTANT_US_MAX:
        raise ValueError(f"{name}: {at_us} is not a time")
    return at_us


def instant_if_any(row: Row, name: str) -> int | None:
    return None if row[name] is None else instant(row, name)
