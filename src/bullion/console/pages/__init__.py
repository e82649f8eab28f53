"""The console's pages, one file each, in the order of the navigation. Adding a page is adding it here."""

from bullion.console.page import Page

from . import accounts, audit, market, orders, overview, rate_chart, users

PAGES: tuple[Page, ...] = (
    overview.PAGE,
    orders.PAGE,
    accounts.PAGE,
    market.PAGE,
    audit.PAGE,
    rate_chart.PAGE,
    users.PAGE,
)
