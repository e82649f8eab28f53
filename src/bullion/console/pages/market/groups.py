"""Trading groups: whether each trades, and its premiums and order sizes in every symbol."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from bullion.console.forms import Choice, Code, Dialog, FormErrors, field_of, saved
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, only_new, seen, unchanged
from bullion.console.widgets.components import GOOD, NOTHING, OFF, WARN, Column, card, empty, state, table
from bullion.console.widgets.formatting import rupees, trim_zeros, weight
from bullion.desk.actions.groups import get_group, patch_group, put_group
from bullion.desk.actions.symbols import get_symbol
from bullion.desk.bodies import GroupBody, TermsBody
from bullion.desk.body_fields import defaults_of
from bullion.desk.conversion import Changes, require_code
from bullion.desk.desk import View
from bullion.refusals.desk import CONFLICT, INVALID_BODY, NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .market_data import MOST, groups_of, symbols_of

DEFAULT = ""
"""Stands for a symbol's code where the default terms are meant."""
_AS_SYMBOL = "empty: as the symbol has it"
_PREMIUMS = (
    field_of(TermsBody, "buy_premium", "Premium when clients buy, ₹", "empty: they cannot buy"),
    field_of(TermsBody, "sell_premium", "Premium when clients sell, ₹", "empty: they cannot sell"),
)
_TERMS = (
    *_PREMIUMS,
    field_of(TermsBody, "minimum", "Smallest order", _AS_SYMBOL),
    field_of(TermsBody, "maximum", "Largest order", _AS_SYMBOL),
    field_of(TermsBody, "step", "Step", _AS_SYMBOL),
)
_SYMBOL = Choice("symbol", "Symbol")


async def render(visit: Visit) -> Html:
    found, listed = await asyncio.gather(groups_of(visit), symbols_of(visit))
    new = NEW.button(visit, kind="small primary")
    if not found:
        shown = empty(
            "There are no groups yet.",
            "Each client belongs to a group, which sets what is added to the price.",
        )
        return card("Groups", shown, aside=new, name="groups")
    units = {each["code"]: each["unit"] for each in listed}
    more = f" The first {MOST} are shown." if len(found) == MOST else ""
    text = f"Premiums are rupees per quoted weight, added to the symbol's price; they may be negative.{more}"
    intro = el("div", el("p", text, class_="hint"), new, class_="intro")
    return el("div", intro, [_group(visit, each, units) for each in found], class_="stack")


def _group(visit: Visit, group: View, units: Mapping[str, str]) -> Html:
    code, about = group["code"], {"group": group["code"]}
    label = "Stop trading" if group["trading"] else "Start trading"
    rows = [
        {"group": group, "symbol": symbol, "terms": _terms(group, symbol), "unit": units.get(symbol, "")}
        for symbol in (*group["terms"], DEFAULT)
    ]
    aside = [
        state(GOOD, "trading") if group["trading"] else state(OFF, "not trading"),
        SWITCH.button(visit, about, text=label, kind="small", label=f"{label}: {code}"),
        ADD.button(visit, about, kind="small", label=f"{ADD.label}: {code}"),
    ]
    body = table(visit, f"terms-{code}", _COLUMNS, rows, key=lambda row: row["symbol"] or "(default)")
    return card(f"Group {code}", body, aside=aside, name=f"group-{code}")


def _terms(group: View, symbol: str) -> View | None:
    terms: View | None = group["terms"].get(symbol) if symbol else group["default_terms"]
    return terms


def _row_name(row: View) -> str:
    return str(row["symbol"]) or ("all other symbols" if row["group"]["terms"] else "all symbols")


def _name(_visit: Visit, row: View) -> Child:
    return [el("b", _row_name(row)), None if row["terms"] else state(WARN, "no terms: no price")]


def _premium(value: str | None) -> str:
    if value is None:
        return "not offered"
    return rupees(value) if value.startswith("-") else f"+{rupees(value)}"


def _premium_cell(name: str) -> Callable[[Visit, View], Child]:
    return lambda _, row: _premium(row["terms"][name]) if row["terms"] else NOTHING


def _size_cell(name: str) -> Callable[[Visit, View], Child]:
    return lambda _, row: (
        weight(row["terms"][name], row["unit"])
        if row["terms"] and row["terms"][name] is not None
        else NOTHING
    )


def _buttons(visit: Visit, row: View) -> Html:
    code = row["group"]["code"]
    about, label = {"group": code, "symbol": row["symbol"]}, f"terms of {code} for {_row_name(row)}"
    remove = REMOVE.button(visit, about, kind="small", label=f"Remove {label}") if row["terms"] else None
    return el(
        "span", remove, EDIT.button(visit, about, kind="small", label=f"Edit {label}"), class_="actions"
    )


_COLUMNS = (
    Column("Symbol", _name),
    Column("Buy premium", _premium_cell("buy_premium"), number=True),
    Column("Sell premium", _premium_cell("sell_premium"), number=True),
    Column("Minimum", _size_cell("minimum"), number=True),
    Column("Maximum", _size_cell("maximum"), number=True),
    Column("Step", _size_cell("step"), number=True),
    Column("", _buttons, number=True),
)


def _text(group: View, symbol: str) -> dict[str, str]:
    """The terms by name, for the message after a change."""
    terms = _terms(group, symbol)
    if terms is None:
        return {"terms": "default" if symbol else "none"}
    sizes = {"minimum": "smallest order", "maximum": "largest order", "step": "step"}
    return {
        "terms": "own" if symbol else "set",
        "premium on buys": _premium(terms["buy_premium"]),
        "premium on sells": _premium(terms["sell_premium"]),
        **{
            text: "as the symbol has it" if terms[name] is None else trim_zeros(terms[name])
            for name, text in sizes.items()
        },
    }


def _subject(visit: Visit) -> tuple[str, str]:
    """The group and the symbol; where the address names no symbol, the form may."""
    return visit.param("group"), visit.param("symbol") or visit.form.get(_SYMBOL.name, DEFAULT)


def _title(code: str, symbol: str) -> str:
    return f"{code} in {symbol}" if symbol else f"{code} in all other symbols"


async def _get(visit: Visit) -> View:
    return await get_group(visit.desk, visit.actor, visit.param("group"))


async def _patch(visit: Visit, before: View, **changes: object) -> View:
    """The group with these fields replaced, if it is still as the form showed it."""
    code = before["code"]
    only_if = unchanged(visit, f"The group {code}")
    only_if(before)
    return await patch_group(visit.desk, visit.actor, code, Changes(GroupBody, changes), only_if=only_if)


async def _ask_edit(visit: Visit) -> Dialog:
    code, symbol = _subject(visit)
    group = await _get(visit)
    return Dialog(
        title=f"Terms of {_title(code, symbol)}",
        text=["The symbol's own sizes apply as well: a group's can only be narrower."],
        values={**(_terms(group, symbol) or {}), **seen(group)},
    )


async def _ask_add(visit: Visit) -> Dialog:
    code, _ = _subject(visit)
    group = await _get(visit)
    left = [each["code"] for each in await symbols_of(visit) if each["code"] not in group["terms"]]
    if not left:
        raise RefusalError(CONFLICT, f"{code} has its own terms for every symbol.")
    return Dialog(
        title=f"Terms of {code} for a symbol",
        text=["The group's default terms then no longer apply to this symbol."],
        values={**(group["default_terms"] or {}), **seen(group)},
        options={_SYMBOL.name: [(each, each) for each in left]},
    )


async def _save_terms(visit: Visit) -> Result:
    _, symbol = _subject(visit)
    if symbol != DEFAULT:
        await _require_symbol(visit, symbol)
    return await _put_terms(visit, {each.name: visit.values[each.name] for each in _TERMS})


async def _require_symbol(visit: Visit, symbol: str) -> None:
    """Terms for a symbol that does not exist would have no effect, and nobody would see why."""
    try:
        require_code("symbol", symbol)
        await get_symbol(visit.desk, visit.actor, symbol)
    except RefusalError as refused:
        if refused.refusal in (INVALID_BODY, NOT_FOUND) and _SYMBOL.name in visit.form:
            raise FormErrors({_SYMBOL.name: f"There is no symbol {symbol[:32]!r}."}) from None
        raise


async def _put_terms(visit: Visit, terms: View | None) -> Result:
    code, symbol = _subject(visit)
    before = await _get(visit)
    if symbol == DEFAULT:
        after = await _patch(visit, before, default_terms=terms)
    else:
        others = {name: each for name, each in before["terms"].items() if name != symbol}
        after = await _patch(visit, before, terms=others if terms is None else {**others, symbol: terms})
    return Result(saved(_title(code, symbol), _text(before, symbol), _text(after, symbol)))


async def _ask_remove(visit: Visit) -> Dialog:
    code, symbol = _subject(visit)
    group = await _get(visit)
    if symbol and group["default_terms"]:
        text = f"The group's default terms then apply to {symbol}."
    elif symbol:
        text = f"The group has no default terms: its clients then have no price in {symbol}."
    else:
        text = "Its clients then have no price in symbols without terms of their own."
    title = f"Remove the terms of {_title(code, symbol)}?"
    return Dialog(title=title, text=[text], confirm="Remove", danger=True, values=seen(group))


async def _ask_switch(visit: Visit) -> Dialog:
    group = await _get(visit)
    code = group["code"]
    if group["trading"]:
        text = "New orders of every client in this group are refused. Recorded orders stay."
        title, confirm = f"Stop trading of {code}?", "Stop trading"
    else:
        text = "New orders of its clients are accepted again at current rates."
        title, confirm = f"Start trading of {code}?", "Start trading"
    return Dialog(title=title, text=[text], confirm=confirm, danger=group["trading"], values=seen(group))


async def _switch(visit: Visit) -> Result:
    before = await _get(visit)
    after = await _patch(visit, before, trading=not before["trading"])
    was, now = ({"trading": "on" if each["trading"] else "off"} for each in (before, after))
    return Result(saved(f"Group {before['code']}", was, now))


async def _ask_new(_visit: Visit) -> Dialog:
    return Dialog(
        title="New group",
        text=["The premiums are the default for every symbol. Single symbols can get others later."],
        confirm="Create",
        values={**defaults_of(GroupBody), "buy_premium": "0", "sell_premium": "0"},
    )


async def _create(visit: Visit) -> Result:
    values = visit.values
    code = values["code"]
    terms = TermsBody(buy_premium=values["buy_premium"], sell_premium=values["sell_premium"])
    body = GroupBody(trading=bool(values["trading"]), default_terms=terms)
    only_if = only_new("code", f"There is a group {code} already.")
    text = _text(await put_group(visit.desk, visit.actor, code, body, only_if=only_if), DEFAULT)
    premiums = f"premium on buys {text['premium on buys']}, on sells {text['premium on sells']}"
    return Result(f"Group {code} is created: {premiums}.")


_NEW_FIELDS = (
    Code("code", "Code", "cannot be changed later"),
    field_of(GroupBody, "trading", "Trading"),
    *_PREMIUMS,
)
EDIT = Action(
    MARKET, "edit-terms", "Edit", patch_group, _ask_edit, _save_terms, (SEEN, *_TERMS), changes="terms"
)
ADD = replace(
    EDIT, name="add-terms", label="Add terms for a symbol", ask=_ask_add, fields=(_SYMBOL, SEEN, *_TERMS)
)
REMOVE = replace(
    EDIT,
    name="remove-terms",
    label="Remove",
    ask=_ask_remove,
    do=partial(_put_terms, terms=None),
    fields=(SEEN,),
)
SWITCH = Action(
    MARKET, "switch-group", "Stop trading", patch_group, _ask_switch, _switch, (SEEN,), changes="trading"
)
NEW = Action(MARKET, "new-group", "New group", put_group, _ask_new, _create, _NEW_FIELDS)
ACTIONS = (EDIT, ADD, REMOVE, SWITCH, NEW)
