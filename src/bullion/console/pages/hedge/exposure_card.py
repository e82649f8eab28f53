"""The card of the overview that shows the exposure of production, against its limit where a book is open."""

import asyncio
from collections.abc import Sequence

from bullion.console.html import Html, el
from bullion.console.page import Visit
from bullion.console.paths import MARKET, ORDERS, page_path
from bullion.console.widgets.components import card, freshness, hint, not_read, small
from bullion.console.widgets.cover import is_simulated, simulated_note
from bullion.console.widgets.formatting import is_zero, signed_weight
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.hedge.cover import SUGGESTED
from bullion.orders.status import Status

from .book import exposure, position_facts
from .cover_actions import cover_buttons
from .cover_text import order_text
from .hedge_data import books_of, covers_in, open_covers_of


async def exposure_card(visit: Visit) -> Html:
    """Of production. The one number of each metal is what its book has not covered.

    Without a book it is what clients hold.
    """
    reading, books, covers = await asyncio.gather(
        visit.watch.exposure.get(visit.actor), books_of(visit), open_covers_of(visit)
    )
    simulated = is_simulated(visit)
    opened = {each["metal"]: each for each in books.value or () if each["open"]}
    title, aside = "Clients' position", [freshness(reading), hint("production; + = client long")]
    if opened:
        title = "Exposure against the limit"
        aside = [freshness(reading), freshness(books), hint("clients and covers, fine weight")]
    if reading.value is None:
        return card(title, not_read(reading), name="exposure")
    open_covers = covers_in(covers)
    metals = [
        _book(visit, opened[each["metal"]], open_covers)
        if each["metal"] in opened
        else _metal(each, simulated=simulated)
        for each in reading.value
    ]
    shown = el("div", metals, class_="metals", id="exposure-table")
    return card(title, shown, simulated_note(visit), aside=aside, name="exposure")


def _book(visit: Visit, book: View, covers: Sequence[View]) -> Html:
    metal = book["metal"]
    suggested = [each for each in covers if each["metal"] == metal and each["state"] == SUGGESTED]
    return el(
        "div",
        el("h3", el("a", metal.capitalize(), href=f"/{MARKET}/book")),
        exposure(book, covers),
        position_facts(visit, book, brief=True),
        [
            el(
                "div",
                hint(order_text(each)),
                cover_buttons(visit, each, "exposure"),
                class_="suggested",
                data_key=each["id"],
            )
            for each in suggested[:1]
        ],
        data_key=metal,
    )


def _metal(each: View, *, simulated: bool) -> Html:
    unit = each["unit"]
    path = page_path(ORDERS, {"environment": Environment.PRODUCTION.value, "status": Status.OPEN.value})
    answered, waiting = ("Answered", "Not answered") if simulated else ("Covered", "Not covered")
    css = None if is_zero(each["unhedged"]) else "price open"
    reasons = [
        f"{each['waiting']} waiting" if each["waiting"] else "",
        f"{each['breaks']} in a break" if each["breaks"] else "",
    ]
    return el(
        "div",
        el("h3", each["metal"].capitalize()),
        el("a", signed_weight(each["net"], unit), class_="focal", href=path),
        el(
            "dl",
            el("dt", answered),
            el("dd", signed_weight(each["hedged"], unit)),
            el("dt", waiting),
            el("dd", signed_weight(each["unhedged"], unit), class_=css),
        ),
        small(", ".join(filter(None, reasons))),
        data_key=each["metal"],
    )
