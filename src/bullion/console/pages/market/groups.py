"""Trading groups: whether each trades, and what it pays and may order in every symbol."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from bullion.console.html import Child, Html, el
from bullion.console.page import Action, FormErrors, Result, Visit
from bullion.console.stale_form import new, seen, still
from bullion.console.widgets.components import GOOD, OFF, WARN, Column, Line, card, empty, state, table
from bullion.console.widgets.dialog import action_button, choice, dialog, field, hidden
from bullion.console.widgets.formatting import rupees, weight
from bullion.desk.actions import groups, symbols
from bullion.desk.bodies import GroupBody, TermsBody
from bullion.desk.conversion import require_code
from bullion.desk.desk import View
from bullion.metals.rupees import PLACES as RUPEES_PLACES
from bullion.metals.weight import PLACES as WEIGHT_PLACES
from bullion.records.token import Role
from bullion.refusals.desk import CONFLICT, INVALID_BODY, NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .forms import NOTHING, Form, beside_fields, saved, short
from .market_data import groups_of, symbols_of
from .names import PAGE_NAME

DEFAULT = ""
"""Stands for a symbol's code where the default terms are meant."""
_SIZES = ("minimum", "maximum", "step")
_COLUMNS = (
    Column("Symbol"),
    Column("On buys", number=True),
    Column("On sells", number=True),
    Column("Smallest", number=True),
    Column("Largest", number=True),
    Column("Step", number=True),
    Column("", number=True),
)


async def render(visit: Visit) -> Html:
    (found, total), (listed, _) = await asyncio.gather(groups_of(visit), symbols_of(visit))
    make = action_button(visit, PAGE_NAME, NEW, "New group", kind="small primary")
    if not found:
        shown = empty(
            "There is no group yet.",
            "Each client trades in a group, which says what is added to the price. "
            "Make the first one with New group.",
        )
        return card("Groups", shown, aside=make, name="groups")
    units = {each["code"]: each["unit"] for each in listed}
    more = f", the first {len(found)} of {total}" if total > len(found) else ""
    intro = el(
        "div",
        el(
            "p",
            f"Premiums are rupees per quoted weight, added to the symbol's price; below 0 takes away{more}.",
            class_="hint",
        ),
        make,
        class_="intro",
    )
    return el("div", intro, [_group(visit, each, units) for each in found], class_="stack")


def _group(visit: Visit, group: View, units: Mapping[str, str]) -> Html:
    code = group["code"]
    trades = state(GOOD, "trades") if group["trading"] else state(OFF, "does not trade")
    words = "Stop its trading" if group["trading"] else "Let it trade"
    about = {"group": code}
    turn = action_button(visit, PAGE_NAME, TURN, words, about=about, kind="small", label=f"{words}: {code}")
    add_words = "Own terms for a symbol"
    add = action_button(
        visit, PAGE_NAME, ADD, add_words, about=about, kind="small", label=f"{add_words}: {code}"
    )
    rows = [_line(visit, group, each, units.get(each, "")) for each in group["terms"]]
    rows.append(_line(visit, group, DEFAULT, ""))
    body = table(_COLUMNS, rows, name=f"terms-{code}")
    return card(f"Group {code}", body, aside=[trades, turn, add], name=f"group-{code}")


def _line(visit: Visit, group: View, symbol: str, unit: str) -> Line:
    terms = group["terms"].get(symbol) if symbol else group["default_terms"]
    about = {"group": group["code"], "symbol": symbol}
    name = symbol or ("all other symbols" if group["terms"] else "all symbols")
    of_whom = f"terms of {group['code']} for {name}"
    change = action_button(visit, PAGE_NAME, EDIT, "Edit", about=about, kind="small", label=f"Edit {of_whom}")
    drop = action_button(
        visit, PAGE_NAME, DROP, "Remove", about=about, kind="small", label=f"Remove {of_whom}"
    )
    heading = [el("b", name), None if terms else state(WARN, "no terms: no price")]
    actions = el("span", drop if terms else None, change, class_="actions")
    return Line(symbol or "(default)", (heading, *_terms_cells(terms, unit), actions))


def _terms_cells(terms: View | None, unit: str) -> Sequence[Child]:
    if terms is None:
        return (NOTHING,) * 5
    premiums = (_premium(terms[name]) for name in ("buy_premium", "sell_premium"))
    sizes = (NOTHING if terms[name] is None else weight(terms[name], unit) for name in _SIZES)
    return (*premiums, *sizes)


def _premium(value: str | None) -> str:
    if value is None:
        return "not offered"
    return rupees(value) if value.startswith("-") else f"+{rupees(value)}"


def _spoken(group: View, symbol: str) -> dict[str, str]:
    terms = group["default_terms"] if symbol == DEFAULT else group["terms"].get(symbol)
    if terms is None:
        return {"terms": "none of its own" if symbol else "none"}
    told = {"terms": "its own" if symbol else "there"}
    told |= {
        "premium on buys": _premium(terms["buy_premium"]),
        "premium on sells": _premium(terms["sell_premium"]),
    }
    names = {"minimum": "smallest order", "maximum": "largest order", "step": "step"}
    symbols_own = "as the symbol has it"
    return told | {
        words: symbols_own if terms[name] is None else short(terms[name]) for name, words in names.items()
    }


def _named(visit: Visit) -> tuple[str, str]:
    """The group and the symbol, which is chosen in the form where it is not named yet."""
    symbol = visit.query.get("symbol") or visit.form.get("symbol", DEFAULT)
    return visit.query.get("group", ""), symbol


def _in_words(code: str, symbol: str) -> str:
    return f"{code} in {symbol}" if symbol else f"{code} in all other symbols"


def _put_body(group: View) -> GroupBody:
    whole: dict[str, Any] = {name: value for name, value in group.items() if name != "code"}
    return msgspec.convert(whole, GroupBody)


async def _ask_terms(visit: Visit) -> Html:
    code, symbol = _named(visit)
    group = await groups.get_group(visit.desk, visit.actor, code)
    fields = _fields(group, group["terms"].get(symbol) if symbol else group["default_terms"])
    words = ["The symbol's own sizes hold as well: a group can be narrower, not wider."]
    return dialog(f"Terms of {_in_words(code, symbol)}", words, confirm="Save", fields=fields)


async def _ask_add(visit: Visit) -> Html:
    code, _ = _named(visit)
    group = await groups.get_group(visit.desk, visit.actor, code)
    left = [each["code"] for each in (await symbols_of(visit))[0] if each["code"] not in group["terms"]]
    if not left:
        raise RefusalError(CONFLICT, f"{code} has terms of its own in every symbol.")
    fields = [
        choice("Symbol", "symbol", [(each, each) for each in left]),
        *_fields(group, group["default_terms"]),
    ]
    words = ["In this symbol the group's default terms then no longer count."]
    return dialog(f"Own terms of {code} for a symbol", words, confirm="Save", fields=fields)


def _fields(group: View, now: View | None) -> list[Child]:
    terms = now or dict.fromkeys(("buy_premium", "sell_premium", *_SIZES))

    def typed(label: str, name: str, hint: str) -> Html:
        return field(label, name, value=short(terms[name] or ""), hint=hint)

    return [
        hidden("seen", seen(group)),
        typed("Premium when clients buy, ₹", "buy_premium", "empty: clients of the group cannot buy"),
        typed("Premium when clients sell, ₹", "sell_premium", "empty: clients of the group cannot sell"),
        typed("Smallest order", "minimum", "empty: as the symbol has it"),
        typed("Largest order", "maximum", "empty: as the symbol has it"),
        typed("Step", "step", "empty: as the symbol has it"),
    ]


async def _save_terms(visit: Visit) -> Result:
    code, symbol = _named(visit)
    if symbol != DEFAULT:
        await _require_symbol(visit, symbol)
    form = Form(visit.form)
    terms = TermsBody(
        buy_premium=form.amount_if_any("buy_premium", RUPEES_PLACES),
        sell_premium=form.amount_if_any("sell_premium", RUPEES_PLACES),
        minimum=form.amount_if_any("minimum", WEIGHT_PLACES),
        maximum=form.amount_if_any("maximum", WEIGHT_PLACES),
        step=form.amount_if_any("step", WEIGHT_PLACES),
    )
    form.check()
    return await _put(visit, code, symbol, terms)


async def _require_symbol(visit: Visit, symbol: str) -> None:
    """Terms for a mistyped symbol would never count, and nobody would see why."""
    try:
        require_code("symbol", symbol)
        await symbols.get_symbol(visit.desk, visit.actor, symbol)
    except RefusalError as refused:
        if refused.refusal in (INVALID_BODY, NOT_FOUND) and "symbol" in visit.form:
            raise FormErrors({"symbol": f"There is no symbol {symbol[:32]!r}."}) from None
        raise


async def _put(visit: Visit, code: str, symbol: str, terms: TermsBody | None) -> Result:
    before = await groups.get_group(visit.desk, visit.actor, code)
    only_if = still(visit, f"The group {code}", before)
    body = _put_body(before)
    if symbol == DEFAULT:
        body.default_terms = terms
    elif terms is None:
        body.terms.pop(symbol, None)
    else:
        body.terms[symbol] = terms
    with beside_fields(visit.form):
        after = await groups.put_group(visit.desk, visit.actor, code, body, only_if=only_if)
    return Result(saved(_in_words(code, symbol), _spoken(before, symbol), _spoken(after, symbol)))


async def _ask_drop(visit: Visit) -> Html:
    code, symbol = _named(visit)
    group = await groups.get_group(visit.desk, visit.actor, code)
    if symbol and group["default_terms"]:
        words = f"From then on the group's default terms count in {symbol}."
    elif symbol:
        words = f"The group has no default terms: its clients then have no price in {symbol}."
    else:
        words = "In every symbol for which it has no terms of its own, its clients then have no price."
    fields = [hidden("seen", seen(group))]
    title = f"Remove the terms of {_in_words(code, symbol)}?"
    return dialog(title, [words], confirm="Remove", danger=True, fields=fields)


async def _drop(visit: Visit) -> Result:
    return await _put(visit, *_named(visit), None)


async def _ask_turn(visit: Visit) -> Html:
    code, _ = _named(visit)
    group = await groups.get_group(visit.desk, visit.actor, code)
    fields = [hidden("seen", seen(group))]
    if group["trading"]:
        words = ["New orders of every client in this group are refused. What is recorded stays."]
        title, confirm = f"Stop the trading of {code}?", "Stop its trading"
        return dialog(title, words, confirm=confirm, danger=True, fields=fields)
    words = ["New orders of its clients are taken again, at the rates of that moment."]
    return dialog(f"Let {code} trade?", words, confirm="Let it trade", fields=fields)


async def _turn(visit: Visit) -> Result:
    code, _ = _named(visit)
    before = await groups.get_group(visit.desk, visit.actor, code)
    only_if = still(visit, f"The group {code}", before)
    body = _put_body(before)
    body.trading = not before["trading"]
    after = await groups.put_group(visit.desk, visit.actor, code, body, only_if=only_if)
    return Result(saved(f"Group {code}", _trading(before), _trading(after)))


def _trading(group: View) -> Mapping[str, str]:
    return {"trading": "on" if group["trading"] else "off"}


async def _ask_new(_visit: Visit) -> Html:
    fields = [
        field("Code", "code", hint="letters, digits, dots, dashes and underscores; it stays", required=True),
        choice("Trading", "trading", [("yes", "on"), ("no", "off")], value="yes"),
        field("Premium when clients buy, ₹", "buy_premium", value="0", hint="empty: they cannot buy"),
        field("Premium when clients sell, ₹", "sell_premium", value="0", hint="empty: they cannot sell"),
    ]
    words = ["The premiums are its default, for every symbol; single symbols can have others afterwards."]
    return dialog("New group", words, confirm="Make it", fields=fields)


async def _make(visit: Visit) -> Result:
    form = Form(visit.form)
    code = form.code("code")
    terms = TermsBody(
        buy_premium=form.amount_if_any("buy_premium", RUPEES_PLACES),
        sell_premium=form.amount_if_any("sell_premium", RUPEES_PLACES),
    )
    form.check()
    only_if = new("code", f"There is a group {code} already.")
    with beside_fields(visit.form):
        body = GroupBody(trading=form.is_yes("trading"), default_terms=terms)
        made = await groups.put_group(visit.desk, visit.actor, code, body, only_if=only_if)
    told = _spoken(made, DEFAULT)
    buys, sells = told["premium on buys"], told["premium on sells"]
    return Result(f"The group {code} is made: premium on buys {buys}, on sells {sells}.")


EDIT = Action("edit-terms", Role.ADMIN, _ask_terms, _save_terms)
ADD = Action("add-terms", Role.ADMIN, _ask_add, _save_terms)
DROP = Action("remove-terms", Role.ADMIN, _ask_drop, _drop)
TURN = Action("turn-group", Role.ADMIN, _ask_turn, _turn)
NEW = Action("new-group", Role.ADMIN, _ask_new, _make)
ACTIONS = (EDIT, ADD, DROP, TURN, NEW)
