"""Cards, tables, states, searches and empty states: what every page is made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bullion.console.html import Child, Html, el, join
from bullion.console.page import Visit
from bullion.console.shared_read import Reading
from bullion.desk.desk import View

from .formatting import age, zone_name

GOOD, WAIT, WARN, BAD, HOLD, OFF, DONE, SIMULATED = "ok", "wait", "warn", "bad", "hold", "off", "done", "sim"
"""Well, waiting, look soon, act now, stopped by us, switched off, finished, simulated: each has a shape."""
NOTHING = "–"
_ACTIONS = el("span", "Actions", class_="unseen")
"""The title of a column that needs none to be seen."""


def mark(kind: str) -> Html:
    """The shape of a state, for people who cannot tell the colours apart."""
    return el("i", class_=f"mark {kind}", aria_hidden="true")


def state(kind: str, text: Child, title: str | None = None) -> Html:
    """A state, shown by a shape, a colour and a word."""
    return el("span", mark(kind), text, class_=f"state {kind}", title=title)


def pill(kind: str, text: Child) -> Html:
    """A state on a ground of its colour, where it must be found among other things."""
    return el("span", mark(kind), text, class_=f"pill {kind}")


def on_off(*, on: bool, kind: str = GOOD, off: str = OFF) -> Html:
    return state(kind, "on") if on else state(off, "off")


def hint(*text: Child) -> Html:
    return el("span", text, class_="hint")


def small(text: Child) -> Html | None:
    """A second line in a cell; nothing where there is no text."""
    return el("small", text) if text else None


def card(title: str, *content: Child, aside: Child = None, name: str | None = None) -> Html:
    """A part of a page under its own heading; `aside` stands at the right of the heading."""
    beside = join([aside])
    heading = el("header", el("h2", title), el("div", beside, class_="aside") if beside else None)
    return el("section", heading, *content, class_="card", id=name, data_card=name)


def empty(what: str, next_step: Child) -> Html:
    """Nothing here: what that means, and what to do next."""
    return el("div", el("p", what, class_="what"), el("p", next_step), class_="empty")


def not_read(reading: Reading[Any], next_step: Child = "It is tried again every second.") -> Html:
    """In place of what could not be read."""
    return empty(reading.error or "Loading.", next_step)


def freshness(reading: Reading[Any]) -> Child:
    """How old the data is, where it could not be read again."""
    if reading.error is None or reading.read_at is None:
        return None
    return state(WARN, f"{age(reading.age_s)} old", reading.error)


def facts(pairs: Sequence[tuple[str, Child]]) -> Html:
    """Names and values; those without a value are left out."""
    shown = [el("div", el("dt", name), el("dd", value)) for name, value in pairs if value]
    return el("dl", shown, class_="facts")


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    cell: Callable[[Visit, Any], Child]
    number: bool = False
    """Right-aligned, so that digits stand below digits."""
    time: bool = False
    """Its cells are `moment_in_column`; its head names the broker's time zone."""

    def head(self, visit: Visit) -> str:
        return f"{self.title}, {zone_name(visit.now.astimezone(visit.zone))}" if self.time else self.title

    @property
    def css(self) -> str | None:
        return "number" if self.number else None


Key = str | int | Callable[[Any], str]
"""Identifies a row when a table is refreshed: the name or place of a value in it, or a function of it."""


def table(
    visit: Visit,
    name: str,
    columns: Sequence[Column],
    rows: Sequence[Any],
    *,
    key: Key,
    css: Callable[[Any], str | None] = lambda _: None,
) -> Html:
    """`css` is the class of a row. A cell names its column, which narrow windows show instead of the head."""
    heads = [each.head(visit) for each in columns]
    head = el(
        "tr",
        [
            el("th", title or _ACTIONS, scope="col", class_=each.css)
            for each, title in zip(columns, heads, strict=True)
        ],
    )
    body = [
        el(
            "tr",
            [
                el("td", column.cell(visit, row), class_=column.css, data_column=title or None)
                for column, title in zip(columns, heads, strict=True)
            ],
            data_key=key(row) if callable(key) else str(row[key]),
            class_=css(row),
        )
        for row in rows
    ]
    return scroll_region(el("table", el("thead", head), el("tbody", body), id=name), name.replace("-", " "))


def scroll_region(content: Html, label: str) -> Html:
    """Scrolls sideways by itself where the window is narrow, also by keyboard."""
    return el("div", content, class_="scroll", tabindex="0", role="region", aria_label=label)


def table_card(
    visit: Visit,
    title: str,
    name: str,
    columns: Sequence[Column],
    rows: Sequence[Any],
    *,
    key: Key,
    nothing: tuple[str, Child],
    css: Callable[[Any], str | None] = lambda _: None,
    aside: Child = None,
    reading: Reading[Any] | None = None,
) -> Html:
    """A card with one table. Without rows, it says what that means and what to do next.

    `reading` is where the rows come from: the card says how old they are, or why there are none.
    """
    if reading is not None:
        aside = [freshness(reading), aside]
        if reading.value is None:
            return card(title, not_read(reading), aside=aside, name=name)
    shown = table(visit, f"{name}-table", columns, rows, key=key, css=css) if rows else empty(*nothing)
    return card(title, shown, aside=aside, name=name)


def search_form(path: str, name: str, *, value: str = "", placeholder: str, label: str, button: Html) -> Html:
    box = el(
        "input",
        type="search",
        name=name,
        value=value,
        placeholder=placeholder,
        aria_label=label,
        maxlength=100,
        autocomplete="off",
        spellcheck="false",
    )
    clear = el("a", "Show all", href=path) if value else None
    return el(
        "form", box, button, clear, method="get", action=path, role="search", class_="search", id="search"
    )


def paging(back: tuple[str, str] | None, forward: tuple[str, str] | None) -> Html | None:
    """Links to the pages of a list before and after this one, each with its text and its address."""
    links = [el("a", text, href=path) for text, path in (each for each in (back, forward) if each)]
    return el("p", links, class_="paging") if links else None


def copyable(text: str, name: str, *, label: str) -> Html:
    """A text with a button that copies it; where the browser does not allow that, the text is selected."""
    return el(
        "div",
        el("code", text, id=name, tabindex="0", aria_label=label),
        el("button", "Copy", type="button", data_copy=name, aria_label=f"Copy: {label}"),
        el("span", class_="copied", role="status"),
        class_="copyable",
    )


def shown_once(title: str, explanation: Sequence[Child], secret: str, *, label: str) -> Html:
    """A secret in a dialog that stays open until somebody closes it by its button."""
    close = el("button", "I have copied it, close", type="button", class_="primary", data_close=True)
    return el(
        "div",
        el("h2", title, id="dialog-title"),
        copyable(secret, "secret", label=label),
        el("div", [el("p", each) for each in explanation], class_="explanation"),
        el("div", close, class_="buttons"),
        class_="dialog",
        data_stay=True,
    )


_COLUMNS = (
    Column("What", lambda _, each: el("b", each[0])),
    Column("Why", lambda _, each: each[1]["unreadable"]),
    Column("Effect", lambda _, each: each[1]["effect"]),
    Column("What to do", lambda _, each: each[1]["remedy"]),
)


def unreadable_card(visit: Visit, rows: Sequence[tuple[str, View]]) -> Html | None:
    """Each with what it is, such as `symbol GOLD`. None when everything can be read."""
    if not rows:
        return None
    shown = table(visit, "unreadable-table", _COLUMNS, rows, key=0, css=lambda _: "late")
    return card("Cannot be read", shown, aside=state(BAD, f"{len(rows)} not traded"), name="unreadable")
