"""Why an account's orders were refused lately, by the decisions that were noted on them."""

from collections.abc import Sequence

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.pages.orders.addresses import decision_path
from bullion.console.pages.orders.comparison import compared_facts, compared_words
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import Column, Line, card, empty, table
from bullion.console.widgets.formatting import weight
from bullion.console.widgets.times import moment
from bullion.desk.desk import View
from bullion.refusals.catalogue import CATALOGUE

DECISIONS_READ = 100
_SHOWN = 20
_CODES = frozenset(refusal.code for refusal in CATALOGUE)
_COLUMNS = (
    Column("When"),
    Column("Where"),
    Column("Asked for"),
    Column("Refused with"),
    Column("What was compared"),
)


def refusals_card(visit: Visit, reading: Reading[list[View]]) -> Html:
    title = "Refused lately"
    if reading.value is None:
        shown = empty(reading.trouble or "Not read yet.", "It is tried again by itself.")
        return card(title, shown, name="refusals")
    refused = [each for each in reading.value if each["outcome"] in _CODES]
    hint = f"of its last {len(reading.value)} decisions"
    if not refused:
        shown = empty(
            "Nothing was refused lately.",
            "An order that is refused stands here with the reason and the numbers behind it. A call that is "
            "refused for its key or its budget is not an order yet, and is in the log alone.",
        )
        return card(title, shown, name="refusals")
    lines = [Line(each["request_id"], _cells(visit, each)) for each in refused[:_SHOWN]]
    aside = el("span", f"{len(refused)} {hint}", class_="hint")
    return card(title, table(_COLUMNS, lines, name="refusals-table"), aside=aside, name="refusals")


def _cells(visit: Visit, each: View) -> Sequence[Child]:
    return (
        moment(each["at"], visit.zone, visit.now),
        each["environment"],
        _asked(each["asked"]),
        [el("code", each["outcome"]), el("small", each["message"]) if each["message"] else None],
        [
            _compared(visit, each),
            el("small", el("a", "Why, in full", href=decision_path(each["request_id"]))),
        ],
    )


def _compared(visit: Visit, each: View) -> Child:
    """In a sentence where there is one, and else number by number."""
    compared = each["compared"]
    unit = compared.get("unit")
    return compared_words(each, unit) or [
        el("span", f"{label}: ", el("b", value), class_="compared")
        for label, value in compared_facts(visit, compared, unit)
    ]


def _asked(asked: View | None) -> Child:
    if asked is None:
        return el("span", "not understood", class_="hint")
    side = asked["trade_type"]
    amount = weight(asked["quantity"], "").strip()
    kind = f"side {side}" if side in ("buy", "sell") else "side"
    return el("span", el("b", side, class_=kind), f" {amount} {asked['symbol_code']}", class_="order")
