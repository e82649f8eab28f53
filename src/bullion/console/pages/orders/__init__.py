"""Orders: the list, one order with all that is known about it, and the decision on a request."""

from bullion.console.html import Html
from bullion.console.page import Page, Visit
from bullion.console.paths import DECISION, ORDERS
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .decision_page import decision_page
from .order_actions import ACTIONS
from .order_list import list_page
from .order_page import order_page
from .order_search import find


async def _render(visit: Visit) -> Html:
    match visit.rest:
        case ():
            if typed := visit.param("find").strip():
                await find(visit, typed)
            return await list_page(visit)
        case (first, request_id) if first == DECISION:
            return await decision_page(visit, request_id)
        case (order_id,):
            return await order_page(visit, order_id)
        case _:
            raise RefusalError(NOT_FOUND, "There is no such page about orders.")


PAGE = Page(ORDERS, "Orders", _render, live_s=1, actions=ACTIONS, parts_max=2)
