"""Clients' accounts: a list to search, and one account with everything that the desk can do to it."""

from bullion.console.page import Page
from bullion.console.paths import ACCOUNTS

from . import account_actions, account_list, account_page, key_actions, webhook_actions, webhook_page

PAGE = Page(
    ACCOUNTS,
    "Accounts",
    {
        "": account_list.render,
        "/{login_id}": account_page.render,
        "/{login_id}/webhooks/{webhook_id}": webhook_page.render,
    },
    live_s=3,
    actions=(*account_actions.ACTIONS, *key_actions.ACTIONS, *webhook_actions.ACTIONS),
)
