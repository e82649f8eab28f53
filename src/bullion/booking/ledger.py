"""The port to the store that records bookings."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from bullion.allocation.book import Book

from .decide import Plan
from .placing import KeyName, Settled


class Seen(msgspec.Struct, frozen=True):
    """A book as the store has it after a batch."""

    book: Book
    """As it was before the batch, under its lock; the plan says what it is after it, if it was recorded."""
    recorded: bool
    settled: bool
    """Whether a key of this book that was asked about is settled: then nothing of its plan was recorded."""


class Recorded(msgspec.Struct, frozen=True):
    catalogue_version: int
    """Where it is not the one that the batch was judged by, nothing at all was recorded."""
    books: Mapping[int, Seen]
    """Without those that somebody else holds: they were not waited for."""


class Ledger(Protocol):
    """Every method may raise StoreFault."""

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]: ...

    async def settled(self, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]: ...

    async def record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Recorded:
        """Record every plan whose book is still as it was decided on and has no settled key among `names`.

        One durable step for all of them.
        """

    async def record_locked(
        self,
        book_ids: Sequence[int],
        names: Sequence[KeyName],
        catalogue_version: int,
        plan: Callable[[Mapping[int, Book]], Sequence[Plan]],
    ) -> tuple[Sequence[Plan], Recorded]:
        """The same with the books locked first, however long that takes (up to StoreBusy)."""
