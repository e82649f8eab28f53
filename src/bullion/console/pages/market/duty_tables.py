"""Duty tables: what landed prices add, from which Indian date on, and which entry holds today."""

from collections.abc import Sequence
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from bullion.console.html import Child, Html, el
from bullion.console.page import Action, FormErrors, Result, Visit
from bullion.console.stale_form import new, seen, still
from bullion.console.widgets.components import GOOD, OFF, WARN, Column, Line, card, empty, state, table
from bullion.console.widgets.dialog import action_button, dialog, field, hidden
from bullion.console.widgets.formatting import rupees
from bullion.desk.actions import duties
from bullion.desk.bodies import DutyBody
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable
from bullion.metals.rupees import PLACES as RUPEES_PLACES
from bullion.records.token import Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .forms import Form, beside_fields
from .market_data import duties_of, symbols_of
from .names import PAGE_NAME

INDIA = ZoneInfo("Asia/Kolkata")
"""Duty dates are Indian dates, whatever the zone of the trading hours."""
_PAST_STAYS = "An entry of a past day stays if production orders were priced by it."
_COLUMNS = (Column("From"), Column("Duty", number=True), Column("State"), Column("", number=True))


async def render(visit: Visit) -> Html:
    found = await duties_of(visit)
    make = action_button(visit, PAGE_NAME, NEW, "New duty table", kind="small primary")
    if not found:
        shown = empty(
            "There is no duty table yet.",
            "A landed price adds a duty per quoted weight. Make a table with New duty table, "
            "and name it in the symbol.",
        )
        return card("Duty", shown, aside=make, name="duties")
    symbols, _ = await symbols_of(visit)
    note = "An entry holds from the first moment of its date in India, until the next one does."
    intro = el("div", el("p", note, class_="hint"), make, class_="intro")
    return el("div", intro, [_table(visit, each, symbols) for each in found], class_="stack")


def _table(visit: Visit, found: View, symbols: Sequence[View]) -> Html:
    name = found["name"]
    users = [each["code"] for each in symbols if each["pricing"].get("duty") == name]
    used = f"in the price of {', '.join(users)}" if users else "in no symbol's price"
    add = action_button(
        visit,
        PAGE_NAME,
        ADD,
        "Add an entry",
        about={"name": name},
        kind="small",
        label=f"Add an entry to {name}",
    )
    rows = [_line(visit, found, row) for row in reversed(found["duties"])]
    body = table(_COLUMNS, rows, name=f"duty-{name}")
    return card(f"Duty {name}", body, aside=[el("span", used, class_="hint"), add], name=f"duty-card-{name}")


def _line(visit: Visit, found: View, row: View) -> Line:
    holds = found["in_force"] == row
    coming = date.fromisoformat(row["from"]) > today(visit)
    if holds:
        kind: Child = state(GOOD, "holds today")
    else:
        kind = state(WARN, "to come") if coming else state(OFF, "over")
    about = {"name": found["name"], "from": row["from"]}
    changes = [
        action_button(
            visit,
            PAGE_NAME,
            action,
            words,
            about=about,
            kind="small",
            label=f"{words} the entry from {row['from']}",
        )
        for action, words in ((CHANGE, "Change"), (REMOVE, "Remove"))
    ]
    actions = el("span", changes if len(found["duties"]) > 1 else changes[:1], class_="actions")
    cells = (day_words(row["from"]), rupees(row["rupees"]), kind, actions)
    return Line(row["from"], cells, "holds" if holds else None)


def day_words(text: str) -> str:
    """Mon 16 Nov 2026"""
    return f"{date.fromisoformat(text):%a %d %b %Y}"


def today(visit: Visit) -> date:
    return visit.now.astimezone(INDIA).date()


async def _found(visit: Visit, name: str) -> View:
    for each in await duties.list_duties(visit.desk, visit.actor):
        if each["name"] == name and not is_unreadable(each):
            return each
    raise RefusalError(NOT_FOUND, f"There is no duty table {name}.")


def _kept(found: View) -> View:
    """Without which one holds, which midnight changes."""
    return {"name": found["name"], "duties": found["duties"]}


def _rows(found: View) -> list[DutyBody]:
    return [DutyBody(from_date=each["from"], rupees=each["rupees"]) for each in found["duties"]]


def _entry_fields(visit: Visit) -> list[Child]:
    tomorrow = (today(visit) + timedelta(days=1)).isoformat()
    return [
        field("Holds from", "from_date", value=tomorrow, kind="date", hint="an Indian date", required=True),
        field("Duty, ₹", "rupees", hint="per quoted weight of the symbols that use it", required=True),
    ]


def _entry(form: Form) -> DutyBody:
    day = form.text("from_date")
    try:
        date.fromisoformat(day)
    except ValueError:
        form.troubles["from_date"] = "This is not a date such as 2026-11-09."
    return DutyBody(from_date=day, rupees=form.amount("rupees", RUPEES_PLACES))


async def _ask_add(visit: Visit) -> Html:
    name = visit.query.get("name", "")
    found = await _found(visit, name)
    now = found["in_force"]
    words = [
        f"Today {rupees(now['rupees'])} holds, since {day_words(now['from'])}."
        if now
        else "No entry holds today.",
        "Orders from the first moment of the new date on are priced with it; recorded ones keep their price.",
    ]
    fields = [hidden("seen", seen(_kept(found))), *_entry_fields(visit)]
    return dialog(f"Add an entry to duty {name}", words, confirm="Add it", fields=fields)


async def _add(visit: Visit) -> Result:
    name, form = visit.query.get("name", ""), Form(visit.form)
    entry = _entry(form)
    form.check()
    before = await _found(visit, name)
    only_if = still(visit, f"The duty {name}", before, _kept)
    if any(each["from"] == entry.from_date for each in before["duties"]):
        raise FormErrors({"from_date": "There is an entry from that date already."})
    if date.fromisoformat(entry.from_date) < today(visit):
        raise FormErrors({"from_date": "That day is over: an entry can hold from today on."})
    with beside_fields(visit.form):
        after = await duties.put_duty(visit.desk, visit.actor, name, [*_rows(before), entry], only_if=only_if)
    (added,) = [each for each in after["duties"] if each["from"] == entry.from_date]
    earlier = [each for each in after["duties"] if each["from"] < entry.from_date]
    was = rupees(earlier[-1]["rupees"]) if earlier else "none"
    day = day_words(entry.from_date)
    return Result(f"Duty {name}: {was} → {rupees(added['rupees'])} from {day}, Indian date.")


async def _ask_remove(visit: Visit) -> Html:
    name, day = visit.query.get("name", ""), visit.query.get("from", "")
    found = await _found(visit, name)
    words = [f"What holds before {day_words(day)} then goes on.", _PAST_STAYS]
    fields = [hidden("seen", seen(_kept(found)))]
    return dialog(f"Remove an entry of duty {name}?", words, confirm="Remove", danger=True, fields=fields)


async def _remove(visit: Visit) -> Result:
    name, day = visit.query.get("name", ""), visit.query.get("from", "")
    before = await _found(visit, name)
    only_if = still(visit, f"The duty {name}", before, _kept)
    gone = [each for each in before["duties"] if each["from"] == day]
    left = [each for each in _rows(before) if each.from_date != day]
    if not gone or not left:
        raise RefusalError(
            CONFLICT, "There is no such entry, or it is the last one: a table has at least one."
        )
    await duties.put_duty(visit.desk, visit.actor, name, left, only_if=only_if)
    return Result(f"Duty {name}: {rupees(gone[0]['rupees'])} from {day_words(day)} → removed.")


def _amount(table: View, day: str) -> str:
    for each in table["duties"]:
        if each["from"] == day:
            return str(each["rupees"])
    raise RefusalError(NOT_FOUND, f"The duty {table['name']} has no entry from that date.")


async def _ask_change(visit: Visit) -> Html:
    name, day = visit.query.get("name", ""), visit.query.get("from", "")
    found = await _found(visit, name)
    now = _amount(found, day)
    hint = "per quoted weight of the symbols that use it"
    fields = [
        hidden("seen", seen(_kept(found))),
        field("Duty, ₹", "rupees", value=now, hint=hint, required=True),
    ]
    words = [
        "Orders from now on are priced with it, if it holds; recorded ones keep their price.",
        _PAST_STAYS,
    ]
    return dialog(f"Duty {name} from {day_words(day)}", words, confirm="Change it", fields=fields)


async def _change(visit: Visit) -> Result:
    name, day = visit.query.get("name", ""), visit.query.get("from", "")
    form = Form(visit.form)
    amount = form.amount("rupees", RUPEES_PLACES)
    form.check()
    before = await _found(visit, name)
    only_if = still(visit, f"The duty {name}", before, _kept)
    was = _amount(before, day)
    rows = [each for each in _rows(before) if each.from_date != day]
    with beside_fields(visit.form):
        after = await duties.put_duty(
            visit.desk,
            visit.actor,
            name,
            [*rows, DutyBody(from_date=day, rupees=amount)],
            only_if=only_if,
        )
    return Result(f"Duty {name} from {day_words(day)}: {rupees(was)} → {rupees(_amount(after, day))}.")


async def _ask_new(visit: Visit) -> Html:
    fields = [
        field("Name", "name", hint="what symbols call it; it stays", required=True),
        *_entry_fields(visit),
    ]
    words = ["Until its first entry holds, symbols that use it have no price."]
    return dialog("New duty table", words, confirm="Make it", fields=fields)


async def _make(visit: Visit) -> Result:
    form = Form(visit.form)
    name, entry = form.code("name"), _entry(form)
    form.check()
    only_if = new("name", f"There is a duty table {name} already.")
    with beside_fields(visit.form):
        made = await duties.put_duty(visit.desk, visit.actor, name, [entry], only_if=only_if)
    row = made["duties"][0]
    return Result(f"Duty {name} is made: {rupees(row['rupees'])} from {day_words(row['from'])}, Indian date.")


CHANGE = Action("change-duty", Role.ADMIN, _ask_change, _change)
ADD = Action("add-duty", Role.ADMIN, _ask_add, _add)
REMOVE = Action("remove-duty", Role.ADMIN, _ask_remove, _remove)
NEW = Action("new-duty", Role.ADMIN, _ask_new, _make)
ACTIONS = (ADD, CHANGE, REMOVE, NEW)
