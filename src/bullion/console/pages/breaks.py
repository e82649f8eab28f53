"""The card of breaks on the overview. Those without an order of ours are settled there."""

from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.pages.orders.addresses import order_path
from bullion.console.shared_read import Reading
from bullion.console.watch import Listed
from bullion.console.widgets.components import BAD, Column, Line, card, state, table
from bullion.console.widgets.dialog import action_button, dialog, field
from bullion.console.widgets.formatting import weight
from bullion.desk.actions import breaks
from bullion.desk.bodies import NoteBody
from bullion.desk.conversion import convert
from bullion.desk.desk import View
from bullion.records.token import Role

PAGE_NAME = "overview"
_NOTHING = "–"


def breaks_card(visit: Visit, reading: Reading[Listed]) -> Child:
    """Only while there are any; then above everything else."""
    found, total = reading.value or ([], 0)
    if not total:
        return None
    columns = (
        Column("Order or execution"),
        Column("Account"),
        Column("The order is"),
        Column("The venue said"),
        Column(""),
    )
    lines = [
        Line(
            each["break_id"],
            (
                order_link(each) if each["status"] else _execution(each),
                each["login_id"] or _NOTHING,
                each["status"] or _NOTHING,
                each["words"] or _NOTHING,
                None if _is_of_order(each) else _settle_button(visit, each),
            ),
            "late",
        )
        for each in found
    ]
    aside = [
        state(BAD, f"{total} to settle"),
        el("span", "open the order to settle it", class_="hint"),
    ]
    return card("Breaks", table(columns, lines, name="breaks-table"), aside=aside, name="breaks")


def order_link(each: View) -> Html:
    side = each["trade_type"]
    return el(
        "a",
        el("b", side, class_=f"side {side}"),
        f" {weight(each['quantity'], each['unit'])} {each['symbol_code']}",
        class_="order",
        href=order_path(each["order_id"]),
    )


def _execution(each: View) -> Child:
    side, unit = each["trade_type"], each["unit"]
    size = each["quantity"] if unit is None else weight(each["quantity"], unit)
    return [el("b", side, class_=f"side {side}"), f" {size} {each['instrument']}"]


def _is_of_order(each: View) -> bool:
    """Such a break is settled on the page of its order."""
    return bool(each["reason"] == breaks.CONTRADICTS_ORDER)


def _settle_button(visit: Visit, each: View) -> Html:
    about = {"id": each["break_id"]}
    return action_button(visit, PAGE_NAME, SETTLE, "Settle", about=about, kind="primary")


async def _ask_settle(visit: Visit) -> Html:
    return dialog(
        "Settle the break?",
        [
            f"The venue made execution {visit.query.get('id', '')}, and no order of ours accounts for it.",
            (
                "Square it at the venue first, then write down what was done. The break leaves the overview, "
                "and the execution no longer counts in the exposure."
            ),
            "Your name stands in the audit trail.",
        ],
        confirm="It is settled",
        fields=[field("What was done", "note", hint="It stays with the execution.", required=True)],
    )


async def _settle(visit: Visit) -> Result:
    sent = {"note": visit.form.get("note", "").strip()}
    body = convert(sent, NoteBody)
    await breaks.resolve_break(visit.desk, visit.actor, visit.query.get("id", ""), body)
    return Result("The break is settled.")


SETTLE = Action("settle", Role.DEALER, _ask_settle, _settle)
