"""Lines to venues and sources of rates: what the house is connected to."""

import asyncio

from bullion.console.html import Html, el
from bullion.console.page import Visit

from . import feeds, lines

ACTIONS = (*lines.ACTIONS, *feeds.ACTIONS)


async def render(visit: Visit) -> Html:
    both = await asyncio.gather(lines.lines_card(visit), feeds.feeds_card(visit))
    return el("div", both, class_="stack")
