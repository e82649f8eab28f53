"""Pages of a book's orders and exact totals, at a cost that does not grow with the book.

Orders have ordinals without gaps, so a page without a filter is a range of them. For filters, the counts of
the blocks that are summed say how many match, of which kinds, and in which block a page begins; from there on
an index of the kinds leads to its orders. The newest orders, whose block is not summed yet, are counted one
by one: there are fewer of them than fit in a block, except for the moments until a full block is summed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bullion.orders.listing import ListQuery
from bullion.orders.order import Order

from . import order_rows
from .engine import Row, Transaction, one_row
from .order_matches import Kind, Range, matches_of

_SCANNED_OFFSET_MAX = 100
"""Offsets up to this are skipped order by order; larger offsets are found by the counts."""

_ANY_KIND = (None, None, None)


@dataclass(frozen=True, slots=True)
class _Queries:
    """The names of the queries that read a page."""

    with_reference: str
    between: str
    from_page_start: str
    of_kinds: str


_ORDINALS = _Queries(
    "ordinals_with_reference", "ordinals_between", "ordinals_from_page_start", "ordinals_of_kinds"
)
_ROWS = _Queries("orders_with_reference", "orders_between", "orders_from_page_start", "orders_of_kinds")


async def page_ordinals(
    transaction: Transaction, book_id: int, query: ListQuery
) -> tuple[Sequence[int], int]:
    """The ordinals of the matching orders, and their total."""
    within = await _range(transaction, book_id, query)
    if query.client_order_id is None and _kind(query) == _ANY_KIND:
        return newest(within.low, within.high, query)
    found, total = await _matching(transaction, within, query, _ORDINALS)
    return [row["ordinal"] for row in found], total


async def page_orders(
    transaction: Transaction, book_id: int, query: ListQuery
) -> tuple[Sequence[Order], int]:
    """The matching orders, from the same snapshot as their total."""
    within = await _range(transaction, book_id, query)
    found, total = await _matching(transaction, within, query, _ROWS)
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
    transaction: Transaction, within: Range, query: ListQuery, queries: _Queries
) -> tuple[Sequence[Row], int]:
    if within.high < within.low:
        return (), 0
    about = (within.book_id, *_kind(query))
    if query.client_order_id is not None:
        reference = (*about, query.client_order_id, within.low, within.high)
        total = (await one_row(transaction, "count_orders_with_reference", *reference))["total"]
        if query.offset >= total:
            return (), total
        return await transaction.all(queries.with_reference, *reference, query.limit, query.offset), total
    matches = await matches_of(transaction, within, _kind(query))
    if query.offset >= matches.total:
        return (), matches.total

    async def between(low: int, high: int, offset: int) -> Sequence[Row]:
        return await transaction.all(queries.between, *about, low, high, query.limit, offset)

    high, offset = within.high, query.offset
    begun: Sequence[Row] = ()
    if offset > _SCANNED_OFFSET_MAX:
        if offset < matches.unsummed:
            low = max(within.low, within.unsummed)
            begun = await between(low, high, offset)
        else:
            # The part of the page in its first two blocks: mostly all of it.
            small, larger, *_ = order_rows.BLOCK_SIZES
            page_start = (matches.kinds, offset - matches.unsummed, larger // small, small)
            begun = await transaction.all(
                queries.from_page_start, *about, *page_start, within.low, query.limit
            )
            low = max(within.low, (begun[0]["block"] - 1) * small)
        high, offset = low - 1, 0
        if len(begun) == query.limit or high < within.low:
            return begun, matches.total
    if matches.almost_all:
        return [*begun, *await between(within.low, high, offset)][: query.limit], matches.total
    rest = (within.book_id, matches.kinds, within.low, high, query.limit - len(begun), offset)
    return [*begun, *await transaction.all(queries.of_kinds, *rest)], matches.total
