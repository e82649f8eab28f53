"""The console's pages, one file each, in the order of the navigation. Adding a page is adding it here."""

from bullion.console.page import Page

from . import accounts, audit, market, orders, overview, rates, ticket, users

PAGES: tuple[Page, ...] = (
    overview.PAGE,
    rates.PAGE,
    orders.PAGE,
    accounts.PAGE,
    market.PAGE,
    audit.PAGE,
    users.PAGE,
    ticket.PAGE,
)
