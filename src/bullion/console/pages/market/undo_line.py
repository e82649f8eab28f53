"""The line above the market's tabs with the price changes of the last minute, to take back with one click."""

from datetime import datetime

from bullion.console.forms import Dialog
from bullion.console.html import Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.desk.actions.undo import list_undoable, undo_change
from bullion.desk.audit_sentences import audit_text_of
from bullion.desk.desk import View
from bullion.records.token import Role

_SHOWN = 3


async def undo_line(visit: Visit) -> Html | None:
    reading = await visit.read((MARKET, "undo"), list_undoable)
    found = [
        (each, left_s)
        for each in reading.value or ()
        if (left_s := _left_s(visit, each)) > 0
        and (each["actor"] == visit.actor.name or visit.has_role(Role.ADMIN))
    ]
    if not found:
        return None
    return el("ul", [_line(each, left_s) for each, left_s in found[:_SHOWN]], class_="undo", id="undo")


def _left_s(visit: Visit, each: View) -> int:
    return int((datetime.fromisoformat(each["until"]) - visit.now).total_seconds())


def _line(each: View, left_s: int) -> Html:
    what = f"{each['actor']} {audit_text_of(each['action'])}: {each['subject']}."
    button = el(
        "button",
        "Take back",
        type="button",
        class_="small",
        data_act=UNDO.path("actions", {"number": str(each["number"])}),
        aria_label=f"Take back the change of {each['subject']}",
    )
    left = el("span", f"{left_s} s left", class_="hint")
    return el("li", el("span", what), button, left, data_key=f"undo-{each['number']}")


async def _ask(visit: Visit) -> Dialog:
    return Dialog(
        title=f"Take back entry {visit.param('number')}?",
        text=["The earlier prices apply again at once."],
        confirm="Take back",
    )


async def _undo(visit: Visit) -> Result:
    await undo_change(visit.desk, visit.actor, visit.param("number"))
    return Result("Taken back: the earlier prices apply again.")


UNDO = Action(MARKET, "undo", "Take back", undo_change, _ask, _undo)
