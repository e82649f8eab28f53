"""The rate board: what the clients of each group pay in each symbol, with the margins to step."""

import asyncio
from collections.abc import Mapping, Sequence

from bullion.console import switchboard
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Visit
from bullion.console.pages.market import groups as group_forms
from bullion.console.pages.market import rates as rate_forms
from bullion.console.pages.market.market_data import groups_of, rates_of, switches_of, symbols_of
from bullion.console.pages.market.pins import pin_marks
from bullion.console.pages.market.symbol_text import price_state
from bullion.console.pages.market.symbols import FREEZE, UNFREEZE
from bullion.console.paths import RATES, page_path, rate_path
from bullion.console.shared_read import Reading
from bullion.console.watch import HISTORY_S, Listed
from bullion.console.widgets.charts import line_chart
from bullion.console.widgets.components import (
    BAD,
    HOLD,
    NOTHING,
    OFF,
    WARN,
    card,
    empty,
    freshness,
    hint,
    mark,
    not_read,
    scroll_region,
)
from bullion.console.widgets.formatting import age, grouped, weight
from bullion.desk.actions.quotes import LIVE
from bullion.desk.desk import View
from bullion.metals.rupees import rupees_text
from bullion.refusals.refusal import RefusalError

from .changes import Change, changes_line, recent_changes
from .margin_step import CLIENT, STEP
from .offers import SIDES, BoardRow, Cell, board_rows
from .stepper import OLD_NOTE, amount, stepper

OLD_S = 3
"""Prices that were read longer ago are grey, and no margin is stepped by them."""
_CELLS_MAX = 400
"""So many prices are on one page, so that it stays quick to make and to read."""
_AWAY_NOTE = "away-prices"
DaySummaries = Mapping[str, View]
"""By symbol: today's `open`, `high`, `low`, `change` and `change_percent`, as texts or None."""
_HALT, _RESUME = (each for each in switchboard.ACTIONS if each.name in ("halt", "resume"))


async def board_page(visit: Visit) -> Html:
    switches = await switches_of(visit)
    halt = (
        _RESUME.button(visit)
        if switches["halted"]
        else press(visit, _HALT, {}, "Halt all trading", kind="danger")
    )
    board = await rate_board(visit, groups_max=None, aside=halt)
    references = await rate_forms.rates_card(visit, "Rates before premiums")
    return el("div", el("h1", "Rates", class_="unseen"), board, references, class_="rates-page")


async def rate_board(
    visit: Visit,
    *,
    groups_max: int | None,
    aside: Child = None,
) -> Html:
    """The card of the board; `groups_max` is how many groups there is room for."""
    reading = await visit.watch.quotes.get(visit.actor)
    days = await visit.watch.day_summaries.get(visit.actor)
    quotes, total = reading.value or ([], 0)
    if reading.value is None:
        return card("Rates", not_read(reading), name="rates")
    try:
        found, symbols, rates = await asyncio.gather(groups_of(visit), symbols_of(visit), rates_of(visit))
    except RefusalError as refused:
        return card("Rates", empty(refused.message, "It is tried again every second."), name="rates")
    if not quotes:
        next_step = [
            "A symbol defines what clients trade and at which price. Create one under Market, or with ",
            el("code", "bullion desk symbols put"),
            ".",
        ]
        return card("Rates", empty("There are no symbols yet.", next_step), name="rates")
    trading = [each for each in found if each["trading"]]
    groups = shown_groups(trading, visit.param("group"), groups_max or _CELLS_MAX // (2 * len(quotes)))
    by_code = {each["code"]: each for each in symbols}
    changes = await recent_changes(visit, by_code)
    view = _Board(visit, groups, reading, changes, days.value or {}, rates)
    codes = [each["code"] for each in trading]
    rows = board_rows(quotes, by_code, groups)
    return card(
        "Rates",
        view.notes(),
        view.group_links(codes, needed=groups_max is None and len(groups) < len(trading)),
        view.table(rows),
        aside=[
            freshness(reading),
            _left_out(len(quotes), total, len(trading) - len(groups)),
            changes_line(changes),
            aside,
        ],
        name="rates",
    )


def shown_groups(groups: Sequence[View], chosen: str, room: int) -> Sequence[View]:
    """The first ones, and the one that was chosen in the address."""
    first = groups[: max(1, room)]
    found = [each for each in groups if each["code"] == chosen and each not in first]
    return [*first[: max(0, room - 1)], *found] if found else first


def _left_out(shown: int, total: int, groups: int) -> Child:
    texts = []
    if shown < total:
        texts.append(f"the first {shown} of {total} symbols")
    more = el("a", f"{groups} more groups" if groups > 1 else "1 more group", href=f"/{RATES}")
    return [hint(*texts) if texts else None, more if groups > 0 else None]


def press(
    visit: Visit,
    action: Action,
    about: Mapping[str, str],
    text: Child,
    *,
    kind: str = "",
    label: str | None = None,
) -> Html:
    """A button that does it at once, without a dialog before."""
    if not visit.has_role(action.role):
        return action.button(visit, about, kind=kind, label=label)
    path = action.path("actions", about)
    return el("button", text, type="button", class_=kind or None, data_act=path, aria_label=label)


class _Board:
    """The table of one visit, with what all of its cells have in common."""

    def __init__(
        self,
        visit: Visit,
        groups: Sequence[View],
        reading: Reading[Listed],
        changes: Sequence[Change],
        day_summaries: DaySummaries,
        rates: Sequence[View],
    ) -> None:
        self._visit = visit
        self._groups = groups
        self._age_s = reading.age_s
        self._old = reading.age_s >= OLD_S
        self._changed = frozenset(cell for each in changes for cell in each.cells)
        self._days = day_summaries
        self._rates = rates
        self._steps = visit.has_role(STEP.role)
        codes = [each["code"] for each in groups]
        chosen = visit.param("group")
        self._chosen = chosen if chosen in codes else (codes or [""])[0]

    def notes(self) -> Child:
        """Why prices are old, and why margins cannot be stepped. The script shows the second by itself."""
        away = "The console does not answer. Prices are old, and margins are locked until it answers."
        notes = [el("p", mark(WARN), away, class_="old-data away", id=_AWAY_NOTE)]
        if self._old:
            text = f"Prices are {age(self._age_s)} old. Margins are locked until new ones are read."
            notes.append(el("p", mark(WARN), text, class_="old-data", id=OLD_NOTE))
        return notes

    def group_links(self, codes: Sequence[str], *, needed: bool) -> Html | None:
        """Chooses the group that a narrow window shows; `needed`: a wide one cannot show all either."""
        if len(codes) < 2:
            return None
        path = self._visit.request.path.removeprefix("/live").strip("/")
        links = [
            el(
                "a",
                each,
                href=page_path(path, {"group": each}),
                aria_current="true" if each == self._chosen else None,
            )
            for each in codes
        ]
        return el("nav", links, class_="group-links needed" if needed else "group-links", aria_label="Group")

    def table(self, rows: Sequence[BoardRow]) -> Html:
        css = "board old" if self._old else "board"
        body = el("tbody", [self._row(each) for each in rows])
        return scroll_region(el("table", self._head(), body, class_=css, id="rates-table"), "Rates")

    def _head(self) -> Html:
        first: list[Child] = [
            el("th", "Symbol", rowspan=2, scope="col"),
            el("th", "Last hour", rowspan=2, scope="col", class_="roomy"),
            el(
                "th",
                "Reference ₹",
                el("small", "bid over ask"),
                rowspan=2,
                scope="col",
                class_="number reference",
            ),
            el("th", "Day", rowspan=2, scope="col", class_="number day"),
            el("th", "Low to high ₹", rowspan=2, scope="col", class_="number roomy range"),
        ]
        second = []
        for group in self._groups:
            code = group["code"]
            first.append(
                el(
                    "th",
                    self._terms_button(code),
                    colspan=2,
                    scope="colgroup",
                    class_=self._css(code, "group"),
                )
            )
            second += [
                el(
                    "th",
                    el("span", "client ", class_="long"),
                    f"{side}s ₹",
                    scope="col",
                    class_=self._css(code, f"number {side}"),
                )
                for side in SIDES
            ]
        first.append(el("th", el("span", "Actions", class_="unseen"), rowspan=2, scope="col", class_="end"))
        return el("thead", el("tr", first), el("tr", second))

    def _terms_button(self, code: str) -> Html:
        """The name of the group, which opens its default terms."""
        if not self._steps:
            return el("b", code)
        about = {"group": code, "symbol": group_forms.DEFAULT}
        label = f"{code}: default terms"
        return group_forms.EDIT.button(self._visit, about, text=code, kind="quiet name", label=label)

    def _css(self, group: str, kind: str) -> str:
        return kind if group == self._chosen else f"{kind} other"

    def _row(self, row: BoardRow) -> Html:
        quote = row.quote
        day = self._days.get(row.code, {})
        return el(
            "tr",
            el("td", _symbol(quote), self._pins(row), class_="symbol"),
            el("td", _history(self._visit, quote), class_="roomy"),
            el("td", _reference(quote, "bid"), _reference(quote, "ask"), class_="number reference"),
            el("td", _day_change(day), class_="number day"),
            el("td", _day_range(day), class_="number roomy range"),
            [
                el("td", self._cell(row, cell), class_=self._css(cell.group, f"number cell {cell.side}"))
                for cell in row.cells
            ],
            el("td", self._actions(row), class_="end"),
            data_key=row.code,
        )

    def _pins(self, row: BoardRow) -> Child:
        return None if row.symbol is None else pin_marks(self._visit, self._rates, row.symbol["pricing"])

    def _cell(self, row: BoardRow, cell: Cell) -> Child:
        tradable = row.quote["state"] == LIVE and not self._old
        label = el("span", f"{CLIENT[cell.side]} ₹", class_="narrow-label")
        if cell.margin_paise is None:
            return [label, el("span", NOTHING, class_="price"), el("small", "not offered", class_="margin")]
        wrong = "price wrong" if cell.problem else "price"
        problem = el("span", mark(BAD), cell.problem, class_="problem") if cell.problem else None
        shown = el("span", _price(cell.price_paise), class_=wrong if tradable else f"{wrong} old")
        return [label, problem, shown, self._margin(row, cell, cell.margin_paise)]

    def _margin(self, row: BoardRow, cell: Cell, margin_paise: int) -> Html:
        step_paise = row.step_paise
        if not self._steps or step_paise is None:
            return el("small", f"margin {amount(margin_paise)}", class_="margin")
        changed = cell.key in self._changed
        return stepper(*cell.key, margin_paise, step_paise, changed=changed, locked=self._old)

    def _actions(self, row: BoardRow) -> Child:
        if row.symbol is None:
            return None
        visit, code, about = self._visit, row.code, {"code": row.code}
        if row.symbol["frozen"]:
            text = [mark(OFF), el("span", "Unfreeze", class_="long")]
            return UNFREEZE.button(visit, about, text=text, kind="small", label=f"Unfreeze {code}")
        instrument = row.symbol["pricing"].get("instrument")
        if row.quote["state"] in ("no_rate", "stale") and instrument not in (
            None,
            *visit.desk.fed_instruments,
        ):
            about = {"instrument": instrument}
            text = [el("span", "₹"), el("span", "Set rate", class_="long")]
            return rate_forms.SET.button(
                visit, about, text=text, kind="small", label=f"Set rate of {instrument}"
            )
        if not visit.has_role(FREEZE.role):
            return None
        text = [mark(HOLD), el("span", "Freeze", class_="long")]
        return press(visit, FREEZE, about, text, kind="small quiet", label=f"Freeze {code}")


def _symbol(quote: View) -> Child:
    quiet = quote["state"] == LIVE and not quote["crossed"]
    about = None
    if quote["unit"] is not None:
        about = el("small", f"{quote['metal']}, per {weight(quote['quoted_weight'], quote['unit'])}")
    chart = el("a", quote["symbol_code"], href=rate_path(quote["symbol_code"]))
    return [el("b", chart), about, None if quiet else price_state(quote)]


def _history(visit: Visit, quote: View) -> Html:
    code = quote["symbol_code"]
    return line_chart(
        list(visit.watch.price_history.get(code, ())),
        until=int(visit.now.timestamp()),
        span=HISTORY_S,
        width=88,
        height=28,
        label=f"{code} over the last hour",
    )


def _price(paise: int | None) -> Child:
    return NOTHING if paise is None else _with_small_paise(grouped(rupees_text(paise)))


def _with_small_paise(text: str) -> Child:
    whole, point, part = text.partition(".")
    return [whole, el("span", point, part, class_="paise")]


def _reference(quote: View, side: str) -> Html:
    text = quote[side]
    return el("div", NOTHING if text is None else _with_small_paise(grouped(text)))


def _day_change(day: View) -> Child:
    percent, change = day.get("change_percent"), day.get("change")
    if percent is None or change is None:
        return NOTHING
    if not change.strip("-0."):
        return "unchanged"
    down = change.startswith("-")
    sign, mark_text, css = ("", "▼", "down") if down else ("+", "▲", "up")
    return [
        el("b", f"{sign}{grouped(percent)} %", class_=css),
        el("small", f"{mark_text} {grouped(change.removeprefix('-'))}"),
    ]


def _day_range(day: View) -> Child:
    low, high = day.get("low"), day.get("high")
    if low is None or high is None:
        return NOTHING
    opened = day.get("open")
    return [
        f"{grouped(low)} – {grouped(high)}",
        el("small", f"open {grouped(opened)}") if opened else None,
    ]
