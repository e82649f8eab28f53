"""Sorts the desk's list of orders.

By time, an index serves any number of orders. By anything else, all matching orders are read and sorted, so
only a list of up to `SORTED_MAX` orders can be sorted: no index orders a million of them by weight.
"""

from collections.abc import Callable
from typing import Any

from bullion.desk.problems import invalid_field
from bullion.records.orders import AccountOrder, OrderFilter, OrderTotal
from bullion.records.page import Page
from bullion.store.account_orders import order_sort_key
from bullion.store.records import Records

SORTED_MAX = 1_000
NEWEST = "-time"
_KEYS: dict[str, Callable[[AccountOrder], Any]] = {
    "time": lambda each: order_sort_key(each.order),
    "client": lambda each: each.login_id,
    "symbol": lambda each: each.order.asked.symbol_code,
    "weight": lambda each: (each.order.metal, each.order.asked.quantity_e4),
    "price": lambda each: each.order.price_paise,
    "total": lambda each: each.order.total_paise,
    "state": lambda each: each.order.status,
    "deal": lambda each: each.order.deal_no or 0,
    "result": lambda each: each.order.realized_pnl_paise or 0,
}
SORTS = tuple(sign + name for name in _KEYS for sign in ("", "-"))
"""With a minus: the largest or newest first."""

_NOT_COUNTED = "waits until all orders are counted: that takes some seconds"


async def sorted_page_at_once(
    records: Records, broker: str, wanted: OrderFilter, page: Page, sort: str
) -> tuple[list[AccountOrder], OrderTotal]:
    """The same as `sorted_page`, but without a count of all orders: see `orders_at_once`."""
    found, total = await records.orders_at_once(broker, wanted, page if sort == NEWEST else Page(0, 0))
    if sort == NEWEST:
        return found, total
    if not total.exact:
        raise invalid_field(("sort",), _NOT_COUNTED, within="query")
    found, number = await sorted_page(records, broker, wanted, page, sort)
    return found, OrderTotal(number)


async def sorted_page(
    records: Records, broker: str, wanted: OrderFilter, page: Page, sort: str
) -> tuple[list[AccountOrder], int]:
    """A page of the sorted list, and how many orders match."""
    if sort == NEWEST:
        return await records.orders(broker, wanted, page)
    total = (await records.orders(broker, wanted, Page(0, 0)))[1]
    if sort == "time" and (wanted.is_counted or wanted.only_by_account):
        # Pages at any offset cost the same there: the list is read from its other end.
        limit = max(0, min(page.limit, total - page.offset))
        found, _ = await records.orders(broker, wanted, Page(limit, total - page.offset - limit))
        return found[::-1], total
    if total > SORTED_MAX:
        raise invalid_field(
            ("sort",), f"takes at most {SORTED_MAX} orders, and {total} match: filter them", within="query"
        )
    found, _ = await records.orders(broker, wanted, Page(SORTED_MAX, 0))
    key = _KEYS[sort.removeprefix("-")]
    # Stable: orders that are equal stay newest first.
    found = sorted(found, key=key, reverse=sort.startswith("-"))
    return found[page.offset : page.offset + page.limit], total
