"""Puts an account's events in order. Pure functions.

An order that the API shows at once has no row of its own for its event. The rows of all other events say how
many orders there were by then, and so the numbers of the orders between two rows follow.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec

HIDDEN = "hidden"
"""The kind of a row for an order that the API hides. The order takes no number."""
START = "start"
"""The kind of a row where the numbering began."""
END = "end"
"""The kind of what stands for the newest order and the newest event."""


class Mark(msgspec.Struct, frozen=True):
    """A row."""

    number: int
    """The newest number, once this had happened."""
    orders_through: int
    """The newest ordinal by then."""
    kind: str
    """The type of the event, or the status that an order entered."""
    at_us: int
    ordinal: int | None = None
    detail: str | None = None

    @property
    def is_event(self) -> bool:
        return self.kind not in (HIDDEN, START, END)


class Place(msgspec.Struct, frozen=True):
    """An event, found by its number."""

    number: int
    ordinal: int | None
    """Of the order that it is about."""
    mark: Mark | None
    """None if the order was recorded."""


def arrange(
    base: Mark | None, tables: Sequence[Sequence[Mark]], after: int, newest: tuple[int, int], limit: int
) -> list[Place]:
    """The first events after a number.

    `base` is the last row up to that number. `tables` are the rows after it, in their order, up to the limit
    of each table. `newest` are the newest number and ordinal, as of the same moment.
    """
    if base is None:
        base = Mark(0, 0, START, 0)
    ordinal = base.orders_through + after - base.number
    return list(islice(_places(ordinal, after, _together(tables, newest, limit)), limit))


def place_of(mark: Mark) -> tuple[int, int]:
    """By this, rows are in their order."""
    return mark.number, mark.orders_through


def _together(tables: Sequence[Sequence[Mark]], newest: tuple[int, int], limit: int) -> list[Mark]:
    """The rows of all tables up to the first one that may be missing, or else up to the newest event."""
    rows = sorted((mark for table in tables for mark in table), key=place_of)
    cut_off = [place_of(table[-1]) for table in tables if len(table) >= limit]
    if not cut_off:
        return [*rows, Mark(*newest, END, 0)]
    return [mark for mark in rows if place_of(mark) <= min(cut_off)]


def _places(ordinal: int, number: int, marks: Iterable[Mark]) -> Iterator[Place]:
    """`ordinal` and `number`: how far the caller has read."""
    for mark in marks:
        shown_through = mark.orders_through - (mark.kind == HIDDEN)
        for created in range(ordinal + 1, shown_through + 1):
            number += 1
            yield Place(number, created, None)
        ordinal = mark.orders_through
        if mark.is_event:
            number += 1
            yield Place(number, mark.ordinal, mark)
        if number != mark.number:
            raise ValueError(f"event {mark.number} would be number {number}")
