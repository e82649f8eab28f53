"""The market's set-up: symbols, groups, rates, duty, hours, limits, venue and public page, each on a tab."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from bullion.console.html import Html, el
from bullion.console.page import Action, Page, Visit
from bullion.console.paths import MARKET
from bullion.console.widgets.components import unreadable_card

from . import duty_tables, groups, limits, public_page, rates, symbols, trading_hours, venue
from .market_data import unreadable_rows
from .undo_line import UNDO, undo_line


@dataclass(frozen=True, slots=True)
class _Tab:
    name: str
    title: str
    kind: str
    """Of the rows that it shows: see `bullion.unreadable`."""
    render: Callable[[Visit], Awaitable[Html]]
    actions: tuple[Action, ...]


_TABS = (
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
        el("a", tab.title, href=f"/{MARKET}/{tab.name}", aria_current="page" if tab is chosen else None)
        for tab in _TABS
    ]
    return el(
        "div",
        el("h1", f"Market: {chosen.title}", class_="unseen"),
        el("nav", links, class_="tabs", aria_label="Tabs of the market page"),
        await undo_line(visit),
        unreadable_card(visit, await unreadable_rows(visit, chosen.kind)),
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
