"""Rows of the store that cannot be read: which, why, what that stops, and what to do about it."""

from collections.abc import Sequence

from bullion.console.html import Html, el
from bullion.desk.desk import View

from .components import BAD, Column, Line, card, state, table

_COLUMNS = (Column("What"), Column("Why"), Column("What that stops"), Column("What to do"))


def unreadable_card(found: Sequence[tuple[str, View]]) -> Html | None:
    """Each with what it is, such as `symbol GOLD`. None when everything can be read."""
    if not found:
        return None
    lines = [
        Line(name, (el("b", name), each["unreadable"], each["effect"], each["remedy"]), "late")
        for name, each in found
    ]
    return card(
        "Cannot be read",
        table(_COLUMNS, lines, name="unreadable-table"),
        aside=state(BAD, f"{len(found)} out of trade"),
        name="unreadable",
    )
