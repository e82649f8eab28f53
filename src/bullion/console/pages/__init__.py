"""The console's pages, one file each, in the order of the navigation. Adding a page is adding it here."""

from bullion.console.page import Page

from . import accounts, audit, find, market, orders, overview, rates, refusals, ticket, users

PAGES: tuple[Page, ...] = (
    overview.PAGE,
    rates.PAGE,
    orders.PAGE,
    refusals.PAGE,
    accounts.PAGE,
    market.PAGE,
    audit.PAGE,
    users.PAGE,
    ticket.PAGE,
    find.PAGE,
)
