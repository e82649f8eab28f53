"""The port to the store that records bookings."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Protocol

import msgspec

from bullion.allocation.book import Book

from .attempt import KeyName, Settled, StockName
from .decide import Plan


class BookResult(msgspec.Struct, frozen=True):
    """What happened to one book of a batch."""

    book: Book
    """The locked book before the batch. If the plan was recorded, the store now has `plan.after`."""
    recorded: bool
    settled: bool
    """Whether one of the given keys of this book is settled: then nothing of its plan was recorded."""


class Recorded(msgspec.Struct, frozen=True):
    catalogue_version: int
    """If it is not the version that the batch was checked with, nothing was recorded."""
    books: Mapping[int, BookResult]
    """Books that others had locked are missing: the batch did not wait for them."""


Planner = Callable[[Mapping[int, Book], MutableMapping[StockName, int]], Sequence[Plan]]
"""Decides what to record in locked books, and what to take from locked stocks."""


class Ledger(Protocol):
    """Every method may raise StoreFault."""

    @property
    def failovers(self) -> int:
        """How often another server has taken over as the store. Books that were read before may be gone."""

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]: ...

    async def settled(self, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]: ...

    async def record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Recorded:
        """Record each plan whose book has not changed since and has no settled key among `names`.

        One commit for all of them, with the hedge requests of their orders. No plan takes from a stock. May
        raise NotSent: then the orders must be decided again.
        """

    async def record_locked(
        self,
        book_ids: Sequence[int],
        stocks: Sequence[StockName],
        names: Sequence[KeyName],
        catalogue_version: int,
        plan: Planner,
    ) -> tuple[Sequence[Plan], Recorded]:
        """As `record`, with the books and then the stocks locked first. May raise StoreBusy."""

    async def verify(self, book_id: int, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        """The outcomes of these keys of a book, after the response to recording them was lost.

        It uses a separate connection and locks the book: a call that is recording an order under one of the
        keys holds that lock. If a key is not found, the book's version is incremented: an order that is still
        on its way to the store was decided on the version before, and can no longer be recorded.
        """
