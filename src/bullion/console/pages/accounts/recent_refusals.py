"""Refused orders of an account, from the last decisions."""

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.pages.orders.comparison import comparison_facts, comparison_sentences
from bullion.console.pages.orders.order_format import order_text
from bullion.console.paths import decision_path
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import Column, card, hint, not_read, small, table_card
from bullion.console.widgets.times import moment
from bullion.desk.desk import View
from bullion.refusals.catalogue import CATALOGUE

DECISIONS_READ = 100
_SHOWN = 20
_CODES = frozenset(refusal.code for refusal in CATALOGUE)


def refusals_card(visit: Visit, reading: Reading[list[View]]) -> Html:
    title = "Recent refusals"
    if reading.value is None:
        return card(title, not_read(reading), name="refusals")
    refused = [each for each in reading.value if each["outcome"] in _CODES]
    return table_card(
        visit,
        title,
        "refusals",
        _COLUMNS,
        refused[:_SHOWN],
        key=lambda each: str(each["request_id"]),
        nothing=(
            "No recent refusals.",
            "Refused orders are listed here. Requests refused for their key or a rate limit are in the log.",
        ),
        aside=hint(f"{len(refused)} of its last {len(reading.value)} decisions") if refused else None,
    )


def _order(_visit: Visit, each: View) -> Child:
    asked = each["asked"]
    return hint("could not be read") if asked is None else el("span", order_text(asked), class_="order")


def _compared(visit: Visit, each: View) -> Child:
    """A sentence where there is one, else number by number."""
    compared = each["compared"]
    unit = compared.get("unit")
    shown = comparison_sentences(each, unit) or [
        el("span", f"{label}: ", el("b", value), class_="compared")
        for label, value in comparison_facts(visit, compared, unit)
    ]
    return [shown, small(el("a", "Full decision", href=decision_path(each["request_id"])))]


_COLUMNS = (
    Column("When", lambda visit, each: moment(each["at"], visit.zone, visit.now)),
    Column("Environment", lambda _, each: each["environment"]),
    Column("Order", _order),
    Column("Refused with", lambda _, each: [el("code", each["outcome"]), small(each["message"])]),
    Column("What was compared", _compared),
)
