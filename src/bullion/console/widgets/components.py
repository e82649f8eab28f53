"""Cards, tables, states and empty states: what every page is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from bullion.console.html import Child, Html, el

GOOD, WARN, BAD, OFF = "good", "warn", "bad", "off"
_MARKS = {GOOD: "●", WARN: "▲", BAD: "■", OFF: "○"}
"""A shape as well as a colour: not everybody sees the difference of colours."""


def state(kind: str, words: str, title: str | None = None) -> Html:
    """A state, told by a shape, a colour and a word."""
    return el("span", el("i", _MARKS[kind], aria_hidden="true"), words, class_=f"state {kind}", title=title)


def card(title: str, *content: Child, aside: Child = None, name: str | None = None) -> Html:
    """A part of a page under its own heading; `aside` stands at the right of it."""
    heading = el("header", el("h2", title), el("div", aside, class_="aside") if aside else None)
    return el("section", heading, *content, class_="card", id=name, data_card=name)


def empty(what: str, next_step: Child) -> Html:
    """Nothing here: what that means, and what to do next."""
    return el("div", el("p", what, class_="what"), el("p", next_step), class_="empty")


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    number: bool = False
    """Digits stand below digits: to the right."""


def table(columns: Sequence[Column], rows: Sequence["Line"], *, name: str) -> Html:
    head = el("tr", [el("th", each.title, scope="col", class_=_kind(each)) for each in columns])
    return el(
        "div",
        el("table", el("thead", head), el("tbody", [_row(columns, row) for row in rows]), id=name),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=name.replace("-", " "),
    )


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table; `key` tells it from the others when the table is looked at anew."""

    key: str
    cells: Sequence[Child]
    kind: str | None = None


def _row(columns: Sequence[Column], line: Line) -> Html:
    cells = [el("td", cell, class_=_kind(column)) for column, cell in zip(columns, line.cells, strict=True)]
    return el("tr", cells, data_key=line.key, class_=line.kind)


def _kind(column: Column) -> str | None:
    return "number" if column.number else None
