"""Trading groups: whether each trades, and its margins and order sizes in every symbol."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bullion.console.forms import Amount, Choice, Code, Dialog, Field, FormErrors, field_of, saved
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, only_new, seen, unchanged
from bullion.console.widgets.components import (
    BAD,
    GOOD,
    NOTHING,
    OFF,
    WARN,
    Column,
    card,
    empty,
    state,
    table,
)
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


def turn_sign(plain: str) -> str:
    """The margin of a sell premium, or the premium of that margin: a client who sells gets that much less."""
    if not plain.strip("0."):
        return plain
    return plain[1:] if re.match(r"-[0-9.]", plain) else f"-{plain}"


@dataclass(frozen=True, slots=True)
class _SellMargin(Amount):
    """Shown and typed as what the house earns; its value is the premium, with the opposite sign."""

    def text(self, value: Any) -> str:
        return "" if value is None else trim_zeros(turn_sign(str(value)))

    def parse(self, typed: str) -> str:
        return turn_sign(super(_SellMargin, self).parse(typed))


_PER = "₹ per quoted weight"


def _margins(per: str = _PER) -> tuple[Field, Field]:
    """What the house earns on each side: above 0 unless it loses."""
    sell = field_of(TermsBody, "sell_premium")
    return (
        field_of(TermsBody, "buy_premium", f"House earns when clients buy, {per}", "empty: they cannot buy"),
        _SellMargin(
            sell.name,
            f"House earns when clients sell, {per}",
            "empty: they cannot sell",
            required=sell.required,
            rule=sell.rule,
            of=sell.of,
        ),
    )


def _terms_fields(per: str = _PER, unit: str = "") -> tuple[Field, ...]:
    within = f", {unit}" if unit else ""
    return (
        *_margins(per),
        field_of(TermsBody, "minimum", f"Smallest order{within}", _AS_SYMBOL),
        field_of(TermsBody, "maximum", f"Largest order{within}", _AS_SYMBOL),
        field_of(TermsBody, "step", f"Step{within}", _AS_SYMBOL),
    )


_TERMS = _terms_fields()
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
    text = f"What you earn on each side, in rupees per quoted weight. A minus is a loss.{more}"
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


def _margin(terms: View, name: str) -> str:
    value = terms[name]
    if value is None:
        return "not offered"
    return rupees(value if name == "buy_premium" else turn_sign(value))


def _margin_cell(name: str) -> Callable[[Visit, View], Child]:
    def cell(_visit: Visit, row: View) -> Child:
        if not row["terms"]:
            return NOTHING
        text = _margin(row["terms"], name)
        return state(BAD, text) if text.startswith("\N{MINUS SIGN}") else text

    return cell


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
    Column("Earned when clients buy", _margin_cell("buy_premium"), number=True),
    Column("Earned when clients sell", _margin_cell("sell_premium"), number=True),
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
        "margin on buys": _margin(terms, "buy_premium"),
        "margin on sells": _margin(terms, "sell_premium"),
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
    text = ["The symbol's own sizes apply as well: a group's can only be narrower."]
    own = _terms(group, symbol)
    if own is None and group["default_terms"]:
        text.append(f"{symbol} has the group's default terms now. Saved here, it gets terms of its own.")
    fields = _TERMS
    for each in await symbols_of(visit):
        if each["code"] == symbol:
            fields = _terms_fields(f"₹ per {weight(each['quoted_weight'], each['unit'])}", each["unit"])
    return Dialog(
        title=f"Terms of {_title(code, symbol)}",
        text=text,
        fields=[SEEN, *fields],
        values={**(own or group["default_terms"] or {}), **seen(group)},
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
        text=["The margins are the default for every symbol. Single symbols can get others later."],
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
    margins = f"margin on buys {text['margin on buys']}, on sells {text['margin on sells']}"
    return Result(f"Group {code} is created: {margins}.")


_NEW_FIELDS = (
    Code("code", "Code", "cannot be changed later"),
    field_of(GroupBody, "trading", "Trading"),
    *_margins(),
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
