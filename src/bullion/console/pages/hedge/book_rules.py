"""The rules of a metal's hedge book: when covers are planned, in which contracts, and who sends them."""

from typing import Any

from bullion.console.forms import Amount, Choice, Code, Dialog, Hidden, Lines, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, only_new, seen, unchanged
from bullion.console.widgets.components import NOTHING, Column, hint, table
from bullion.console.widgets.fine_weight import fine
from bullion.console.widgets.formatting import age, count, rupees
from bullion.desk.actions.book_rules import delete_rule, plan_covers, put_rule
from bullion.desk.actions.covers import list_contracts
from bullion.desk.actions.hedge_book import get_book
from bullion.desk.bodies import BookRuleBody, PlanBody
from bullion.desk.conversion import convert
from bullion.desk.desk import View
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .hedge_data import by_metal

_KINDS = {
    "over": "more than a weight is not covered, g",
    "age": "a lot has been open for a time, s",
    "value": "more than a value is not covered, ₹",
    "risk": "the value at risk is higher, ₹",
    "close": "a time before the trading hours end, s",
    "by_hand": "only when a dealer applies it",
}
_MODES = {"suggest": "a dealer sends each cover", "auto": "sent by itself, if the contract allows it"}
_SIDES = {"": "both", "buy": "only buys", "sell": "only sells"}
_NAME = Code("name", "Name", "cannot be changed later")
_TERMS = (
    Choice("kind", "Covers are planned when", options=[*_KINDS.items()], required=True),
    Amount("threshold", "Threshold, in g, s or ₹", "by what is chosen above; empty for a rule by hand"),
    Lines("contracts", "Contracts, one per line", "the first that fits is used", required=True, rows=3),
    Choice("side", "The house", options=[*_SIDES.items()]),
    field_of(BookRuleBody, "mode", "Sending", options=[*_MODES.items()]),
    field_of(BookRuleBody, "place", "Place among the rules", "empty: unchanged, or the last", required=False),
)
_FIELDS = ("kind", "threshold", "contracts", "side", "mode", "place")


def rules(visit: Visit, book: View) -> Html:
    metal = book["metal"]
    add = NEW.button(visit, {"metal": metal}, kind="small", label=f"Add a rule to the book of {metal}")
    rows = [{**each, "metal": metal} for each in book["rules"]]
    shown: Child = hint("Without rules nobody is told to cover. Make covers by hand, or add a rule.")
    if rows:
        shown = table(visit, f"rules-{metal}", _COLUMNS, rows, key="name")
    return el("section", el("div", el("h3", "Rules"), add, class_="line"), shown, class_="rules")


def _when(_visit: Visit, rule: View) -> Child:
    text, threshold = _KINDS[rule["kind"]].rpartition(",")[0] or _KINDS[rule["kind"]], rule["threshold"]
    if threshold is None:
        return text
    return [text, el("small", _threshold(rule))]


def _threshold(rule: View) -> str:
    match rule["unit"]:
        case "g":
            return fine(rule["threshold"], rule["metal"])
        case "s":
            return age(int(rule["threshold"]))
        case _:
            return rupees(rule["threshold"])


def _buttons(visit: Visit, rule: View) -> Html:
    about = {"metal": rule["metal"], "name": rule["name"]}
    buttons = [
        each.button(visit, about, kind="small", label=f"{each.label}: {rule['name']} of {rule['metal']}")
        for each in (APPLY, CHANGE, DELETE)
    ]
    return el("span", buttons, class_="actions")


_COLUMNS = (
    Column("Rule", lambda _, rule: el("b", rule["name"])),
    Column("Plans covers when", _when),
    Column("Contracts", lambda _, rule: ", ".join(rule["contracts"])),
    Column("Side", lambda _, rule: _SIDES[rule["side"]] if rule["side"] else NOTHING),
    Column("Sending", lambda _, rule: _MODES[rule["mode"]]),
    Column("", _buttons, number=True),
)


async def _book(visit: Visit) -> View:
    found = by_metal(await get_book(visit.desk, visit.actor)).get(visit.param("metal"))
    if found is None:
        raise RefusalError(NOT_FOUND, "There is no such metal: it is gold or silver.")
    return found


async def _find(visit: Visit) -> View:
    found: list[View] = (await _book(visit))["rules"]
    for each in found:
        if each["name"] == visit.param("name"):
            return each
    raise RefusalError(NOT_FOUND, f"This hedge book has no rule {visit.param('name')}.")


async def _codes(visit: Visit) -> list[str]:
    metal = visit.param("metal")
    found = await list_contracts(visit.desk, visit.actor)
    return [each["code"] for each in found if each["metal"] == metal and each["active"]]


async def _ask_new(visit: Visit) -> Dialog:
    codes = await _codes(visit)
    if not codes:
        raise RefusalError(
            NOT_FOUND, f"There is no active contract in {visit.param('metal')}. Make or activate one first."
        )
    return Dialog(
        title=f"New rule of the book of {visit.param('metal')}",
        text=[f"Active contracts: {', '.join(codes)}."],
        confirm="Add the rule",
        values={"contracts": codes[:1], "mode": "suggest"},
    )


async def _ask_change(visit: Visit) -> Dialog:
    rule = await _find(visit)
    values: dict[str, Any] = {**rule, "side": rule["side"] or "", "place": None}
    return Dialog(
        title=f"Rule {rule['name']} of the book of {visit.param('metal')}",
        text=[f"Active contracts: {', '.join(await _codes(visit))}."],
        fields=(SEEN, Hidden("name", ""), *_TERMS),
        values={**values, **seen(rule)},
    )


def _body(visit: Visit) -> BookRuleBody:
    given = {name: visit.values[name] for name in _FIELDS if visit.values[name] not in (None, "")}
    return convert(given, BookRuleBody)


async def _create(visit: Visit) -> Result:
    metal, name = visit.param("metal"), visit.values["name"]
    only_if = only_new("name", f"There is a rule {name} already.")
    await put_rule(visit.desk, visit.actor, metal, name, _body(visit), only_if=only_if)
    return Result(f"Book of {metal}: rule {name} is added.")


async def _change(visit: Visit) -> Result:
    metal, name = visit.param("metal"), visit.param("name")
    only_if = unchanged(visit, f"The rule {name}")
    await put_rule(visit.desk, visit.actor, metal, name, _body(visit), only_if=only_if)
    return Result(f"Book of {metal}: rule {name} is changed.")


async def _ask_delete(visit: Visit) -> Dialog:
    rule = await _find(visit)
    return Dialog(
        title=f"Delete the rule {rule['name']} of the book of {visit.param('metal')}?",
        text=["Its suggestions are dropped. Covers that were sent stay."],
        confirm="Delete the rule",
        danger=True,
    )


async def _delete(visit: Visit) -> Result:
    metal, name = visit.param("metal"), visit.param("name")
    await delete_rule(visit.desk, visit.actor, metal, name)
    return Result(f"Book of {metal}: rule {name} is deleted.")


async def _ask_apply(visit: Visit) -> Dialog:
    rule = await _find(visit)
    return Dialog(
        title=f"Apply the rule {rule['name']} now?",
        text=[
            "It plans covers whatever its threshold. They replace earlier suggestions of rules.",
            "Nothing is sent before a dealer sends it.",
        ],
        confirm="Plan covers",
    )


async def _apply(visit: Visit) -> Result:
    name = visit.param("name")
    done = await plan_covers(visit.desk, visit.actor, visit.param("metal"), PlanBody(rule=name))
    number = len(done["covers"])
    what = "no cover is needed" if not number else f"{count(number)} suggested"
    return Result(f"Rule {name}: {what}.")


NEW = Action(MARKET, "new-rule", "Add a rule", put_rule, _ask_new, _create, (_NAME, *_TERMS))
CHANGE = Action(MARKET, "change-rule", "Change", put_rule, _ask_change, _change, (SEEN, *_TERMS))
DELETE = Action(MARKET, "delete-rule", "Delete", delete_rule, _ask_delete, _delete)
APPLY = Action(MARKET, "apply-rule", "Apply now", plan_covers, _ask_apply, _apply)
ACTIONS = (NEW, CHANGE, DELETE, APPLY)
