"""The port for reading orders and positions."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from bullion.allocation.book import Book, OpenWeight

from .listing import ListQuery
from .order import Order


class OrderReader(Protocol):
    """Sees everything that was committed before the call. May raise StoreFault."""

    @property
    def failovers(self) -> int:
        """How often another server has taken over as the store. Orders that were read before may be gone."""

    async def book(self, book_id: int) -> Book: ...

    async def book_with_weights(self, book_id: int) -> tuple[Book, Sequence[OpenWeight]]:
        """A book and its open weight per symbol, from one snapshot."""

    async def order(self, book_id: int, order_id: str) -> Order | None: ...

    async def page_ordinals(self, book_id: int, query: ListQuery) -> tuple[Sequence[int], int]:
        """The ordinals of a page, newest first, and the total, from one snapshot."""

    async def page_orders(self, book_id: int, query: ListQuery) -> tuple[Sequence[Order], int]:
        """The orders of a page, newest first, and the total, from one snapshot."""

    async def orders(self, book_id: int, ordinals: Sequence[int]) -> Mapping[int, Order]:
        """Orders of a book by their ordinals."""
