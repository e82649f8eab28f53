"""The card of breaks on the overview. Breaks without a recorded order are settled there."""

from bullion.console.forms import Dialog, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import OVERVIEW, account_path, order_path
from bullion.console.shared_read import Reading
from bullion.console.watch import Listed
from bullion.console.widgets.components import BAD, NOTHING, Column, card, hint, state, table
from bullion.console.widgets.formatting import weight
from bullion.desk.actions.breaks import CONTRADICTS_ORDER, resolve_break
from bullion.desk.bodies import NoteBody
from bullion.desk.desk import View


def breaks_card(visit: Visit, reading: Reading[Listed]) -> Child:
    """Only while there are any; then above everything else."""
    rows, total = reading.value or ([], 0)
    if not total:
        return None
    shown = table(visit, "breaks-table", _COLUMNS, rows, key="break_id", css=lambda _: "late")
    aside = [state(BAD, f"{total} to settle"), hint("open the order to settle it")]
    return card("Breaks", shown, aside=aside, name="breaks")


def order_link(each: View) -> Html:
    text = _side_and_size(each, each["symbol_code"])
    return el("a", text, class_="order", href=order_path(each["order_id"]))


def _side_and_size(each: View, what: str) -> Child:
    side, unit = each["trade_type"], each["unit"]
    size = each["quantity"] if unit is None else weight(each["quantity"], unit)
    return [el("b", side, class_=f"side {side}"), f" {size} {what}"]


def _account_link(login_id: str | None) -> Child:
    return NOTHING if login_id is None else el("a", login_id, href=account_path(login_id))


def _settle_button(visit: Visit, each: View) -> Child:
    """A break of an order is settled on the page of the order."""
    if each["reason"] == CONTRADICTS_ORDER:
        return None
    return SETTLE.button(visit, {"id": each["break_id"]}, kind="primary")


async def _ask_settle(visit: Visit) -> Dialog:
    return Dialog(
        title="Settle the break?",
        text=[
            f"The venue made execution {visit.param('id')}, which belongs to no recorded order.",
            "Square it at the venue first, then note what was done.",
            "The break leaves the overview, and the execution no longer counts in the exposure.",
            "The audit trail records your name.",
        ],
        confirm="Mark as settled",
    )


async def settle(visit: Visit) -> Result:
    await resolve_break(visit.desk, visit.actor, visit.param("id"), NoteBody(note=visit.values["note"]))
    return Result("The break is settled.")


NOTE = field_of(NoteBody, "note", "What was done", "It is kept with the order or execution.")
SETTLE = Action(OVERVIEW, "settle", "Settle", resolve_break, _ask_settle, settle, (NOTE,))
_COLUMNS = (
    Column(
        "Order or execution",
        lambda _, each: order_link(each) if each["status"] else _side_and_size(each, each["instrument"]),
    ),
    Column("Account", lambda _, each: _account_link(each["login_id"])),
    Column("Our order", lambda _, each: each["status"] or NOTHING),
    Column("What the venue says", lambda _, each: each["words"] or NOTHING),
    Column("", _settle_button),
)
