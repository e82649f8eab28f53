"""Lines to venues and sources of rates: what the house is connected to."""

from bullion.console.html import Html, el
from bullion.console.page import Visit

from . import feeds

ACTIONS = feeds.ACTIONS


async def render(visit: Visit) -> Html:
    return el("div", await feeds.feeds_card(visit), class_="stack")
