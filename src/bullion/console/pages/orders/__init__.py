"""Orders: the list, one order with all that is known about it, and the decision on a request."""

from bullion.console.page import Page
from bullion.console.paths import DECISION, ORDERS

from .batch_actions import CONFIRM_ALL, REFUSE_ALL
from .decision_page import decision_page
from .order_actions import ACTIONS
from .order_list import list_page
from .order_page import order_page

PAGE = Page(
    ORDERS,
    "Orders",
    {"": list_page, "/{order_id}": order_page, f"/{DECISION}/{{request_id}}": decision_page},
    live_s=1,
    actions=(*ACTIONS, CONFIRM_ALL, REFUSE_ALL),
)
