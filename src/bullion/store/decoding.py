"""The one step that turns a stored row into a value, or into an `Unreadable` that says why it cannot."""

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
    """For callers that ask for one row and need its value. May raise UnreadableRow."""
    if isinstance(found, Unreadable):
        raise UnreadableRow(found)
    return found


def column(row: Row, name: str, read: Callable[[str], T]) -> T:
    """One column of text. What is wrong with it is told with the column's name."""
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
