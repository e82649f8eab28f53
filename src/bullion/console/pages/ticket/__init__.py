"""The order ticket: an order for a client on the telephone, at a price that is locked for five seconds."""

from bullion.console.page import Page
from bullion.console.paths import TICKET
from bullion.desk.actions.place_order import place_order
from bullion.desk.registry import role_of

from .ticket_actions import ACTIONS
from .ticket_page import ticket_page

PAGE = Page(
    TICKET,
    "New order",
    {"": ticket_page},
    live_s=1,
    actions=ACTIONS,
    role=role_of(place_order),
    in_menu=False,
)
