"""The market: the hedge book and what covers it, and the set-up of all that is traded, each on a tab."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from bullion.console.html import Html, el
from bullion.console.page import Action, Page, Visit
from bullion.console.pages.hedge import book, contracts, covers, lines_and_feeds
from bullion.console.paths import MARKET
from bullion.console.widgets.components import unreadable_card

from . import duty_tables, groups, limits, public_page, rates, symbols, trading_hours, venue
from .market_data import unreadable_rows
from .undo_line import UNDO, undo_line


@dataclass(frozen=True, slots=True)
class _Tab:
    name: str
    title: str
    kind: str | None
    """Of the rows that it shows: see `bullion.unreadable`."""
    render: Callable[[Visit], Awaitable[Html]]
    actions: tuple[Action, ...]


_LIVE = (
    _Tab("book", "Book", None, book.render, book.ACTIONS),
    _Tab("covers", "Covers", None, covers.render, covers.ACTIONS),
    _Tab("lines", "Lines and feeds", None, lines_and_feeds.render, lines_and_feeds.ACTIONS),
)
"""What dealers look at all day; the other tabs are the set-up."""
_TABS = (
    *_LIVE,
    _Tab("contracts", "Contracts", None, contracts.render, contracts.ACTIONS),
    _Tab("symbols", "Symbols", "symbol", symbols.render, symbols.ACTIONS),
    _Tab("groups", "Groups", "group", groups.render, groups.ACTIONS),
    _Tab("rates", "Rates", "rate", rates.render, rates.ACTIONS),
    _Tab("duty", "Duty", "duty", duty_tables.render, duty_tables.ACTIONS),
    _Tab("hours", "Hours", "switches", trading_hours.render, trading_hours.ACTIONS),
    _Tab("limits", "Limits", "switches", limits.render, limits.ACTIONS),
    _Tab("venue", "Venue", "venue", venue.render, venue.ACTIONS),
    _Tab("public", "Public page", "switches", public_page.render, public_page.ACTIONS),
)


async def _render(chosen: _Tab, visit: Visit) -> Html:
    links = [
        el(
            "a",
            tab.title,
            href=f"/{MARKET}/{tab.name}",
            aria_current="page" if tab is chosen else None,
            class_="last-live" if tab is _LIVE[-1] else None,
        )
        for tab in _TABS
    ]
    unreadable = await unreadable_rows(visit, chosen.kind) if chosen.kind else []
    return el(
        "div",
        el("h1", f"Market: {chosen.title}", class_="unseen"),
        el("nav", links, class_="tabs", aria_label="Tabs of the market page"),
        await undo_line(visit),
        unreadable_card(visit, unreadable),
        await chosen.render(visit),
        # So that the script replaces one tab by another, instead of merging their contents.
        id=f"market-{chosen.name}",
    )


PAGE = Page(
    MARKET,
    "Market",
    {"": partial(_render, _TABS[0]), **{f"/{tab.name}": partial(_render, tab) for tab in _TABS}},
    live_s=1,
    actions=(UNDO, *(action for tab in _TABS for action in tab.actions)),
)
