"""Clients' accounts: a list to find one in, and one account with all that the desk does to it."""

from bullion.console.html import Html
from bullion.console.page import Page, Visit

from . import account_actions, account_list, account_page, key_actions
from .addresses import PAGE_NAME


async def _render(visit: Visit) -> Html:
    return await (account_page.render(visit) if visit.rest else account_list.render(visit))


PAGE = Page(
    PAGE_NAME,
    "Accounts",
    _render,
    live_s=3,
    parts_max=1,
    actions=(*account_actions.ACTIONS, *key_actions.ACTIONS),
)
