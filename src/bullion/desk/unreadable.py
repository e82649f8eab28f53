"""Views and errors for rows that cannot be read."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from bullion.refusals.desk import UNREADABLE
from bullion.refusals.refusal import RefusalError
from bullion.unreadable import ADVICE, Unreadable, UnreadableRow

T = TypeVar("T")
View = dict[str, Any]


async def read_or_unreadable(reading: Awaitable[T]) -> T | Unreadable:
    """The result, or the `Unreadable` in its place: for callers that may replace such a row."""
    try:
        return await reading
    except UnreadableRow as row:
        return row.entry


def view_of(held: T | Unreadable, view: Callable[[T], View]) -> View:
    return unreadable_view(held) if isinstance(held, Unreadable) else view(held)


def unreadable_view(entry: Unreadable) -> View:
    return {
        ADVICE[entry.kind].field: entry.subject,
        "unreadable": entry.reason,
        "effect": entry.effect,
        "remedy": entry.remedy,
    }


def is_unreadable(view: View) -> bool:
    return "unreadable" in view


def unreadable_error(entry: Unreadable) -> RefusalError:
    return RefusalError(UNREADABLE, f"{entry} {entry.effect} {entry.remedy}")
