"""The price changes of the last minute, which the board shows where they were made, with a button to undo."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bullion.console.html import Html, el
from bullion.console.page import Visit
from bullion.console.pages.market.undo_line import UNDO
from bullion.console.paths import MARKET
from bullion.console.shared_read import SLOWER_S
from bullion.desk.actions.undo import list_undoable
from bullion.desk.audit_sentences import audit_text_of
from bullion.desk.desk import View
from bullion.metals.symbol import Side
from bullion.records.token import Role

from .margin_step import CLIENT
from .offers import margin_changes
from .stepper import amount

_SHOWN = 2
_OF_GROUPS = ("step_margin", "patch_group", "put_group")


@dataclass(frozen=True, slots=True)
class Change:
    number: int
    text: str
    left_s: int
    cells: frozenset[tuple[str, str, Side]]
    """The cells of the board that it changed."""


async def recent_changes(visit: Visit, symbols: Iterable[str]) -> list[Change]:
    """Those that the visitor may undo, newest first."""
    codes = list(symbols)
    reading = await visit.read((MARKET, "undo"), list_undoable, SLOWER_S)
    found = [
        each
        for each in reading.value or ()
        if _left_s(visit, each) > 0 and (each["actor"] == visit.actor.name or visit.has_role(Role.ADMIN))
    ]
    return [_change(visit, each, codes) for each in found[:_SHOWN]]


def _left_s(visit: Visit, each: View) -> int:
    return int((datetime.fromisoformat(each["until"]) - visit.now).total_seconds())


def _change(visit: Visit, each: View, symbols: list[str]) -> Change:
    subject, left_s = each["subject"], _left_s(visit, each)
    if each["action"] not in _OF_GROUPS:
        text = f"{audit_text_of(each['action']).capitalize()}: {subject}"
        return Change(each["number"], text, left_s, frozenset())
    moved = margin_changes(each["before"], each["after"], symbols)
    text = f"Margins of {subject}"
    if len(moved) == 1:
        (((symbol, side), (was, now)),) = moved.items()
        text = f"{subject} {symbol}, {CLIENT[side]}: margin {amount(was)} → {amount(now)}"
    return Change(each["number"], text, left_s, frozenset((subject, *cell) for cell in moved))


def changes_line(changes: Iterable[Change]) -> Html:
    """Stays in the page while it is empty, so that screen readers announce what comes into it."""
    return el("div", [_line(each) for each in changes], class_="changed", role="status", id="undo")


def _line(change: Change) -> Html:
    button = el(
        "button",
        f"Undo · {change.left_s} s",
        type="button",
        class_="small",
        data_act=UNDO.path("actions", {"number": str(change.number)}),
        aria_label=f"Undo: {change.text}",
    )
    return el("span", el("span", change.text), button, data_key=f"change-{change.number}")
