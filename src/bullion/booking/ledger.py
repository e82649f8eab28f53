"""The port to the store that records bookings."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Protocol

import msgspec

from bullion.allocation.book import Book

from .decide import Plan
from .placing import KeyName, Settled, StockName


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


Planner = Callable[[Mapping[int, Book], MutableMapping[StockName, int]], Sequence[Plan]]
"""What to record in books, and take from stocks, that are locked."""


class Ledger(Protocol):
    """Every method may raise StoreFault."""

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]: ...

    async def settled(self, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]: ...

    async def record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Recorded:
        """Record every plan whose book is still as it was decided on and has no settled key among `names`.

        One durable step for all of them, with the requests to hedge their orders. None takes from a stock.
        """

    async def record_locked(
        self,
        book_ids: Sequence[int],
        stocks: Sequence[StockName],
        names: Sequence[KeyName],
        catalogue_version: int,
        plan: Planner,
    ) -> tuple[Sequence[Plan], Recorded]:
        """The same with the books, then the stocks, locked first; a lock may take until StoreBusy."""

    async def verify(self, book_id: int, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        """What keys of a book are settled by, after the answer to recording them was lost.

        On a connection of its own, and with the book locked: whoever has begun to record an order under one
        of these keys holds that lock. Where a key is not found, the book's version is moved, so that what is
        still on its way to the store, decided on the version before, is not recorded either.
        """
