"""Symbols: what is traded, its state and price just now, and how each is set up."""

import asyncio
from collections.abc import Sequence

from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.widgets.components import BAD, GOOD, OFF, WARN, Column, Line, card, empty, state, table
from bullion.console.widgets.dialog import action_button, dialog
from bullion.console.widgets.formatting import grouped, weight
from bullion.console.widgets.times import age
from bullion.desk.actions import symbols
from bullion.desk.bodies import SymbolBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import View
from bullion.records.token import Role

from . import symbol_form
from .forms import NOTHING, saved
from .market_data import quotes_of, symbols_of
from .names import PAGE_NAME
from .symbol_text import SIDES, pricing_words, spoken

_STATES = {
    "live": (GOOD, "live"),
    "stale": (BAD, "stale"),
    "no_rate": (BAD, "no price"),
    "frozen": (WARN, "frozen"),
    "halted": (WARN, "halted"),
    "closed": (OFF, "closed"),
    "off": (OFF, "not traded"),
    "unreadable": (BAD, "cannot be read"),
}
_COLUMNS = (
    Column("Symbol"),
    Column("State"),
    Column("Bid ₹", number=True),
    Column("Ask ₹", number=True),
    Column("Priced by"),
    Column("Sizes"),
    Column("Stock", number=True),
    Column("Rate too old after", number=True),
    Column("", number=True),
)


async def render(visit: Visit) -> Html:
    (found, total), quotes = await asyncio.gather(symbols_of(visit), quotes_of(visit))
    new = action_button(visit, PAGE_NAME, symbol_form.NEW, "New symbol", kind="small primary")
    if not found:
        shown = empty(
            "There is no symbol yet.",
            "A symbol says what clients trade, in which sizes, and how its price is made. "
            "Make the first one with New symbol.",
        )
        return card("Symbols", shown, aside=new, name="symbols")
    lines = [Line(each["code"], _cells(visit, each, quotes.get(each["code"]))) for each in found]
    hint = f"the first {len(found)} of {total}" if total > len(found) else "prices before any premium"
    aside = [el("span", hint, class_="hint"), new]
    return card("Symbols", table(_COLUMNS, lines, name="symbols-table"), aside=aside, name="symbols")


def _cells(visit: Visit, symbol: View, quote: View | None) -> Sequence[Child]:
    unit, code = symbol["unit"], symbol["code"]
    size = f"{weight(symbol['minimum'], unit)} to {weight(symbol['maximum'], unit)}"
    sides = "" if len(symbol["sides"]) == 2 else SIDES[symbol["sides"][0]]
    limit = symbol["rate_age_s_max"]
    freeze = UNFREEZE if symbol["frozen"] else FREEZE
    about = {"code": code}
    return (
        [el("b", code), el("small", f"{symbol['metal']}, per {weight(symbol['quoted_weight'], unit)}")],
        [_state(symbol, quote), el("small", sides) if sides else None],
        _price(quote, "bid"),
        _price(quote, "ask"),
        pricing_words(symbol["pricing"]),
        [size, el("small", f"in steps of {weight(symbol['step'], unit)}")],
        NOTHING if symbol["stock"] is None else weight(symbol["stock"], unit),
        "never" if limit is None else age(limit),
        el(
            "span",
            action_button(
                visit,
                PAGE_NAME,
                freeze,
                "Unfreeze" if symbol["frozen"] else "Freeze",
                about=about,
                kind="small",
                label=f"{'Unfreeze' if symbol['frozen'] else 'Freeze'} {code}",
            ),
            action_button(
                visit, PAGE_NAME, symbol_form.EDIT, "Edit", about=about, kind="small", label=f"Edit {code}"
            ),
            class_="actions",
        ),
    )


def _state(symbol: View, quote: View | None) -> Html:
    if quote is None:
        return state(OFF, "just made" if symbol["trading"] else "not traded")
    kind, words = _STATES[quote["state"]]
    return state(kind, words, quote["words"])


def _price(quote: View | None, side: str) -> Child:
    if quote is None or quote[side] is None:
        return NOTHING
    return el("span", grouped(quote[side]), class_="price" if quote["state"] == "live" else "price old")


async def _ask_freeze(visit: Visit) -> Html:
    code = visit.query.get("code", "")
    words = [
        f"New orders in {code} are refused, in production and in test: clients are told symbol_frozen.",
        "Prices go on being made. Orders that are recorded stay, and open ones can be closed.",
        "It holds within a second, on every node, and your name stands in the audit trail.",
    ]
    return dialog(f"Freeze {code}?", words, confirm="Freeze", danger=True)


async def _ask_unfreeze(visit: Visit) -> Html:
    code = visit.query.get("code", "")
    found = (await quotes_of(visit)).get(code)
    now = NOTHING if found is None else f"{found['bid'] or NOTHING} / {found['ask'] or NOTHING}"
    words = [f"New orders in {code} are taken again, at the price of that moment. Just now it is ₹ {now}."]
    return dialog(f"Unfreeze {code}?", words, confirm="Unfreeze")


async def _set_frozen(visit: Visit, *, frozen: bool) -> Result:
    code = visit.query.get("code", "")
    before = await symbols.get_symbol(visit.desk, visit.actor, code)
    changes = Changes(SymbolBody, {"frozen": frozen})
    after = await symbols.patch_symbol(visit.desk, visit.actor, code, changes)
    return Result(saved(code, spoken(before), spoken(after)))


async def _freeze(visit: Visit) -> Result:
    return await _set_frozen(visit, frozen=True)


async def _unfreeze(visit: Visit) -> Result:
    return await _set_frozen(visit, frozen=False)


FREEZE = Action("freeze", Role.DEALER, _ask_freeze, _freeze)
UNFREEZE = Action("unfreeze", Role.DEALER, _ask_unfreeze, _unfreeze)
ACTIONS = (symbol_form.NEW, symbol_form.EDIT, FREEZE, UNFREEZE)
