"""The one search box: what was typed is recognised by its shape, and by what there is."""

from typing import NoReturn

from bullion.console.page import Redirect, Visit
from bullion.desk.actions import accounts, orders, traces
from bullion.records.page import Page
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .addresses import decision_path, list_path, order_path

_ONE = Page(1, 0)


async def find(visit: Visit, typed: str) -> NoReturn:
    """Sends the browser to the order, the decision, or the list that was meant.

    Clients may call their orders whatever they like, also by what looks like an id of ours. So a shape alone
    decides nothing: what is not there as an id is looked for as a client order id.
    """
    lower = typed.lower()
    if orders.ORDER_ID.fullmatch(lower) and await _is_order(visit, lower):
        raise Redirect(order_path(lower))
    if traces.REQUEST_ID.fullmatch(lower):
        await _find_request(visit, lower)
    named = await _count(visit, client_order_id=typed)
    account = await _is_account(visit, typed)
    if account and not named:
        raise Redirect(list_path({"login_id": typed}))
    raise Redirect(list_path({"client_order_id": typed, "also": "account" if account else ""}))


async def _find_request(visit: Visit, request_id: str) -> None:
    found, _ = await orders.list_orders(visit.desk, visit.actor, {"request_id": request_id}, _ONE)
    if found:
        raise Redirect(order_path(found[0]["id"]))
    try:
        await traces.get_trace(visit.desk, visit.actor, request_id)
    except RefusalError as refused:
        if refused.refusal is not NOT_FOUND or await _count(visit, client_order_id=request_id):
            return
    raise Redirect(decision_path(request_id))


async def _count(visit: Visit, **filters: str | None) -> int:
    _, total = await orders.list_orders(visit.desk, visit.actor, {**filters}, _ONE)
    return total


async def _is_order(visit: Visit, order_id: str) -> bool:
    try:
        await orders.get_order(visit.desk, visit.actor, order_id)
    except RefusalError as refused:
        if refused.refusal is NOT_FOUND:
            return False
        raise
    return True


async def _is_account(visit: Visit, login_id: str) -> bool:
    try:
        await accounts.get_account(visit.desk, visit.actor, login_id)
    except RefusalError as refused:
        if refused.refusal is NOT_FOUND:
            return False
        raise
    return True
