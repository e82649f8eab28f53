"""The port through which orders and positions are read back."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from bullion.allocation.book import Book, OpenWeight

from .listing import ListQuery
from .order import Order


class OrderReader(Protocol):
    """Sees everything that was answered before the call. May raise StoreFault."""

    async def book(self, book_id: int) -> Book: ...

    async def open_book(self, book_id: int) -> tuple[Book, Sequence[OpenWeight]]:
        """A book and what is open in it per symbol, from one snapshot."""

    async def order(self, book_id: int, order_id: str) -> Order | None: ...

    async def page(self, book_id: int, query: ListQuery) -> tuple[Sequence[int], int]:
        """The ordinals of a page, newest first, and the number of all that match, from one snapshot."""

    async def whole_page(self, book_id: int, query: ListQuery) -> tuple[Sequence[Order], int]:
        """A page of orders that may still change, and the number of all that match, from one snapshot."""

    async def orders(self, book_id: int, ordinals: Sequence[int]) -> Mapping[int, Order]:
        """Orders of a book by their ordinals."""
