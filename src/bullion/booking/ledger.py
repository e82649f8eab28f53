"""The port to the store that records bookings."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Protocol

import msgspec

from bullion.allocation.book import Book

from .attempt import KeyName, Settled, StockName
from .decide import Plan


class Seen(msgspec.Struct, frozen=True):
    """A book as the store has it after a batch."""

    book: Book
    """As it was before the batch, under its lock. If the plan was recorded, it is now `plan.after`."""
    recorded: bool
    settled: bool
    """Whether one of the given keys of this book is settled: then nothing of its plan was recorded."""


class Recorded(msgspec.Struct, frozen=True):
    catalogue_version: int
    """If it is not the version that the batch was checked with, nothing was recorded."""
    books: Mapping[int, Seen]
    """Without the books that others had locked: the batch did not wait for them."""


Planner = Callable[[Mapping[int, Book], MutableMapping[StockName, int]], Sequence[Plan]]
"""Decides what to record in locked books, and what to take from locked stocks."""


class Ledger(Protocol):
    """Every method may raise StoreFault."""

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]: ...

    async def settled(self, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]: ...

    async def record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Recorded:
        """Record each plan whose book has not changed since and has no settled key among `names`.

        One commit for all of them, with the hedge requests of their orders. No plan takes from a stock.
        """

    async def record_locked(
        self,
        book_ids: Sequence[int],
        stocks: Sequence[StockName],
        names: Sequence[KeyName],
        catalogue_version: int,
        plan: Planner,
    ) -> tuple[Sequence[Plan], Recorded]:
        """The same with the books, then the stocks, locked first. StoreBusy if a lock takes too long."""

    async def verify(self, book_id: int, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        """What the keys of a book are settled by, after the answer to recording them was lost.

        It uses its own connection and locks the book: a call that has begun to record an order under one of
        these keys holds that lock. If a key is not found, the book's version moves, so that an order that is
        still on its way to the store, decided on the version before, is not recorded later.
        """
