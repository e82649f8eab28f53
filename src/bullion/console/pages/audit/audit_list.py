"""The trail, newest first, narrowed down by who, what, about whom and when."""

import asyncio
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import BAD, GOOD, OFF, WARN, Column, Line, card, empty, state, table
from bullion.console.widgets.dialog import action_button, copyable
from bullion.console.widgets.formatting import grouped
from bullion.console.widgets.times import age, moment
from bullion.desk.actions.audit import Found, Wanted, audit_head, find_audit
from bullion.desk.desk import Desk, View
from bullion.records.audit import Head
from bullion.records.token import Actor

from .action_names import ACTIONS, called
from .addresses import PAGE_NAME, entry_path, trail_path
from .entry_changes import difference
from .trail_check import CHECK, TrailCheck, check_of

AT_ONCE = 50
_TEXT_MAX = 100
_BREAKS_SHOWN = 10
_FILTERS = ("who", "what", "about", "from", "to")
_COLUMNS = (
    Column("Entry", number=True),
    Column("When"),
    Column("Who"),
    Column("Did"),
    Column("About"),
    Column("Before and after"),
)


async def render(visit: Visit) -> Html:
    # No entry has a NUL in it, and PostgreSQL cannot even be asked for one.
    chosen = {name: visit.query.get(name, "").replace("\0", "").strip()[:_TEXT_MAX] for name in _FILTERS}
    below = visit.query.get("below", "")
    wanted, trouble = _wanted(visit, chosen, below)

    async def read(desk: Desk, actor: Actor) -> Found:
        return await find_audit(desk, actor, wanted, AT_ONCE)

    found, head = await asyncio.gather(
        visit.watch.shared(f"audit {wanted}", read).get(visit.actor),
        visit.watch.shared("audit head", audit_head).get(visit.actor),
    )
    check = check_of(visit.watch)
    return el(
        "div",
        el("h1", "Audit", class_="unseen"),
        _trail_card(visit, head, check),
        card(
            "Who did what",
            _filters(chosen, trouble),
            _entries(visit, found, chosen, below, check),
            aside=_freshness(found),
            name="trail",
        ),
        class_="audit",
    )


def _wanted(visit: Visit, chosen: dict[str, str], below: str) -> tuple[Wanted, str | None]:
    """What is asked for, and what of it cannot be understood."""
    trouble = None
    times: dict[str, int | None] = {}
    for name, days in (("from", 0), ("to", 1)):
        try:
            day = date.fromisoformat(chosen[name]) + timedelta(days=days) if chosen[name] else None
            at = None if day is None else datetime.combine(day, time(), visit.zone)
            times[name] = None if at is None else int(at.timestamp()) * 1_000_000
        except (ValueError, OverflowError):
            trouble, times[name] = f"“{chosen[name]}” is not a day such as 2026-11-15.", None
    wanted = Wanted(
        actor=chosen["who"] or None,
        action=chosen["what"] or None,
        subject=chosen["about"] or None,
        since_us=times["from"],
        until_us=times["to"],
        below=int(below) if below.isascii() and below.isdigit() and len(below) < 16 else None,
    )
    return wanted, trouble


def _freshness(reading: Reading[Found]) -> Child:
    if reading.trouble is None or reading.read_at is None:
        return None
    return state(WARN, f"{age(reading.age_s)} old", reading.trouble)


# --- The chain ------------------------------------------------------------------------------------------


def _trail_card(visit: Visit, reading: Reading[Head | None], check: TrailCheck) -> Html:
    button = action_button(visit, PAGE_NAME, CHECK, "Check the trail")
    head = reading.value
    if head is None:
        words = "The head of the trail is missing." if reading.read_at else reading.trouble or "Not read yet."
        noted: Child = el("p", state(BAD, words), class_="head")
    else:
        noted = el(
            "div",
            el("span", el("b", grouped(str(head.count))), " entries; the hash of the last:"),
            copyable(head.hash, "head-hash", label="the hash of the head"),
            el(
                "small",
                "Note the number and the hash down, outside of this service: entry "
                f"{grouped(str(head.count))} must have this hash for good.",
            ),
            class_="head",
        )
    shown = el("div", _outcome(visit, check), noted, class_="chain")
    return card("Is the trail whole?", shown, aside=button, name="chain")


def _outcome(visit: Visit, check: TrailCheck) -> Html:
    if check.running:
        return el("div", state(WARN, "It is being checked…"), id="outcome")
    if check.trouble:
        return el("div", state(WARN, check.trouble), id="outcome")
    if check.checked is None or check.at is None:
        words = "not checked since the console was started"
        return el(
            "div", state(OFF, words), el("small", "Each entry is chained to the one before."), id="outcome"
        )
    when = el("small", "checked at ", moment(check.at.isoformat(), visit.zone, visit.now))
    breaks = check.checked.breaks
    if not breaks:
        count = grouped(str(check.checked.entries))
        return el(
            "div", state(GOOD, f"whole: all {count} entries are as they were written"), when, id="outcome"
        )
    shown = [
        el("li", el("a", f"entry {each.ordinal}", href=entry_path(each.ordinal)), f": {each.why}")
        for each in breaks[:_BREAKS_SHOWN]
    ]
    more = len(breaks) - len(shown)
    return el(
        "div",
        state(BAD, f"broken at entry {breaks[0].ordinal}"),
        el("ul", shown, el("li", f"and {more} more") if more else None),
        el(
            "small",
            "Somebody changed the store by hand. Keep a copy of it, and call whoever runs the service.",
        ),
        when,
        id="outcome",
        role="alert",
    )


# --- Filters and entries --------------------------------------------------------------------------------


def _filters(chosen: dict[str, str], trouble: str | None) -> Html:
    options = [el("option", "anything", value="")]
    ordered = sorted(ACTIONS.items(), key=lambda item: item[1])
    if chosen["what"] and chosen["what"] not in ACTIONS:
        ordered.insert(0, (chosen["what"], called(chosen["what"])))
    options += [
        el("option", words, value=action, selected=action == chosen["what"]) for action, words in ordered
    ]
    return el(
        "form",
        _filter("Who", el("input", name="who", value=chosen["who"], placeholder="a part of the name")),
        _filter("Did what", el("select", options, name="what")),
        _filter(
            "About", el("input", name="about", value=chosen["about"], placeholder="login, symbol, key …")
        ),
        _filter("From", el("input", type="date", name="from", value=chosen["from"])),
        _filter("To", el("input", type="date", name="to", value=chosen["to"])),
        el("button", "Show"),
        el("a", "Show all", href=trail_path({})) if any(chosen.values()) else None,
        el("p", trouble, class_="wrong", role="alert") if trouble else None,
        method="get",
        action=trail_path({}),
        role="search",
        class_="filters",
    )


def _filter(label: str, control: Html) -> Html:
    return el("label", el("span", label), control, class_="field")


def _entries(
    visit: Visit, reading: Reading[Found], chosen: dict[str, str], below: str, check: TrailCheck
) -> Child:
    if reading.value is None:
        return empty(reading.trouble or "Not read yet.", "It is tried again by itself.")
    found = reading.value
    narrowed = any(chosen.values())
    further = None
    if found.below is not None:
        further = el("a", "Older →", href=trail_path(chosen, below=str(found.below)))
    newest = el("a", "← Newest", href=trail_path(chosen)) if below else None
    if not found.entries:
        if found.below is not None:
            shown = empty(
                f"Nothing like that down to entry {grouped(str(found.below))}.",
                "A trail is looked through in parts: go on with Older.",
            )
        elif narrowed or below:
            shown = empty("There is no further entry like that.", "Choose less, or show all.")
        else:
            shown = empty("The trail is empty.", "Whatever anybody changes at the desk is written down here.")
    else:
        broken = set() if check.checked is None else {each.ordinal for each in check.checked.breaks}
        lines = [
            Line(
                str(each["ordinal"]),
                _cells(visit, each, broken=each["ordinal"] in broken),
                "late" if each["ordinal"] in broken else None,
            )
            for each in found.entries
        ]
        shown = table(_COLUMNS, lines, name="audit-table")
    paging = el("p", newest, further, class_="paging") if newest or further else None
    return [shown, paging]


def _cells(visit: Visit, each: View, *, broken: bool) -> Sequence[Child]:
    name, _, token_id = each["actor"].partition(" (")
    return (
        [
            el("b", grouped(str(each["ordinal"])), title=f"hash {each['hash']}"),
            state(BAD, "broken here") if broken else None,
        ],
        moment(each["at"], visit.zone, visit.now),
        [el("b", name), el("small", f"token {token_id.removesuffix(')')}") if token_id else None],
        [called(each["action"]), el("small", el("code", each["action"]))],
        el("span", each["subject"], class_="subject"),
        difference(visit, each),
    )
