"""The audit trail, newest first, filtered by person, action, subject and time."""

import asyncio
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from bullion.console.forms import Choice, Day, Field, FormErrors, fields_html, read_fields
from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.paths import (
    AUDIT,
    MARKET,
    USERS,
    account_path,
    audit_path,
    order_path,
    page_path,
)
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import (
    BAD,
    GOOD,
    NOTHING,
    OFF,
    WARN,
    Column,
    card,
    copyable,
    empty,
    freshness,
    hint,
    not_read,
    paging,
    small,
    state,
    table,
)
from bullion.console.widgets.formatting import clock, count, moment, moment_in_column
from bullion.desk.actions.audit import AuditSearch, AuditSearchResult, audit_head, find_audit
from bullion.desk.audit_sentences import audit_text_of, entry_names, sentences
from bullion.desk.audit_wording.parts import Ref
from bullion.desk.desk import Desk, View
from bullion.records.audit import Head
from bullion.records.token import Actor

from .trail_check import CHECK, TrailCheck, check_of

PAGE_SIZE = 50
_TEXT_MAX = 100
_BREAKS_SHOWN = 10
_DAYS = (Day("from", "From"), Day("to", "To"))
_FILTERS = (
    Field("who", "Who", placeholder="part of the name"),
    Choice("what", "Action"),
    Field("about", "About", placeholder="login, symbol, key …"),
    *_DAYS,
)


async def render(visit: Visit) -> Html:
    # No entry contains a NUL, and PostgreSQL refuses a query with one.
    chosen = {each.name: visit.param(each.name).replace("\0", "").strip()[:_TEXT_MAX] for each in _FILTERS}
    below = visit.param("below")
    error, days = None, {}
    try:
        days = read_fields(_DAYS, chosen)
    except FormErrors as errors:
        error = next(iter(errors.by_field.values()))
    wanted = AuditSearch(
        actor=chosen["who"] or None,
        action=chosen["what"] or None,
        subject=chosen["about"] or None,
        since_us=_midnight_us(visit, days.get("from")),
        until_us=_midnight_us(visit, days.get("to"), days=1),
        below=int(below) if below.isascii() and below.isdigit() and len(below) < 16 else None,
    )

    async def read(desk: Desk, actor: Actor) -> AuditSearchResult:
        return await find_audit(desk, actor, wanted, PAGE_SIZE)

    found, head = await asyncio.gather(
        visit.read((AUDIT, "list", wanted), read), visit.read((AUDIT, "head"), audit_head)
    )
    check = check_of(visit.watch)
    entries = card(
        "Entries",
        _filters(chosen, error),
        _entries(visit, found, chosen, check),
        aside=freshness(found),
        name="trail",
    )
    return el(
        "div", el("h1", "Audit", class_="unseen"), _trail_card(visit, head, check), entries, class_="audit"
    )


def _midnight_us(visit: Visit, day: date | None, *, days: int = 0) -> int | None:
    if day is None:
        return None
    return int(datetime.combine(day + timedelta(days=days), time(), visit.zone).timestamp()) * 1_000_000


# --- The chain ------------------------------------------------------------------------------------------


def _trail_card(visit: Visit, reading: Reading[Head | None], check: TrailCheck) -> Html:
    head = reading.value
    if head is None:
        text = "The head of the trail is missing." if reading.read_at else reading.error or "Loading."
        noted: Child = el("p", state(BAD, text), class_="head")
    else:
        entries = count(head.count)
        noted = el(
            "div",
            el("span", el("b", entries), " entries. Hash of the last entry:"),
            copyable(head.hash, "head-hash", label="the hash of the last entry"),
            small(
                "Keep the number and the hash somewhere outside of this service: "
                f"entry {entries} must always have this hash."
            ),
            class_="head",
        )
    broken = check.checked is not None and bool(check.checked.breaks)
    outcome = el("div", _outcome(visit, check), id="outcome", role="alert" if broken else None)
    shown = el("div", outcome, noted, class_="chain")
    return card("Integrity of the trail", shown, aside=CHECK.button(visit), name="chain")


def _outcome(visit: Visit, check: TrailCheck) -> Child:
    if check.running:
        return state(WARN, "Checking…")
    if check.error:
        return state(WARN, check.error)
    if check.checked is None or check.at is None:
        never = state(OFF, "not checked since the console was started")
        return [never, small("Each entry is chained to the one before.")]
    when = el("small", "checked at ", moment(check.at.isoformat(), visit.zone, visit.now))
    breaks = check.checked.breaks
    if not breaks:
        entries = count(check.checked.entries)
        return [state(GOOD, f"intact: all {entries} entries are as they were written"), when]
    shown = [
        el("li", el("a", f"entry {each.ordinal}", href=audit_path(each.ordinal)), f": {each.why}")
        for each in breaks[:_BREAKS_SHOWN]
    ]
    more = len(breaks) - len(shown)
    return [
        state(BAD, f"broken at entry {breaks[0].ordinal}"),
        el("ul", shown, el("li", f"and {more} more") if more else None),
        small("The store was changed by hand. Keep a copy of it, and call the operator of the service."),
        when,
    ]


# --- Filters and entries --------------------------------------------------------------------------------


def _filters(chosen: dict[str, str], error: str | None) -> Html:
    names = {*entry_names(), *([chosen["what"]] if chosen["what"] else [])}
    actions = sorted(((name, audit_text_of(name)) for name in names), key=lambda item: item[1])
    return el(
        "form",
        fields_html(_FILTERS, chosen, {"what": [("", "all"), *actions]}),
        el("button", "Show"),
        el("a", "Show all", href=f"/{AUDIT}") if any(chosen.values()) else None,
        el("p", error, class_="wrong", role="alert") if error else None,
        method="get",
        action=f"/{AUDIT}",
        role="search",
        class_="filters",
    )


def _entries(
    visit: Visit, reading: Reading[AuditSearchResult], chosen: dict[str, str], check: TrailCheck
) -> Child:
    found = reading.value
    if found is None:
        return not_read(reading, "It is tried again every few seconds.")
    below = visit.param("below")
    older = page_path(AUDIT, {**chosen, "below": str(found.below)}) if found.below is not None else None
    links = paging(
        ("← Newest", page_path(AUDIT, chosen)) if below else None, ("Older →", older) if older else None
    )
    if found.entries:
        broken = set() if check.checked is None else {each.ordinal for each in check.checked.breaks}
        rows = [
            {**each, "broken": each["ordinal"] in broken, "sentences": sentences(each, found.units)}
            for each in found.entries
        ]
        shown = table(
            visit,
            "audit-table",
            _COLUMNS,
            rows,
            key="ordinal",
            css=lambda each: "late" if each["broken"] else None,
        )
    elif found.below is not None:
        shown = empty(
            f"No matching entries down to entry {count(found.below)}.",
            "A long trail is searched in parts: continue with Older.",
        )
    elif any(chosen.values()) or below:
        shown = empty("No more matching entries.", "Change the filters, or show all.")
    else:
        shown = empty("The trail is empty.", "Every change made at the desk is recorded here.")
    return [shown, links]


def _ordinal(_visit: Visit, each: View) -> Child:
    number = el("b", count(each["ordinal"]), title=f"hash {each['hash']}")
    return [number, state(BAD, "broken here") if each["broken"] else None]


def _actor(_visit: Visit, each: View) -> Child:
    name, id_ = actor_parts(each["actor"])
    return [el("b", name), small(id_) if id_ else None]


def actor_parts(actor: str) -> tuple[str, str | None]:
    """The name, and the token or the user of the machine behind it: `Asha (0b6f1e2d3c4a5968)` or
    `command line (asha)`.
    """
    found = _ACTOR.fullmatch(actor)
    if found is None:
        return actor, None
    name, id_ = found.groups()
    return name, f"token {id_}" if _TOKEN_ID.fullmatch(id_) else f"user {id_}"


_ACTOR = re.compile(r"(.+) \(([^()]+)\)")
_TOKEN_ID = re.compile(r"[0-9a-f]{16}")


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


def sentences_html(visit: Visit, entry: View) -> Html:
    """What was done in words, and folded below it every field before and after."""
    said = [el("p", [_part(visit, part) for part in each]) for each in entry["sentences"]]
    found = changes(entry["before"], entry["after"], visit.zone)
    if entry["before"] is None or entry["after"] is None:
        # Created or deleted: fields without a value are left out.
        found = [each for each in found if (each[1] or each[2]) != NOTHING]
    raw = [_line(*each) for each in found] or hint("nothing changed")
    summary = el("summary", el("code", entry["action"]), f" {entry['subject']}: before and after")
    return el(
        "div",
        el("div", said, class_="said"),
        el("details", summary, el("div", raw, class_="difference"), id=f"raw-{entry['ordinal']}"),
    )


_PATHS: dict[str, Callable[[str], str]] = {
    "account": account_path,
    "group": lambda code: f"/{MARKET}/groups#group-{quote(code, safe='')}",
    "symbol": lambda _: f"/{MARKET}/symbols",
    "rate": lambda _: f"/{MARKET}/rates",
    "duty": lambda name: f"/{MARKET}/duty#duty-card-{quote(name, safe='')}",
    "order": order_path,
    "key": lambda names: f"{account_path(names.partition(' ')[0])}#keys",
    "user": lambda _: f"/{USERS}",
    "switches": lambda tab: f"/{MARKET}/{tab or 'limits'}",
    "venue": lambda _: f"/{MARKET}/venue",
    "entry": lambda number: audit_path(int(number)),
}
"""By the kind of a reference: where the thing is shown."""


def _part(visit: Visit, part: str | Ref) -> Child:
    if isinstance(part, Ref):
        return el("a", part.text, href=_PATHS[part.kind](part.id))
    return _INSTANT.sub(lambda found: _text(found[0], visit.zone), part)


def _line(name: str, was: str | None, now: str | None) -> Html:
    shown: list[Child] = [el("span", name.replace("_", " "), class_="field-name")]
    if was is not None:
        shown.append(el("del", was))
    if was is not None and now is not None:
        shown.append(el("span", "→", class_="hint", aria_label="became"))
    if now is not None:
        shown.append(el("ins", now))
    return el("div", shown, class_="change")


_ENTRY = Column("Entry", _ordinal, number=True)
_COLUMNS = (
    _ENTRY,
    Column("When", lambda visit, each: moment_in_column(each["at"], visit.zone, visit.now), time=True),
    Column("Who", _actor),
    Column("What was done", sentences_html),
)
