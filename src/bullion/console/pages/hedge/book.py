"""The hedge book: what needs attention, and each metal as one bar against its limit."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.widgets.components import OFF, card, empty, freshness, hint, not_read, state
from bullion.console.widgets.cover import simulated_note
from bullion.console.widgets.exposure_bar import bar_ends, exposure_bar
from bullion.console.widgets.fine_weight import direction, fine, fine_mg, milligrams, position
from bullion.console.widgets.formatting import age, day_and_clock, is_zero, trim_zeros
from bullion.desk.desk import View

from . import book_rules, book_terms
from .attention import attention_card
from .book_money import money
from .hedge_data import after_mg, books_of, covers_in, open_covers_of

ACTIONS = (*book_terms.ACTIONS, *book_rules.ACTIONS)


async def render(visit: Visit) -> Html:
    attention, reading, covers = await asyncio.gather(
        attention_card(visit), books_of(visit), open_covers_of(visit)
    )
    if reading.value is None:
        books: Child = card("Book", not_read(reading), name="books")
    else:
        open_covers = covers_in(covers)
        cards = [_book_card(visit, book, open_covers, freshness(reading)) for book in reading.value]
        books = el("div", cards, class_="books")
    return el("div", attention, books, class_="stack")


def _book_card(visit: Visit, book: View, covers: Sequence[View], fresh: Child) -> Html:
    metal = book["metal"]
    title, name = f"Book of {metal}", f"book-{metal}"
    action = book_terms.CHANGE[metal]
    if not book["open"]:
        text = (
            "The venue confirms each order. Open the book to let the house confirm orders within a limit, "
            "and to cover them together."
        )
        button = action.button(
            visit, {"metal": metal}, text="Open the book", kind="small", label=f"Open the book of {metal}"
        )
        shown = empty(f"The book of {metal} is not open.", text)
        return card(title, shown, aside=[fresh, state(OFF, "policy each"), button], name=name)
    button = action.button(visit, {"metal": metal}, kind="small", label=f"Change the book of {metal}")
    policy = hint(f"policy {book['policy']}: {book_terms.POLICIES[book['policy']]}")
    return card(
        title,
        el(
            "div",
            el("div", exposure(book, covers), position_facts(visit, book), class_="holding"),
            money(visit, book),
            book_rules.rules(visit, book),
            class_="inside book",
        ),
        simulated_note(visit),
        aside=[fresh, policy, button],
        name=name,
    )


def exposure(book: View, covers: Sequence[View]) -> Html:
    """The one number of a metal, and its bar."""
    metal, limit_mg, residual_mg = book["metal"], milligrams(book["limit"]), milligrams(book["residual"])
    used = hint("no limit is set")
    if limit_mg:
        used = hint(f"{book['limit_used_percent'].removesuffix('.0')} % of {fine(book['limit'], metal)}")
    focal = el(
        "span",
        fine_mg(abs(residual_mg), metal),
        " ",
        el("span", direction(residual_mg), class_="unit"),
        class_="focal down" if limit_mg and abs(residual_mg) >= limit_mg else "focal",
    )
    return el(
        "div",
        el("div", focal, used, class_="line"),
        exposure_bar(book, after_mg=after_mg(book, covers)),
        bar_ends(book),
        class_="exposure",
    )


def position_facts(visit: Visit, book: View, *, brief: bool = False) -> Html:
    metal, client_mg = book["metal"], milligrams(book["client"])
    pairs: list[tuple[str, Child]] = [
        ("Clients owe" if client_mg > 0 else "Clients hold", fine_mg(abs(client_mg), metal)),
        ("Covered", fine_mg(abs(milligrams(book["cover"])), metal)),
    ]
    if not is_zero(book["working"]):
        pairs.append(("Under way", position(book["working"], metal)))
    if not is_zero(book["waiting"]) or book["waiting_orders"]:
        orders = f"{book['waiting_orders']} waiting for room"
        pairs.append((orders, position(book["waiting"], metal)))
    if book["age_s"] is not None and not brief:
        pairs.append(("Not flat for", _since(visit, book)))
    if not is_zero(book["volatility_percent"]) and not brief:
        pairs.append(("Volatility of a day", f"{trim_zeros(book['volatility_percent'])} %"))
    return el("dl", [(el("dt", name), el("dd", value)) for name, value in pairs], class_="figures")


def _since(visit: Visit, book: View) -> Html:
    at = datetime.fromisoformat(book["since"])
    return el(
        "time", age(book["age_s"]), datetime=book["since"], title=f"since {day_and_clock(at, visit.zone)}"
    )
