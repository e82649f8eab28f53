"""Pages of a book's orders and exact totals, at a cost that does not grow with the book.

Orders have ordinals without gaps, so a page without a filter is a range of them. For filters, the counts of
the blocks that are summed say how many match, of which kinds, and in which block a page begins; from there on
an index of the kinds leads to its orders. The newest orders, whose block is not summed yet, are counted one
by one: there are fewer than a block has, but for the moments until a full one is.
"""

from collections.abc import Sequence

from bullion.orders.listing import ListQuery
from bullion.orders.order import Order

from . import order_rows
from .engine import Row, Transaction, one_row
from .order_matches import Kind, Matches, Range, matches_of

_WALKED = 100
"""So many orders are passed over one by one; the place of those behind them is found by the counts."""

_ANY_KIND = (None, None, None)


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
    book = await one_row(transaction, "listed_book", book_id)
    first, high = book["archived_count"] + 1, book["order_count"]
    low = first
    if query.since_us is not None and low <= high:
        since = await one_row(transaction, "first_ordinal_since", book_id, low, high + 1, query.since_us)
        low = since["ordinal"]
    return Range(book_id, first, low, high, book["unsummed_from"])


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
    matches = await matches_of(transaction, within, _kind(query))
    if query.offset >= matches.total:
        return (), matches.total

    async def between(low: int, high: int, offset: int) -> Sequence[Row]:
        about = (within.book_id, low, high, *_kind(query), query.limit, offset)
        return await transaction.all(f"{whole}orders_between", *about)

    high, offset = within.high, query.offset
    begun: Sequence[Row] = ()
    if offset > _WALKED:
        if offset < matches.unsummed:
            low = max(within.low, within.unsummed)
            begun = await between(low, high, offset)
        else:
            begun = await _from_place(transaction, matches, query, f"{whole}orders_from_place")
            low = max(within.low, (begun[0]["block"] - 1) * order_rows.BLOCK_SIZES[0])
        high, offset = low - 1, 0
        if len(begun) == query.limit or high < within.low:
            return begun, matches.total
    if matches.almost_all:
        return [*begun, *await between(within.low, high, offset)][: query.limit], matches.total
    about = (within.book_id, matches.kinds, within.low, high, query.limit - len(begun), offset)
    return [*begun, *await transaction.all(f"{whole}orders_of_kinds", *about)], matches.total


async def _from_place(
    transaction: Transaction, matches: Matches, query: ListQuery, named: str
) -> Sequence[Row]:
    """The page as far as it stands in the block where it begins and the one behind: mostly, all of it."""
    within, (small, larger, *_) = matches.within, order_rows.BLOCK_SIZES
    place = (matches.kinds, query.offset - matches.unsummed, larger // small, small)
    return await transaction.all(named, within.book_id, *place, *_kind(query), within.low, query.limit)


async def _named(
    transaction: Transaction, within: Range, query: ListQuery, named: str
) -> tuple[Sequence[Row], int]:
    about = (within.book_id, query.client_order_id, within.low, within.high, *_kind(query))
    total = (await one_row(transaction, "count_named_orders", *about))["total"]
    if query.offset >= total:
        return (), total
    return await transaction.all(named, *about, query.limit, query.offset), total
