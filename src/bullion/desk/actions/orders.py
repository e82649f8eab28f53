"""Lists orders of all accounts, and shows single orders in full."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from bullion.desk import texts
from bullion.desk.bodies import Option
from bullion.desk.desk import Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.environment import Environment
from bullion.orders.status import Status
from bullion.records.orders import AccountOrder, OrderFilter, OrdersNotCounted, OrderSum, OrderTotal
from bullion.records.page import Page
from bullion.records.token import Actor
from bullion.refusals.catalogue import SERVICE_UNAVAILABLE
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from . import traces
from .order_sorting import NEWEST, SORTED_MAX, SORTS, sorted_page, sorted_page_at_once
from .order_sums import sums
from .order_view import full_view, list_views

T = TypeVar("T")
STATUSES = tuple(status.value for status in Status)
FILTERS = {
    "environment": Option("Only in this environment.", choices=tuple(Environment)),
    "login_id": Option("Only for this account.", "--login", "LOGIN_ID"),
    "status": Option("Only with this status.", choices=STATUSES),
    "symbol_code": Option("Only for this symbol.", "--symbol", "CODE"),
    "source": Option("Only from this channel, such as api."),
    "client_order_id": Option("Only with this client order id.", metavar="TEXT"),
    "request_id": Option("Only the order of the request with this X-Request-Id.", metavar="ID"),
    "since": Option("Only from this time on, in ISO 8601.", metavar="TIME"),
}
_NOT_COUNTED = "This process has not yet counted all orders, as this list needs. Try again in some seconds."
_COUNTING_S = 2
ORDER_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@action(
    "GET /orders",
    command="orders list",
    columns="created_at environment login_id deal:deal_no|deal_label symbol_code trade_type quantity unit "
    "price total status client_order_id id",
    query={
        **FILTERS,
        "sort": Option(
            "Sort by this, with a minus from the top down. By anything but time: only up to "
            f"{SORTED_MAX} orders. Default: {NEWEST}.",
            metavar="FIELD",
        ),
    },
)
async def list_orders(
    desk: Desk, actor: Actor, filters: Mapping[str, str | None], page: Page
) -> tuple[list[View], int]:
    """List orders, newest first unless sorted otherwise. Archived test orders are left out.

    \b
    Examples:
      bullion desk orders list --login aurum --since 2026-11-09
      bullion desk orders list --client-order-id PO-1842
      bullion desk --json orders list --environment test --limit 200
    """
    wanted, sort = _wanted(filters), _sort(filters)

    async def work(records: Records) -> tuple[list[View], int]:
        found, total = await sorted_page(records, actor.broker, wanted, page, sort)
        return await list_views(records, actor.broker, found), total

    return await _read_counted(desk, actor, work)


async def _read_counted(desk: Desk, actor: Actor, work: Callable[[Records], Awaitable[T]]) -> T:
    try:
        return await desk.read(actor, "orders", work)
    except OrdersNotCounted as uncounted:
        raise RefusalError(SERVICE_UNAVAILABLE, _NOT_COUNTED, retry_after_s=_COUNTING_S) from uncounted


async def list_at_once(
    desk: Desk, actor: Actor, filters: Mapping[str, str | None], page: Page
) -> tuple[list[View], OrderTotal]:
    """The same list for a page that is read every second: it does not wait until all orders are counted."""
    wanted, sort = _wanted(filters), _sort(filters)

    async def work(records: Records) -> tuple[list[View], OrderTotal]:
        found, total = await sorted_page_at_once(records, actor.broker, wanted, page, sort)
        return await list_views(records, actor.broker, found), total

    return await desk.read(actor, "orders", work)


async def newest_production_orders(desk: Desk, actor: Actor, number: int) -> list[View]:
    """Newest first."""

    async def work(records: Records) -> list[View]:
        found = await records.newest_production_orders(actor.broker, number)
        return await list_views(records, actor.broker, found)

    return await desk.read(actor, "newest_orders", work)


@action(
    "GET /orders/totals",
    command="orders totals",
    columns="environment metal trade_type orders quantity unit total realized_pnl",
    query=FILTERS,
)
async def sum_orders(desk: Desk, actor: Actor, filters: Mapping[str, str | None]) -> View:
    """Sum weights, values and results of orders by metal and side.

    Orders that are rejected or deleted are left out. Of more than 1,000 orders, the newest 1,000 are summed;
    `summed` says how many.
    """
    wanted = _wanted(filters)
    found, total = await _read_counted(
        desk, actor, lambda records: records.orders(actor.broker, wanted, Page(SORTED_MAX, 0))
    )
    items = sums(OrderSum.of_one(each.order) for each in found)
    return {"orders": total, "summed": len(found), "items": items}


async def sum_at_once(
    desk: Desk, actor: Actor, filters: Mapping[str, str | None]
) -> tuple[list[View], int, OrderTotal]:
    """The same sums for a page that is open all day; of how many orders, and how many match."""
    wanted = _wanted(filters)

    async def work(records: Records) -> tuple[list[OrderSum], OrderTotal]:
        _, total = await records.orders_at_once(actor.broker, wanted, Page(0, 0))
        number = min(SORTED_MAX, total.number)
        return await records.newest_sums(actor.broker, wanted, number), total

    found, total = await desk.read(actor, "order_sums", work)
    return sums(found), sum(each.orders for each in found), total


@action("GET /orders/{id}", command="orders show")
async def get_order(desk: Desk, actor: Actor, order_id: str) -> View:
    """Show one order: its events, the parts of its price, and why it was accepted."""

    async def work(records: Records) -> View:
        found = await find_order(records, actor.broker, order_id)
        trace = await records.trace(actor.broker, found.order.request_id)
        whole = await full_view(records, actor.broker, found)
        return {**whole, "trace": None if trace is None else traces.view(trace)}

    return await desk.read(actor, "order", work)


async def find_order(records: Records, broker: str, order_id: str, *, lock: bool = False) -> AccountOrder:
    """With `lock` it cannot change until the transaction ends."""
    order_id = order_id.lower()
    found = None
    if ORDER_ID.fullmatch(order_id):
        found = await (records.lock_order if lock else records.order)(broker, order_id)
    if found is None:
        raise RefusalError(NOT_FOUND, "There is no such order on this broker.")
    return found


def _sort(filters: Mapping[str, str | None]) -> str:
    sort = filters.get("sort") or NEWEST
    if sort not in SORTS:
        raise _refused("sort", f"is one of {', '.join(SORTS)}")
    return sort


def _wanted(filters: Mapping[str, str | None]) -> OrderFilter:
    environment, status, request_id, since = (
        filters.get(name) for name in ("environment", "status", "request_id", "since")
    )
    if environment is not None and environment not in tuple(Environment):
        raise _refused("environment", f"is one of {', '.join(Environment)}")
    if status is not None and status not in STATUSES:
        raise _refused("status", f"is one of {', '.join(STATUSES)}")
    if request_id is not None and not traces.REQUEST_ID.fullmatch(request_id):
        raise _refused("request_id", "is 24 of 0-9 and a-f, as in the X-Request-Id of the answer")
    return OrderFilter(
        environment=None if environment is None else Environment(environment),
        login_id=filters.get("login_id"),
        status=status,
        symbol_code=filters.get("symbol_code"),
        source=filters.get("source"),
        client_order_id=filters.get("client_order_id"),
        request_id=request_id,
        since_us=None if since is None else _since_us(since),
    )


def _since_us(text: str) -> int:
    try:
        return texts.query_instant_us(text)
    except ValueError as error:
        raise _refused("since", str(error)) from None


def _refused(name: str, message: str) -> RefusalError:
    return invalid_field((name,), message, within="query")
