"""The books as this node saw them last. Orders are decided with these.

A book that another node uses too has often changed since. To decide with the old one is wasted: the store
does not record it. So after a conflict the book is read anew before the next decisions, which is cheaper than
to decide and send them twice, until nobody else has changed it for a while.

When another server takes over as the store, all books are forgotten: without its last commits, a book may
reach a version again with other orders.
"""

from collections.abc import Collection, Iterable, Mapping

from bullion.allocation.book import Book

from .ledger import Ledger

_BOOKS_KEPT_MAX = 50_000
_READS_WITHOUT_CHANGE = 8
"""A book that nobody else has changed between so many reads is ours again."""


class KnownBooks:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._failovers = ledger.failovers
        self._books: dict[int, Book] = {}
        self._shared: dict[int, int] = {}
        """The books that another node changes too, with how many reads are left."""

    async def for_decision(self, book_ids: Collection[int], *, again: bool) -> Mapping[int, Book]:
        """The books to decide with. May raise StoreFault.

        `again`: these books were learned from the store a moment ago, by a try that conflicted.
        """
        self._follow_primary()
        shared = () if again else self._shared
        known = {each: self._books[each] for each in book_ids if each in self._books and each not in shared}
        to_read = [each for each in book_ids if each not in known]
        if not to_read:
            return known
        found = await self._ledger.books(to_read)
        if self._follow_primary():
            return await self.for_decision(book_ids, again=again)
        if max(len(self._books), len(self._shared)) + len(found) > _BOOKS_KEPT_MAX:
            self._books.clear()
            self._shared.clear()
        for book in found.values():
            self._note_read(book)
        return known | dict(found)

    def knows(self, book_id: int) -> bool:
        return book_id in self._books

    def note(self, book: Book) -> None:
        """As this node has just recorded it, or found it when it wanted to."""
        self._books[book.id] = book

    def note_conflict(self, book: Book) -> None:
        """Another node has changed it; this is how it is now."""
        self._books[book.id] = book
        self._shared[book.id] = _READS_WITHOUT_CHANGE

    def note_locked(self, book_id: int) -> None:
        """Another transaction has locked it, maybe one of this node: one read tells whether it changes it."""
        self._shared.setdefault(book_id, 1)

    def forget(self, book_ids: Iterable[int]) -> None:
        for book_id in book_ids:
            self._books.pop(book_id, None)

    def _follow_primary(self) -> bool:
        """Forget everything if another server has taken over. Whether it has."""
        if self._ledger.failovers == self._failovers:
            return False
        self._failovers = self._ledger.failovers
        self._books.clear()
        self._shared.clear()
        return True

    def _note_read(self, book: Book) -> None:
        known = self._books.get(book.id)
        self._books[book.id] = book
        left = self._shared.get(book.id)
        if left is None:
            return
        if known is None or known.version != book.version:
            self._shared[book.id] = _READS_WITHOUT_CHANGE
        elif left > 1:
            self._shared[book.id] = left - 1
        else:
            del self._shared[book.id]
