"""The search box for orders: recognises what was typed by its shape and by what exists."""

from collections.abc import Awaitable
from typing import NoReturn

from bullion.console.page import Redirect, Visit
from bullion.console.paths import ORDERS, decision_path, order_path, page_path
from bullion.desk.actions import accounts, orders, traces
from bullion.desk.desk import View
from bullion.records.page import Page
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

_ONE = Page(1, 0)


async def find(visit: Visit, typed: str) -> NoReturn:
    """Sends the browser to the order, the decision or the list that was meant.

    A client order id may look like an id of ours. So what does not exist as an id is searched for as a client
    order id.
    """
    lower = typed.lower()
    if orders.ORDER_ID.fullmatch(lower) and await _exists(orders.get_order(visit.desk, visit.actor, lower)):
        raise Redirect(order_path(lower))
    if traces.REQUEST_ID.fullmatch(lower):
        await _find_request(visit, lower)
    named = await _count(visit, typed)
    account = await _exists(accounts.get_account(visit.desk, visit.actor, typed))
    if account and not named:
        raise Redirect(page_path(ORDERS, {"login_id": typed}))
    also = "account" if account else ""
    raise Redirect(page_path(ORDERS, {"client_order_id": typed, "also": also}))


async def _find_request(visit: Visit, request_id: str) -> None:
    found, _ = await orders.list_orders(visit.desk, visit.actor, {"request_id": request_id}, _ONE)
    if found:
        raise Redirect(order_path(found[0]["id"]))
    try:
        await traces.get_trace(visit.desk, visit.actor, request_id)
    except RefusalError as refused:
        if refused.refusal is not NOT_FOUND or await _count(visit, request_id):
            return
    raise Redirect(decision_path(request_id))


async def _count(visit: Visit, client_order_id: str) -> int:
    filters: dict[str, str | None] = {"client_order_id": client_order_id}
    _, total = await orders.list_orders(visit.desk, visit.actor, filters, _ONE)
    return total


async def _exists(read: Awaitable[View]) -> bool:
    try:
        await read
    except RefusalError as refused:
        if refused.refusal is NOT_FOUND:
            return False
        raise
    return True
