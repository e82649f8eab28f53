"""Clients' accounts: a list to search, and one account with everything that the desk can do to it."""

from bullion.console.html import Html
from bullion.console.page import Page, Visit
from bullion.console.paths import ACCOUNTS

from . import account_actions, account_list, account_page, key_actions


async def _render(visit: Visit) -> Html:
    return await (account_page.render(visit) if visit.rest else account_list.render(visit))


PAGE = Page(
    ACCOUNTS,
    "Accounts",
    _render,
    live_s=3,
    parts_max=1,
    actions=(*account_actions.ACTIONS, *key_actions.ACTIONS),
)
