"""All orders of one account, newest first, at any offset: its two books are merged by their ordinals.

Within a book times rise with the ordinals, which have no gaps. So the total is a subtraction, and a binary
search finds how many of the orders before a page each book has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bullion.orders.order import Order
from bullion.records.page import Page

from . import order_rows
from .engine import Transaction, one_row

_ANY_KIND = (None, None, None)


@dataclass(frozen=True, slots=True)
class BookOrders:
    """The listed orders of a book, from one ordinal to another."""

    book_id: int
    low: int
    high: int

    @property
    def number(self) -> int:
        return max(0, self.high - self.low + 1)

    def without_newest(self, newest: int) -> "BookOrders":
        """All but this many of the newest orders."""
        return replace(self, high=self.high - newest)


async def page(
    transaction: Transaction, books: Sequence[BookOrders], page: Page
) -> tuple[Sequence[Order], int]:
    total = sum(each.number for each in books)
    if page.offset >= total:
        return (), total
    found: list[Order] = []
    for each in await _skip_newest(transaction, books, page.offset):
        about = (each.book_id, *_ANY_KIND, each.low, each.high, page.limit, 0)
        found += map(order_rows.order, await transaction.all("orders_between", *about))
    return sorted(found, key=order_sort_key, reverse=True)[: page.limit], total


def order_sort_key(order: Order) -> tuple[int, int, str]:
    """The sort key of the desk's lists."""
    return order.created_at_us, order.ordinal, order.id


async def _skip_newest(
    transaction: Transaction, books: Sequence[BookOrders], offset: int
) -> Sequence[BookOrders]:
    """The books without the `offset` newest orders of both together."""
    one, other = (*books, *[BookOrders(-1, 1, 0)] * 2)[:2]
    low, high = max(0, offset - other.number), min(offset, one.number)
    while low < high:
        middle = (low + high) // 2
        left = await _sort_key_at(transaction, one.book_id, one.high - middle)
        right = await _sort_key_at(transaction, other.book_id, other.high - (offset - middle - 1))
        low, high = (middle + 1, high) if left > right else (low, middle)
    return one.without_newest(low), other.without_newest(offset - low)


async def _sort_key_at(transaction: Transaction, book_id: int, ordinal: int) -> tuple[int, int, str]:
    return order_sort_key(order_rows.order(await one_row(transaction, "order_at", book_id, ordinal)))
