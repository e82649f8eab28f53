"""A venue's statement of a day, compared with our fills: what is missing, what is extra, and what differs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bullion.console.forms import Day, Dialog, Field, Options, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.widgets.components import BAD, GOOD, WARN, Column, card, hint, state, table
from bullion.console.widgets.formatting import count, day_text, grouped, rate, trim_zeros
from bullion.desk.actions.statement import compare_day
from bullion.desk.bodies import StatementBody
from bullion.desk.desk import View

from .hedge_data import contracts_of

_ROWS_MAX = 200
"""Of each kind. A statement of another day differs in every line."""
_FORM_BYTES_MAX = 2 * 1024 * 1024
"""About 25,000 trades. The command compares longer statements."""
_EXAMPLE = "execution_id,symbol,side,quantity,price"


@dataclass(frozen=True, slots=True)
class CsvText(Field):
    """Pasted, or read from a file by the script."""

    def control(self, value: Any, _options: Options) -> Html:
        return el(
            "textarea",
            self.text(value),
            name=self.name,
            rows=8,
            spellcheck="false",
            placeholder=self.placeholder,
        )

    def html(self, value: Any = None, options: Options = ()) -> Html:
        file = el("input", type="file", accept=".csv,text/csv,text/plain", data_fills=self.name)
        chosen = el("label", el("span", "Or a file"), file, class_="field")
        return el("div", Field.html(self, value, options), chosen, class_="fields")


_VENUE = field_of(StatementBody, "venue", "Venue", "the name of the line, or desk for deals by telephone")
_DAY = Day("day", "Day", "of your trading hours' time zone", required=True)
_CSV = CsvText(
    "csv",
    "Trades of the day, as CSV",
    f"with the columns {_EXAMPLE.replace(',', ', ')}, in any order",
    required=True,
    placeholder=_EXAMPLE,
)


def statement_card(visit: Visit) -> Html:
    text = (
        "At the end of the day, compare the venue's list of trades with our fills, by execution id. "
        "Nothing is changed by it."
    )
    return card(
        "Statement",
        el("p", text, class_="inside"),
        aside=COMPARE.button(visit, kind="small"),
        name="statement",
    )


async def _ask(visit: Visit) -> Dialog:
    contracts = (await contracts_of(visit)).value or []
    venues = sorted({each["venue"] for each in contracts})
    return Dialog(
        title="Compare a statement",
        text=["Paste the venue's trades of one day, or choose the file. Nothing is changed."],
        confirm="Compare",
        values={
            "day": visit.now.astimezone(visit.zone).date().isoformat(),
            "venue": venues[0] if len(venues) == 1 else None,
        },
        options={"venue": [(each, each) for each in venues]},
    )


async def _compare(visit: Visit) -> Result:
    values = visit.values
    body = StatementBody(venue=values["venue"], day=values["day"].isoformat(), csv=values["csv"])
    report = await compare_day(visit.desk, visit.actor, body)
    said = "agrees" if report["agrees"] else "does not agree"
    return Result(f"The statement of {report['venue']} {said}.", reveal=_report(visit, report))


def _report(visit: Visit, report: View) -> Html:
    kinds = ("missing", "extra", "different", "bad_lines")
    numbers = [
        el(
            "div",
            el("span", name, class_="label"),
            el("b", count(number), class_="down" if wrong and number else None),
        )
        for name, number, wrong in (
            ("Matched", report["matched"], False),
            *((_TITLES[kind], len(report[kind]), True) for kind in kinds),
        )
    ]
    verdict = state(GOOD, "It agrees with our fills.")
    if not report["agrees"]:
        verdict = state(BAD, "It does not agree: settle each difference with the venue.")
    elif not report["matched"]:
        verdict = state(WARN, "There is nothing to compare: neither side has a trade of that day.")
    return el(
        "div",
        el("h2", f"Statement of {report['venue']}, {day_text(report['day'])}", id="dialog-title"),
        el("p", verdict),
        el("div", numbers, class_="money"),
        [_part(visit, kind, report[kind]) for kind in kinds if report[kind]],
        el("div", el("button", "Close", type="button", class_="primary", data_close=True), class_="buttons"),
        class_="dialog broad statement",
        data_stay=True,
    )


_TITLES = {
    "missing": "Missing at the venue",
    "extra": "Extra at the venue",
    "different": "Different",
    "bad_lines": "Lines that cannot be read",
}
_MEANINGS = {
    "missing": "we have these fills, and the statement does not",
    "extra": "the statement has these trades, and we do not",
    "different": "both have them, with other figures",
    "bad_lines": "they were not compared",
}


def _part(visit: Visit, kind: str, rows: Sequence[View]) -> Html:
    shown = rows[:_ROWS_MAX]
    key = "line" if kind == "bad_lines" else "execution_id"
    more = f", the first {_ROWS_MAX} of {count(len(rows))}" if len(rows) > _ROWS_MAX else ""
    heading = el("h3", f"{_TITLES[kind]} ", hint(_MEANINGS[kind] + more))
    return el("section", heading, table(visit, f"statement-{kind}", _COLUMNS[kind], shown, key=key))


def _side(_visit: Visit, each: View) -> Child:
    return el("b", each["side"], class_=f"side {each['side']}")


_EXECUTION = Column("Execution", lambda _, each: el("code", each["execution_id"]))
_TRADE = (
    _EXECUTION,
    Column("Symbol", lambda _, each: each["symbol"]),
    Column("Side", _side),
    Column("Quantity", lambda _, each: grouped(trim_zeros(each["quantity"])), number=True),
    Column("Price", lambda _, each: rate(each["price"]), number=True),
)
_COLUMNS = {
    "missing": _TRADE,
    "extra": _TRADE,
    "different": (
        _EXECUTION,
        Column("Field", lambda _, each: each["field"]),
        Column("Ours", lambda _, each: each["ours"], number=True),
        Column("Theirs", lambda _, each: el("b", each["theirs"]), number=True),
    ),
    "bad_lines": (
        Column("Line", lambda _, each: count(each["line"]), number=True),
        Column("What is wrong", lambda _, each: each["message"]),
    ),
}
COMPARE = Action(
    MARKET,
    "statement",
    "Compare a statement",
    compare_day,
    _ask,
    _compare,
    (_VENUE, _DAY, _CSV),
    form_bytes_max=_FORM_BYTES_MAX,
)
ACTIONS = (COMPARE,)
