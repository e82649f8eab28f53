"""The port for reading an account's events."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from .event import AccountEvent, EventsGone

Start = tuple[int, int]
"""A book, and the number after which to read."""


class EventReader(Protocol):
    """Sees everything that was committed before the call. May raise StoreFault."""

    async def range(self, book_id: int) -> tuple[int, int]:
        """The first number that is kept, and the newest. If there is no event, the newest is one less."""

    async def read(self, book_id: int, after: int | None, limit: int) -> Sequence[AccountEvent]:
        """The first events after a number, or from the oldest on. May raise EventsGone."""

    async def read_many(
        self, starts: Sequence[Start], limit: int
    ) -> Sequence[Sequence[AccountEvent] | EventsGone]:
        """The first events after each number, at most so many of each. Even after fewer, more may follow."""

    async def newest(self, book_ids: Sequence[int]) -> Mapping[int, int]:
        """The newest number of each book, in one query."""
