"""How the market is set up: symbols, groups, rates, duty, hours, limits and the venue, each on a tab."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bullion.console.html import Html, el
from bullion.console.page import Page, Visit
from bullion.console.widgets.unreadable import unreadable_card
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from . import duty_tables, groups, rate_limits, rates, symbols, trading_hours, venue
from .market_data import unreadable_of
from .names import PAGE_NAME


@dataclass(frozen=True, slots=True)
class _Tab:
    name: str
    title: str
    kind: str
    """Of the rows that it is about: see `bullion.unreadable`."""
    render: Callable[[Visit], Awaitable[Html]]


_TABS = (
    _Tab("symbols", "Symbols", "symbol", symbols.render),
    _Tab("groups", "Groups", "group", groups.render),
    _Tab("rates", "Rates", "rate", rates.render),
    _Tab("duty", "Duty", "duty", duty_tables.render),
    _Tab("hours", "Hours", "switches", trading_hours.render),
    _Tab("limits", "Limits", "switches", rate_limits.render),
    _Tab("venue", "Venue", "venue", venue.render),
)


async def _render(visit: Visit) -> Html:
    name = visit.rest[0] if visit.rest else _TABS[0].name
    chosen = [tab for tab in _TABS if tab.name == name]
    if not chosen:
        raise RefusalError(NOT_FOUND, "There is no such part of the market's set-up.")
    links = [
        el(
            "a",
            tab.title,
            href=f"/{PAGE_NAME}/{tab.name}",
            aria_current="page" if tab is chosen[0] else None,
        )
        for tab in _TABS
    ]
    return el(
        "div",
        el("h1", f"Market: {chosen[0].title}", class_="unseen"),
        el("nav", links, class_="tabs", aria_label="Parts of the market"),
        unreadable_card(await unreadable_of(visit, chosen[0].kind)),
        await chosen[0].render(visit),
        # Another tab is another thing, not the same one with other words.
        id=f"market-{name}",
    )


PAGE = Page(
    PAGE_NAME,
    "Market",
    _render,
    live_s=1,
    parts_max=1,
    actions=(
        *symbols.ACTIONS,
        *groups.ACTIONS,
        *rates.ACTIONS,
        *duty_tables.ACTIONS,
        *trading_hours.ACTIONS,
        *rate_limits.ACTIONS,
        *venue.ACTIONS,
    ),
)
