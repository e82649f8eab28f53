"""Duty tables: what landed prices add, from which Indian date on, and which entry applies today."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from bullion.console.forms import Code, Day, Dialog, Field, FormErrors, field_of, read_fields
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.price_question import price_table
from bullion.console.stale_form import SEEN, only_new, seen, unchanged
from bullion.console.widgets.components import GOOD, OFF, WARN, Column, card, empty, hint, state, table
from bullion.console.widgets.formatting import day_text, grouped, rupees, weight
from bullion.desk.actions.duties import list_duties, preview_duty, put_duty, require_changeable
from bullion.desk.bodies import DutyBody
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .market_data import duties_of, symbols_of

INDIA = ZoneInfo("Asia/Kolkata")
"""Duty dates are Indian dates, whatever the zone of the trading hours."""
_KEPT = "Recorded orders keep their price. The audit trail keeps what the entry said."
_PER_WEIGHT = "₹ per quoted weight"
_DAY = Day("from", "Applies from", "midnight in India", required=True)
_AMOUNT = field_of(DutyBody, "rupees", f"Duty, {_PER_WEIGHT}")
_NAME = Code("name", "Name", "symbols use it by this name; cannot be changed later")


async def render(visit: Visit) -> Html:
    found = await duties_of(visit)
    new = NEW.button(visit, kind="small primary")
    if not found:
        shown = empty(
            "There are no duty tables yet.",
            "A landed price adds a duty, in rupees for the weight that its symbol is quoted in. "
            "Create a table, and name it in the symbol.",
        )
        return card("Duty", shown, aside=new, name="duties")
    symbols = await symbols_of(visit)
    text = (
        "An entry applies from midnight of its date in India until the next one does. It can be changed or "
        "removed from today on, or while no production order was priced by it."
    )
    intro = el("div", el("p", text, class_="hint"), new, class_="intro")
    return el("div", intro, [_table(visit, each, symbols) for each in found], class_="stack")


def _table(visit: Visit, found: View, symbols: Sequence[View]) -> Html:
    name = found["name"]
    users = [each["code"] for each in symbols if each["pricing"].get("duty") == name]
    used = hint(f"used by {', '.join(users)}" if users else "used by no symbol")
    add = ADD.button(visit, {"name": name}, kind="small", label=f"Add an entry to {name}")
    rows = [
        {**row, "name": name, "applies": found["in_force"] == row, "last": len(found["duties"]) == 1}
        for row in reversed(found["duties"])
    ]
    body = table(
        visit,
        f"duty-{name}",
        _columns(_unit(name, symbols)),
        rows,
        key="from",
        css=lambda row: "holds" if row["applies"] else None,
    )
    return card(f"Duty {name}", body, aside=[used, add], name=f"duty-card-{name}")


def _unit(name: str, symbols: Sequence[View]) -> str:
    """₹ per 10 g: for the weight that the symbols with this duty are quoted in."""
    weights = {
        weight(each["quoted_weight"], each["unit"]) for each in symbols if each["pricing"].get("duty") == name
    }
    return f"₹ per {weights.pop()}" if len(weights) == 1 else _PER_WEIGHT


def _state(visit: Visit, row: View) -> Html:
    if row["applies"]:
        return state(GOOD, "applies today")
    coming = date.fromisoformat(row["from"]) > today(visit)
    return state(WARN, "upcoming") if coming else state(OFF, "past")


def _buttons(visit: Visit, row: View) -> Child:
    about = {"name": row["name"], "from": row["from"]}
    actions = (CHANGE,) if row["last"] else (CHANGE, REMOVE)
    buttons = [
        each.button(visit, about, kind="small", label=f"{each.label} the entry from {row['from']}")
        for each in actions
    ]
    return el("span", buttons, class_="actions")


def _columns(unit: str) -> tuple[Column, ...]:
    return (
        Column("From, Indian date", lambda _, row: day_text(row["from"])),
        Column(f"Duty, {unit}", lambda _, row: grouped(row["rupees"]), number=True),
        Column("State", _state),
        Column("", _buttons, number=True),
    )


def today(visit: Visit) -> date:
    return visit.now.astimezone(INDIA).date()


async def _get(visit: Visit) -> View:
    name = visit.param("name")
    for each in await list_duties(visit.desk, visit.actor):
        if each["name"] == name and not is_unreadable(each):
            return each
    raise RefusalError(NOT_FOUND, f"There is no duty table {name}.")


def _entries(found: View) -> View:
    """Without which one applies, which changes at midnight."""
    return {"name": found["name"], "duties": found["duties"]}


def _amount(found: View, day: str) -> str:
    for each in found["duties"]:
        if each["from"] == day:
            return rupees(each["rupees"])
    raise RefusalError(NOT_FOUND, f"The duty {found['name']} has no entry from that date.")


async def _put(visit: Visit, before: View, without: str, *more: DutyBody) -> View:
    """The table without the entry of a date and with others, if it is still as the form showed it."""
    only_if = unchanged(visit, f"The duty {before['name']}", _entries)
    only_if(before)
    rows = [*_rows(before, without), *more]
    return await put_duty(visit.desk, visit.actor, before["name"], rows, only_if=only_if)


def _rows(found: View, without: str) -> list[DutyBody]:
    return [
        DutyBody(from_date=each["from"], rupees=each["rupees"])
        for each in found["duties"]
        if each["from"] != without
    ]


def _amount_field(unit: str, name: str = "Duty") -> Field:
    return replace(_AMOUNT, label=f"{name}, {unit}")


async def _preview_entry(visit: Visit) -> Html:
    """The prices that clients pay with the entry that is being typed. Nothing of it is kept."""
    found, day = await _get(visit), visit.param("from") or visit.form.get("from", "").strip()
    try:
        fields = [_AMOUNT] if visit.param("from") else [_DAY, _AMOUNT]
        typed = DutyBody(from_date=day, rupees=read_fields(fields, visit.form)["rupees"])
    except FormErrors:
        return el("p", "Enter the duty to see what clients then pay.", class_="hint")
    return await _prices(visit, found["name"], [*_rows(found, day), typed])


async def _prices(visit: Visit, name: str, rows: list[DutyBody]) -> Html:
    found = await preview_duty(visit.desk, visit.actor, name, rows)
    if not found["prices"]:
        return el("p", "No client's price changes.", class_="hint")
    return price_table(found["prices"], found.get("prices_left_out", 0))


async def _ask_add(visit: Visit) -> Dialog:
    found = await _get(visit)
    unit, now = _unit(found["name"], await symbols_of(visit)), found["in_force"]
    current = (
        f"{rupees(now['rupees'])} applies since {day_text(now['from'])}."
        if now
        else "No entry applies today."
    )
    return Dialog(
        title=f"Add an entry to duty {found['name']}",
        text=[current, "Orders from that date on are priced by it; recorded orders keep their price."],
        confirm="Add",
        fields=(SEEN, _DAY, _amount_field(unit)),
        values={**_tomorrow(visit), **seen(_entries(found))},
    )


def _tomorrow(visit: Visit) -> dict[str, str]:
    return {"from": (today(visit) + timedelta(days=1)).isoformat()}


async def _add(visit: Visit) -> Result:
    day, amount = visit.values["from"], visit.values["rupees"]
    before, text = await _get(visit), day.isoformat()
    unchanged(visit, f"The duty {before['name']}", _entries)(before)
    if any(each["from"] == text for each in before["duties"]):
        raise FormErrors({"from": "There is an entry from that date already."})
    if day < today(visit):
        raise FormErrors({"from": "That day is past: an entry can apply from today on."})
    after = await _put(visit, before, "", DutyBody(from_date=text, rupees=amount))
    earlier = [each for each in after["duties"] if each["from"] < text]
    was = rupees(earlier[-1]["rupees"]) if earlier else "none"
    return Result(
        f"Duty {before['name']}: {was} → {_amount(after, text)} from {day_text(text)}, Indian date."
    )


async def _ask_remove(visit: Visit) -> Dialog:
    found, day = await _get(visit), visit.param("from")
    name, amount = found["name"], _amount(found, day)
    await require_changeable(visit.desk, visit.actor, name, day)
    earlier = [each for each in found["duties"] if each["from"] < day]
    then = "No entry applies then until the next one does: symbols with this duty have no price."
    if earlier:
        then = f"{rupees(earlier[-1]['rupees'])} from {day_text(earlier[-1]['from'])} continues to apply."
    rows = _rows(found, day)
    return Dialog(
        title=f"Remove the duty {name} of {amount} from {day_text(day)}?",
        text=[then, _KEPT],
        details=await _prices(visit, name, rows) if rows else None,
        confirm="Remove",
        danger=True,
        values=seen(_entries(found)),
    )


async def _remove(visit: Visit) -> Result:
    before, day = await _get(visit), visit.param("from")
    unchanged(visit, f"The duty {before['name']}", _entries)(before)
    amount = _amount(before, day)
    if len(before["duties"]) == 1:
        raise RefusalError(CONFLICT, "This is the last entry: a table has at least one.")
    await _put(visit, before, day)
    return Result(f"Duty {before['name']}: {amount} from {day_text(day)} → removed.")


async def _ask_change(visit: Visit) -> Dialog:
    found, day = await _get(visit), visit.param("from")
    name, amount = found["name"], _amount(found, day)
    await require_changeable(visit.desk, visit.actor, name, day)
    unit = _unit(name, await symbols_of(visit))
    return Dialog(
        title=f"Duty {name} from {day_text(day)}",
        text=[f"It is {amount}{unit.removeprefix('₹')} now.", f"Orders are priced by the new one. {_KEPT}"],
        confirm="Change",
        fields=(SEEN, _amount_field(unit, "New duty")),
        values={"rupees": next(e["rupees"] for e in found["duties"] if e["from"] == day)}
        | seen(_entries(found)),
    )


async def _change(visit: Visit) -> Result:
    before, day = await _get(visit), visit.param("from")
    was = _amount(before, day)
    after = await _put(visit, before, day, DutyBody(from_date=day, rupees=visit.values["rupees"]))
    return Result(f"Duty {before['name']} from {day_text(day)}: {was} → {_amount(after, day)}.")


async def _ask_new(visit: Visit) -> Dialog:
    return Dialog(
        title="New duty table",
        text=["Symbols that use it have no price until its first entry applies."],
        confirm="Create",
        values=_tomorrow(visit),
    )


async def _create(visit: Visit) -> Result:
    name, day = visit.values["name"], visit.values["from"].isoformat()
    only_if = only_new("name", f"There is a duty table {name} already.")
    entry = DutyBody(from_date=day, rupees=visit.values["rupees"])
    made = await put_duty(visit.desk, visit.actor, name, [entry], only_if=only_if)
    return Result(f"Duty {name} is created: {_amount(made, day)} from {day_text(day)}, Indian date.")


_ENTRY = (_DAY, _AMOUNT)
CHANGE = Action(
    MARKET,
    "change-duty",
    "Change",
    put_duty,
    _ask_change,
    _change,
    (SEEN, _AMOUNT),
    preview=_preview_entry,
)
ADD = Action(
    MARKET,
    "add-duty",
    "Add an entry",
    put_duty,
    _ask_add,
    _add,
    (SEEN, *_ENTRY),
    preview=_preview_entry,
)
REMOVE = Action(MARKET, "remove-duty", "Remove", put_duty, _ask_remove, _remove, (SEEN,))
NEW = Action(MARKET, "new-duty", "New duty table", put_duty, _ask_new, _create, (_NAME, *_ENTRY))
ACTIONS = (ADD, CHANGE, REMOVE, NEW)
