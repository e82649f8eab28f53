"""Pages of a book's orders and exact totals, at a cost that does not grow with the book.

Orders have ordinals without gaps, so a page without a filter is a range of them. For filters, the counts per
block of ordinals say how many match, and in which block a page begins.
"""

from collections.abc import Sequence

from bullion.orders.listing import ListQuery
from bullion.orders.order import Order

from . import order_rows
from .engine import Transaction, one_row
from .order_rows import BLOCK_SIZES

_SMALL, _LARGE = 0, 1

Kind = tuple[str | None, str | None, str | None]
"""Symbol, side and status; each may be anything."""
_ANY_KIND = (None, None, None)


async def whole_page(transaction: Transaction, book_id: int, query: ListQuery) -> tuple[Sequence[Order], int]:
    """The orders themselves, in the state by which they were chosen and counted.

    A page is all that matches between its last ordinal and its first, so that is what is read.
    """
    ordinals, total = await page(transaction, book_id, query)
    if not ordinals:
        return (), total
    within, kind = (ordinals[-1], ordinals[0]), _kind(query)
    if query.client_order_id is None:
        found = await transaction.all("whole_orders_between", book_id, *within, *kind)
    else:
        found = await transaction.all("whole_named_orders", book_id, query.client_order_id, *within, *kind)
    return [order_rows.order(row) for row in found], total


async def page(transaction: Transaction, book_id: int, query: ListQuery) -> tuple[Sequence[int], int]:
    book = order_rows.book(await one_row(transaction, "one_book", book_id))
    low, high = book.archived_count + 1, book.order_count
    whole = True
    """Whether every order in a block that counts is within the range."""
    if query.since_us is not None and low <= high:
        since = await one_row(transaction, "first_ordinal_since", book_id, low, high + 1, query.since_us)
        whole = since["ordinal"] == low
        low = since["ordinal"]
    if query.client_order_id is not None:
        return await _named(transaction, book_id, query, low, high)
    if _kind(query) == _ANY_KIND:
        return newest(low, high, query)
    pages = _Range(transaction, book_id, low, high, _kind(query))
    return await pages.filtered(query.limit, query.offset, whole=whole)


def _kind(query: ListQuery) -> Kind:
    return query.symbol_code, query.trade_type, query.status


def newest(low: int, high: int, query: ListQuery) -> tuple[Sequence[int], int]:
    """A page of all orders between two ordinals: they have no gaps."""
    first = high - query.offset
    return range(first, max(low, first - query.limit + 1) - 1, -1), max(0, high - low + 1)


async def _named(
    transaction: Transaction, book_id: int, query: ListQuery, low: int, high: int
) -> tuple[Sequence[int], int]:
    about = (book_id, query.client_order_id, low, high, *_kind(query))
    total = (await one_row(transaction, "count_named_orders", *about))["total"]
    if query.offset >= total:
        return (), total
    found = await transaction.all("named_orders", *about, query.limit, query.offset)
    return [row["ordinal"] for row in found], total


class _Range:
    """The orders of one kind between two ordinals of a book."""

    def __init__(self, transaction: Transaction, book_id: int, low: int, high: int, kind: Kind) -> None:
        self._transaction = transaction
        self._book_id = book_id
        self._low = low
        self._high = high
        self._kind = kind

    async def between(self, low: int, high: int, limit: int, offset: int = 0) -> list[int]:
        if high < low:
            return []
        found = await self._transaction.all(
            "orders_between", self._book_id, low, high, *self._kind, limit, offset
        )
        return [row["ordinal"] for row in found]

    async def filtered(self, limit: int, offset: int, *, whole: bool) -> tuple[list[int], int]:
        """Newest first: large blocks, in those that matter small blocks, in those the orders themselves."""
        counts = await self._counts(_LARGE, self._low, self._high)
        if not whole and counts:
            counts = await self._without_older(counts)
        total = sum(orders for _, orders in counts)
        found: list[int] = []
        if offset >= total:
            return found, total
        for large, orders in counts:
            if offset >= orders:
                offset -= orders
                continue
            size = BLOCK_SIZES[_LARGE]
            for small, fewer in await self._counts(_SMALL, large * size, large * size + size - 1):
                if offset >= fewer:
                    offset -= fewer
                    continue
                first = small * BLOCK_SIZES[_SMALL]
                last = first + BLOCK_SIZES[_SMALL] - 1
                found += await self.between(max(first, self._low), last, limit - len(found), offset)
                offset = 0
                if len(found) >= limit:
                    return found, total
        return found, total

    async def _counts(self, level: int, low: int, high: int) -> list[tuple[int, int]]:
        size = BLOCK_SIZES[level]
        first, last = max(low, self._low) // size, min(high, self._high) // size
        rows = await self._transaction.all("block_counts", self._book_id, level, first, last, *self._kind)
        return [(row["block"], row["orders"]) for row in rows]

    async def _without_older(self, counts: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The oldest block of the range also holds orders from before it: count that one anew."""
        size = BLOCK_SIZES[_LARGE]
        block = self._low // size
        if counts[-1][0] != block:
            return counts
        small = self._low // BLOCK_SIZES[_SMALL]
        within = await self._counts(_SMALL, self._low, block * size + size - 1)
        orders = sum(number for each, number in within if each != small)
        last = min(small * BLOCK_SIZES[_SMALL] + BLOCK_SIZES[_SMALL] - 1, self._high)
        row = await one_row(self._transaction, "count_between", self._book_id, self._low, last, *self._kind)
        return [*counts[:-1], (block, orders + row["total"])]
