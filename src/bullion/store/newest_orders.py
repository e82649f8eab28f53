"""The newest orders of a list at once, without a count of the others.

It serves lists over all accounts until `OrderTimeline` has counted all orders. It looks at a bounded number
of orders, back in time; those of one status have an index. Other filters may match few of the orders that it
looks at: then the list is short, and its total says that it is not exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bullion.orders.status import Status
from bullion.records.orders import OrderTotal
from bullion.records.page import Page

from .engine import Row, Transaction, Value, one_row

COUNTED_MAX = 1_000
"""How many matches are counted, and how far down pages go."""
_LOOKED_AT_MAX = 10_000


@dataclass(frozen=True, slots=True)
class _Queries:
    """The names of the queries."""

    count: str
    page: str


_BY_STATUS = _Queries("desk_status_orders_count_to", "desk_status_orders")
_BY_TIME = _Queries("desk_orders_count_to", "desk_orders")


def has_status_index(status: Value) -> bool:
    """Whether an index finds the orders of this status. Test orders have none."""
    return status is not None and status != Status.FILLED


async def newest_orders(
    transaction: Transaction,
    about: Sequence[Value],
    ids: tuple[str, str],
    page: Page,
    *,
    count_all: bool = False,
) -> tuple[Sequence[Row], OrderTotal]:
    """`about`: the filters and the scope of the desk's lists. `ids`: a range of ids.

    `count_all`: count all that it looks at, not only as many as a page that is open all day needs.
    """
    counted_max = max(COUNTED_MAX, _LOOKED_AT_MAX) if count_all else COUNTED_MAX
    low, high = ids
    status = about[1]
    if has_status_index(status):
        queries = _BY_STATUS
        start = await transaction.one("desk_status_search_start", low, status, high, _LOOKED_AT_MAX)
    else:
        queries = _BY_TIME
        start = await transaction.one("desk_search_start", low, high, _LOOKED_AT_MAX)
    within = (*about, low if start is None else start["id"], high)
    counted = (await one_row(transaction, queries.count, *within, counted_max + 1))["total"]
    total = OrderTotal(min(counted, counted_max), exact=start is None and counted <= counted_max)
    limit = min(page.limit, total.number - page.offset)
    found = await transaction.all(queries.page, *within, limit, page.offset) if limit > 0 else ()
    return found, total
