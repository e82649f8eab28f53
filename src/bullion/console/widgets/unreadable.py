"""Rows of the store that cannot be read: which, why, what that stops, and what to do about it."""

from collections.abc import Sequence

from bullion.console.html import Html, el
from bullion.console.page import Visit
from bullion.desk.desk import View

from .components import BAD, Column, card, state, table

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
    shown = table(visit, "unreadable-table", _COLUMNS, rows, key=lambda each: each[0], css=lambda _: "late")
    return card("Cannot be read", shown, aside=state(BAD, f"{len(rows)} not traded"), name="unreadable")
