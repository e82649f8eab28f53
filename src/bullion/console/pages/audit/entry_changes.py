"""What an entry of the trail changed, field by field, before and after."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.widgets.components import NOTHING, hint
from bullion.console.widgets.times import clock
from bullion.desk.desk import View

_SHOWN = 4
_SHOWN_OF_WHOLE = 3
"""Of something that was created or deleted, where every field is listed."""
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00")
"""How the desk's actions write times."""


def flat(value: Any, zone: ZoneInfo, name: str = "") -> Iterator[tuple[str, str]]:
    """Every field by its full name, with its value as text."""
    match value:
        case dict():
            for key, below in sorted(value.items()):
                yield from flat(below, zone, f"{name}.{key}" if name else str(key))
        case list() if any(isinstance(each, dict | list) for each in value):
            for number, each in enumerate(value, 1):
                yield from flat(each, zone, f"{name} {number}")
        case list():
            yield name, ", ".join(_text(each, zone) for each in value) or NOTHING
        case _:
            yield name, _text(value, zone)


def _text(value: Any, zone: ZoneInfo) -> str:
    match value:
        case None | "":
            return NOTHING
        case True:
            return "yes"
        case False:
            return "no"
        case str() if _INSTANT.fullmatch(value):
            at = datetime.fromisoformat(value)
            return f"{at.astimezone(zone):%d %b %Y} {clock(at, zone)}"
        case _:
            return str(value)


def changes(before: Any, after: Any, zone: ZoneInfo) -> list[tuple[str, str | None, str | None]]:
    """Fields that differ, each before and after; None: it did not exist."""
    was, now = dict(flat(before or {}, zone)), dict(flat(after or {}, zone))
    names = [*was, *(name for name in now if name not in was)]
    return [(name, was.get(name), now.get(name)) for name in names if was.get(name) != now.get(name)]


def changes_html(visit: Visit, entry: View) -> Html:
    """A line for each field that changed; all but the first few are folded."""
    before, after = entry["before"], entry["after"]
    found = changes(before, after, visit.zone)
    if not found:
        return hint("nothing changed")
    shown = _SHOWN
    if before is None or after is None:
        shown = _SHOWN_OF_WHOLE
        # Created or deleted: fields without a value are left out.
        found = [each for each in found if (each[1] or each[2]) != NOTHING]
    first, rest = found[:shown], found[shown:]
    more = None
    if rest:
        summary = el("summary", f"and {len(rest)} more")
        more = el("details", summary, [_line(*each) for each in rest], id=f"more-{entry['ordinal']}")
    return el("div", [_line(*each) for each in first], more, class_="difference")


def _line(name: str, was: str | None, now: str | None) -> Html:
    shown: list[Child] = [el("span", name.replace("_", " "), class_="field-name")]
    if was is not None:
        shown.append(el("del", was))
    if was is not None and now is not None:
        shown.append(el("span", "→", class_="hint", aria_label="became"))
    if now is not None:
        shown.append(el("ins", now))
    return el("div", shown, class_="change")
