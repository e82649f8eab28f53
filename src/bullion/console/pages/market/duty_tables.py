"""Duty tables: what landed prices add, from which Indian date on, and which entry applies today."""

from collections.abc import Sequence
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from bullion.console.forms import Code, Day, Dialog, FormErrors, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, only_new, seen, unchanged
from bullion.console.widgets.components import GOOD, OFF, WARN, Column, card, empty, hint, state, table
from bullion.console.widgets.formatting import day_text, rupees
from bullion.desk.actions.duties import list_duties, put_duty
from bullion.desk.bodies import DutyBody
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .market_data import duties_of, symbols_of

INDIA = ZoneInfo("Asia/Kolkata")
"""Duty dates are Indian dates, whatever the zone of the trading hours."""
_PAST = "A past entry cannot be changed or removed if production orders were priced with it."
_AMOUNT = field_of(DutyBody, "rupees", "Duty, ₹", "per quoted weight")
_ENTRY = (Day("from", "Applies from", "an Indian date", required=True), _AMOUNT)
_NAME = Code("name", "Name", "symbols use it by this name; cannot be changed later")


async def render(visit: Visit) -> Html:
    found = await duties_of(visit)
    new = NEW.button(visit, kind="small primary")
    if not found:
        shown = empty(
            "There are no duty tables yet.",
            "A landed price adds a duty per quoted weight. Create a table, and name it in the symbol.",
        )
        return card("Duty", shown, aside=new, name="duties")
    symbols = await symbols_of(visit)
    text = "An entry applies from midnight of its date in India until the next one does."
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
        visit, f"duty-{name}", _COLUMNS, rows, key="from", css=lambda row: "holds" if row["applies"] else None
    )
    return card(f"Duty {name}", body, aside=[used, add], name=f"duty-card-{name}")


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


_COLUMNS = (
    Column("From", lambda _, row: day_text(row["from"])),
    Column("Duty", lambda _, row: rupees(row["rupees"]), number=True),
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
    kept = [
        DutyBody(from_date=each["from"], rupees=each["rupees"])
        for each in before["duties"]
        if each["from"] != without
    ]
    return await put_duty(visit.desk, visit.actor, before["name"], [*kept, *more], only_if=only_if)


async def _ask_add(visit: Visit) -> Dialog:
    found = await _get(visit)
    now = found["in_force"]
    current = (
        f"{rupees(now['rupees'])} applies since {day_text(now['from'])}."
        if now
        else "No entry applies today."
    )
    return Dialog(
        title=f"Add an entry to duty {found['name']}",
        text=[current, "Orders from that date on are priced with it; recorded orders keep their price."],
        confirm="Add",
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
    return Dialog(
        title=f"Remove an entry of duty {found['name']}?",
        text=[f"The entry before {day_text(day)} then continues to apply.", _PAST],
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
    current: View = next((each for each in found["duties"] if each["from"] == day), {})
    return Dialog(
        title=f"Duty {found['name']} from {day_text(day)}",
        text=["It applies to orders from now on; recorded orders keep their price.", _PAST],
        values={**current, **seen(_entries(found))},
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


CHANGE = Action(MARKET, "change-duty", "Change", put_duty, _ask_change, _change, (SEEN, _AMOUNT))
ADD = Action(MARKET, "add-duty", "Add an entry", put_duty, _ask_add, _add, (SEEN, *_ENTRY))
REMOVE = Action(MARKET, "remove-duty", "Remove", put_duty, _ask_remove, _remove, (SEEN,))
NEW = Action(MARKET, "new-duty", "New duty table", put_duty, _ask_new, _create, (_NAME, *_ENTRY))
ACTIONS = (ADD, CHANGE, REMOVE, NEW)
