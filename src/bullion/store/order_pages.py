"""Pages of a book's orders and exact totals, at a cost that does not grow with the book.

Orders have ordinals without gaps, so a page without a filter is a range of them. For filters, the counts per
block of ordinals say how many match, of which kinds, and before which ordinal a page begins; from there on an
index of the kinds leads to its orders.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from bullion.orders.listing import ALL, ListQuery
from bullion.orders.order import Order

from . import order_rows
from .engine import Row, Transaction, one_row
from .order_rows import BLOCK_SIZES

_SMALL, _LARGE = 0, 1
_WALKED = 100
"""So many orders are passed over one by one; the place of those behind them is found by the counts."""

Kind = tuple[str | None, str | None, str | None]
"""Symbol, side and status; each may be anything."""
_ANY_KIND = (None, None, None)
_NO_KINDS = "[]"
_HIDDEN = "hidden"
"""In place of a status: everything but `ALL`."""


@dataclass(frozen=True, slots=True)
class Range:
    """The ordinals of a book among which to look."""

    book_id: int
    first: int
    """The first that is not archived: those before it are not counted."""
    low: int
    high: int


async def page(transaction: Transaction, book_id: int, query: ListQuery) -> tuple[Sequence[int], int]:
    """The ordinals of those that match, and how many there are."""
    within = await _range(transaction, book_id, query)
    if query.client_order_id is None and _kind(query) == _ANY_KIND:
        return newest(within.low, within.high, query)
    found, total = await _matching(transaction, within, query)
    return [row["ordinal"] for row in found], total


async def whole_page(transaction: Transaction, book_id: int, query: ListQuery) -> tuple[Sequence[Order], int]:
    """The orders themselves, in the state by which they were chosen and counted."""
    within = await _range(transaction, book_id, query)
    found, total = await _matching(transaction, within, query, "whole_")
    return [order_rows.order(row) for row in found], total


async def _range(transaction: Transaction, book_id: int, query: ListQuery) -> Range:
    book = order_rows.book(await one_row(transaction, "listed_book", book_id))
    first, high = book.archived_count + 1, book.order_count
    low = first
    if query.since_us is not None and low <= high:
        since = await one_row(transaction, "first_ordinal_since", book_id, low, high + 1, query.since_us)
        low = since["ordinal"]
    return Range(book_id, first, low, high)


def _kind(query: ListQuery) -> Kind:
    return query.symbol_code, query.trade_type, query.status


def newest(low: int, high: int, query: ListQuery) -> tuple[Sequence[int], int]:
    """A page of all orders between two ordinals: they have no gaps."""
    first = high - query.offset
    return range(first, max(low, first - query.limit + 1) - 1, -1), max(0, high - low + 1)


async def _matching(
    transaction: Transaction, within: Range, query: ListQuery, whole: str = ""
) -> tuple[Sequence[Row], int]:
    """`whole`: what the names of those queries begin with that read all there is of an order."""
    if within.high < within.low:
        return (), 0
    if query.client_order_id is not None:
        return await _named(transaction, within, query, f"{whole}named_orders")
    matches = _Matches(transaction, within, _kind(query))
    total = await matches.total(deep=query.offset > _WALKED)
    if query.offset >= total:
        return (), total

    async def between(low: int, high: int, offset: int) -> Sequence[Row]:
        about = (within.book_id, low, high, *_kind(query), query.limit, offset)
        return await transaction.all(f"{whole}orders_between", *about)

    low, high, offset = within.low, within.high, query.offset
    begun: Sequence[Row] = ()
    if offset > _WALKED:
        low, high, offset = await matches.place(offset)
        low = max(within.low, low - BLOCK_SIZES[_SMALL])  # Mostly there is the rest of the page.
        begun = await between(low, high, offset)
        high, offset = low - 1, 0
        if len(begun) == query.limit or high < within.low:
            return begun, total
    if matches.almost_all:
        return [*begun, *await between(within.low, high, offset)][: query.limit], total
    about = (within.book_id, matches.kinds, within.low, high, query.limit - len(begun), offset)
    return [*begun, *await transaction.all(f"{whole}orders_of_kinds", *about)], total


async def _named(
    transaction: Transaction, within: Range, query: ListQuery, named: str
) -> tuple[Sequence[Row], int]:
    about = (within.book_id, query.client_order_id, within.low, within.high, *_kind(query))
    total = (await one_row(transaction, "count_named_orders", *about))["total"]
    if query.offset >= total:
        return (), total
    return await transaction.all(named, *about, query.limit, query.offset), total


class _Matches:
    """The orders of some kinds within a range, by the counts."""

    def __init__(self, transaction: Transaction, within: Range, kind: Kind) -> None:
        self._transaction = transaction
        self._within = within
        self._kind = kind
        self.almost_all = kind in (_ANY_KIND, (None, None, ALL))
        """Then the kinds would be many ways to the same orders, and the few others are sooner counted."""
        self.kinds = _NO_KINDS
        """Those that there are, as JSON: status, symbol and side of each."""
        self._counted_kinds = self.kinds
        """Those whose counts are read: where almost all match, the others."""
        self._large: list[tuple[int, int]] | None = None
        """How many each large block has, newest first, once it is known."""

    async def total(self, *, deep: bool) -> int:
        """`deep`: the place of a page far from the newest will be asked for as well."""
        within = self._within
        size = BLOCK_SIZES[_LARGE]
        oldest = within.low // size
        begin, end = max(within.first, oldest * size), min(oldest * size + size - 1, within.high)
        if deep and within.low == begin:
            return await self._total_by_block(oldest)
        rows = await self._transaction.all("order_kinds", within.book_id, oldest, *self._kind)
        self.kinds = self._counted_kinds = _as_json(_kinds(rows))
        total: int = sum(row["orders"] for row in rows)
        if not total or within.low == begin:
            return total
        # The oldest block also holds orders from before the range: its shorter part is counted by itself.
        small_size = BLOCK_SIZES[_SMALL]
        small = within.low // small_size
        if within.low - begin <= end - within.low:
            apart = (max(begin, small * small_size), within.low - 1)
            return total - await self._counted(begin // small_size, small - 1, *apart)
        apart = (within.low, min(small * small_size + small_size - 1, end))
        later: int = sum(row["later"] for row in rows)
        return later + await self._counted(small + 1, end // small_size, *apart)

    async def _total_by_block(self, oldest: int) -> int:
        """The total and its parts by one question."""
        kind = (None, None, _HIDDEN) if self.almost_all else self._kind
        rows = await self._transaction.all("order_kinds_by_block", self._within.book_id, oldest, *kind)
        self.kinds = self._counted_kinds = _as_json(_kinds(rows))
        by_block: Counter[int] = Counter()
        for row in rows:
            by_block[row["block"]] += row["orders"]
        newest_block = self._within.high // BLOCK_SIZES[_LARGE]
        self._large = self._matches_of(_LARGE, oldest, newest_block, sorted(by_block.items(), reverse=True))
        return sum(orders for _, orders in self._large)

    async def _counted(self, first: int, last: int, low: int, high: int) -> int:
        """How many small blocks hold, and with them a range of ordinals within another one."""
        about = (self._within.book_id, self.kinds, first, last, low, high)
        return int((await one_row(self._transaction, "count_of_kinds", *about))["total"])

    async def place(self, offset: int) -> tuple[int, int, int]:
        """The small block that a page begins in, and how many matches are to be passed over in it."""
        large_size, small_size = BLOCK_SIZES[_LARGE], BLOCK_SIZES[_SMALL]
        for large, orders in self._large or await self._large_counts():
            if offset < orders:
                first = large * large_size
                last = min(first + large_size - 1, self._within.high)
                return await self._place_within(first // small_size, last // small_size, orders, offset)
            offset -= orders
        raise LookupError("the counts of a book do not agree with each other")

    async def _large_counts(self) -> list[tuple[int, int]]:
        within, size = self._within, BLOCK_SIZES[_LARGE]
        oldest = within.low // size
        if self.almost_all:
            about = (within.book_id, oldest, None, None, _HIDDEN)
            self._counted_kinds = _as_json(_kinds(await self._transaction.all("order_kinds", *about)))
        return await self._counts(_LARGE, oldest, within.high // size)

    async def _place_within(self, first: int, last: int, orders: int, offset: int) -> tuple[int, int, int]:
        """The same within the small blocks of a large one, which has so many matches.

        They are looked at from the end that is nearer, as far as it should be if the matches lie evenly, and
        then further.
        """
        from_new = offset * 2 <= orders
        behind = offset if from_new else orders - 1 - offset
        """How many matches there are between that end and the one that the page begins with."""
        step = (last - first + 1) * behind // orders + 2
        passed = 0
        while first <= last:
            part = (max(first, last - step + 1), last) if from_new else (first, min(last, first + step - 1))
            counts = await self._counts(_SMALL, *part)
            for block, fewer in counts if from_new else reversed(counts):
                if behind < passed + fewer:
                    left = behind - passed if from_new else passed + fewer - 1 - behind
                    size = BLOCK_SIZES[_SMALL]
                    low, high = block * size, block * size + size - 1
                    return max(low, self._within.low), min(high, self._within.high), left
                passed += fewer
            first, last = (first, part[0] - 1) if from_new else (part[1] + 1, last)
        raise LookupError("the counts of a book do not agree with each other")

    async def _counts(self, level: int, first: int, last: int) -> list[tuple[int, int]]:
        """By block, newest first."""
        about = (self._within.book_id, self._counted_kinds, level, first, last)
        rows = await self._transaction.all("block_counts", *about) if self._counted_kinds != _NO_KINDS else ()
        return self._matches_of(level, first, last, [(row["block"], row["orders"]) for row in rows])

    def _matches_of(
        self, level: int, first: int, last: int, counts: list[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """What was counted, or where the others were counted, all but those."""
        if not self.almost_all:
            return counts
        others = dict(counts)
        return [
            (block, self._size(level, block) - others.get(block, 0)) for block in range(last, first - 1, -1)
        ]

    def _size(self, level: int, block: int) -> int:
        """How many orders a block has that are neither archived nor yet to come."""
        low, size = block * BLOCK_SIZES[level], BLOCK_SIZES[level]
        return min(low + size - 1, self._within.high) - max(low, self._within.first) + 1


def _kinds(rows: Sequence[Row]) -> set[tuple[str, str, str]]:
    return {(row["status"], row["symbol_code"], row["trade_type"]) for row in rows}


def _as_json(kinds: set[tuple[str, str, str]]) -> str:
    return msgspec.json.encode(sorted(kinds)).decode()
