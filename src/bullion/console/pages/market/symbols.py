"""Symbols: what is traded, its state and current price, and how each is set up."""

import asyncio
from dataclasses import replace
from functools import partial

from bullion.console.forms import Dialog, field_of, saved
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import NOTHING, OFF, Column, hint, small, state, table_card
from bullion.console.widgets.formatting import age, rupees, weight
from bullion.desk.actions.symbols import get_symbol, patch_symbol
from bullion.desk.bodies import SymbolBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import View

from . import symbol_form
from .market_data import MOST, quotes_of, rates_of, symbols_of
from .pins import pin_marks
from .symbol_text import SIDES, price, price_state, pricing_text, settings_text


async def render(visit: Visit) -> Html:
    found, quotes, rates = await asyncio.gather(symbols_of(visit), quotes_of(visit), rates_of(visit))
    text = f"the first {MOST}" if len(found) == MOST else "prices before any premium"
    return table_card(
        visit,
        "Symbols",
        "symbols",
        _COLUMNS,
        [
            {**each, "quote": quotes.get(each["code"]), "pins": pin_marks(visit, rates, each["pricing"])}
            for each in found
        ],
        key="code",
        nothing=(
            "There are no symbols yet.",
            "A symbol defines what clients trade, in which sizes, and how its price is made.",
        ),
        aside=[hint(text), symbol_form.NEW.button(visit, kind="small primary")],
    )


def _name(_visit: Visit, each: View) -> Child:
    about = f"{each['metal']}, per {weight(each['quoted_weight'], each['unit'])}"
    return [el("b", each["code"]), small(about)]


def _state(_visit: Visit, each: View) -> Child:
    sides = None if len(each["sides"]) == 2 else SIDES[each["sides"][0]]
    if each["quote"] is None:
        return [state(OFF, "just created" if each["trading"] else "not traded"), small(sides)]
    return [price_state(each["quote"]), each["pins"], small(sides)]


def _sizes(_visit: Visit, each: View) -> Child:
    unit = each["unit"]
    sizes = f"{weight(each['minimum'], unit)} to {weight(each['maximum'], unit)}"
    return [sizes, small(f"in steps of {weight(each['step'], unit)}")]


def _buttons(visit: Visit, each: View) -> Html:
    code, freeze = each["code"], UNFREEZE if each["frozen"] else FREEZE
    about = {"code": code}
    return el(
        "span",
        freeze.button(visit, about, kind="small", label=f"{freeze.label} {code}"),
        STOCK.button(visit, about, kind="small", label=f"Set stock of {code}"),
        symbol_form.EDIT.button(visit, about, kind="small", label=f"Edit {code}"),
        class_="actions",
    )


_COLUMNS = (
    Column("Symbol", _name),
    Column("State", _state),
    Column("Bid, ₹", lambda _, each: price(each["quote"], "bid"), number=True),
    Column("Ask, ₹", lambda _, each: price(each["quote"], "ask"), number=True),
    Column("Pricing", lambda _, each: pricing_text(each["pricing"])),
    Column("Sizes", _sizes),
    Column(
        "Stock",
        lambda _, each: NOTHING if each["stock"] is None else weight(each["stock"], each["unit"]),
        number=True,
    ),
    Column(
        "Oldest rate",
        lambda _, each: "no limit" if each["rate_age_s_max"] is None else age(each["rate_age_s_max"]),
        number=True,
    ),
    Column("", _buttons, number=True),
)


async def _ask_freeze(visit: Visit) -> Dialog:
    code = visit.param("code")
    return Dialog(
        title=f"Freeze {code}?",
        text=[
            f"New orders in {code} are refused with symbol_frozen, in production and in test.",
            "Prices are still made. Recorded orders stay, and open orders can be closed.",
            "It takes effect within a second on every node. The audit trail records your name.",
        ],
        confirm="Freeze",
        danger=True,
    )


_PAIR = ("bid", "ask")


async def _ask_unfreeze(visit: Visit) -> Dialog:
    code = visit.param("code")
    found = (await quotes_of(visit)).get(code)
    bid, ask = (NOTHING if found is None or found[side] is None else rupees(found[side]) for side in _PAIR)
    text = [f"New orders in {code} are accepted again. Its price now: bid {bid}, ask {ask}."]
    return Dialog(title=f"Unfreeze {code}?", text=text, confirm="Unfreeze")


async def _set_frozen(visit: Visit, *, frozen: bool) -> Result:
    code = visit.param("code")
    before = await get_symbol(visit.desk, visit.actor, code)
    after = await patch_symbol(visit.desk, visit.actor, code, Changes(SymbolBody, {"frozen": frozen}))
    return Result(saved(code, settings_text(before), settings_text(after)))


def _stock(symbol: View) -> View:
    return {"stock": symbol["stock"]}


_STOCK = field_of(SymbolBody, "stock", "Stock, g or kg", "empty: not counted")


async def _ask_stock(visit: Visit) -> Dialog:
    found = await get_symbol(visit.desk, visit.actor, visit.param("code"))
    return Dialog(
        title=f"Stock of {found['code']}",
        text=[
            "Clients cannot buy more than this; each order that they place changes it.",
            "Leave it empty to sell without counting.",
        ],
        fields=(SEEN, replace(_STOCK, label=f"Stock, {found['unit']}")),
        values={**_stock(found), **seen(_stock(found))},
    )


async def _set_stock(visit: Visit) -> Result:
    code = visit.param("code")
    before = await get_symbol(visit.desk, visit.actor, code)
    changes = Changes(SymbolBody, {"stock": visit.values["stock"]})
    only_if = unchanged(visit, f"The stock of {code}", _stock)
    after = await patch_symbol(visit.desk, visit.actor, code, changes, only_if=only_if)
    return Result(saved(code, settings_text(before), settings_text(after)))


STOCK = Action(
    MARKET,
    "stock",
    "Set stock",
    patch_symbol,
    _ask_stock,
    _set_stock,
    (SEEN, _STOCK),
    changes="stock",
)
FREEZE = Action(
    MARKET, "freeze", "Freeze", patch_symbol, _ask_freeze, partial(_set_frozen, frozen=True), changes="frozen"
)
UNFREEZE = replace(
    FREEZE, name="unfreeze", label="Unfreeze", ask=_ask_unfreeze, do=partial(_set_frozen, frozen=False)
)
ACTIONS = (symbol_form.NEW, symbol_form.EDIT, STOCK, FREEZE, UNFREEZE)
