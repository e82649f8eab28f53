"""The simulated venue: how it behaves toward this broker's orders."""

import asyncio

from bullion.console.html import Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.stale_form import seen, still
from bullion.console.widgets.components import BAD, GOOD, WARN, Column, Line, card, empty, state, table
from bullion.console.widgets.dialog import action_button, choice, dialog, field, hidden
from bullion.console.widgets.formatting import grouped
from bullion.desk.actions import hedge
from bullion.desk.bodies import HedgeBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable
from bullion.hedge.simulated import DELAY_MS_MAX
from bullion.records.token import Role

from .forms import Form, saved
from .market_data import symbols_of, venue_of
from .names import PAGE_NAME

_MODES = {
    "fill": (GOOD, "fills", "Every order is confirmed."),
    "refuse": (BAD, "refuses", "Every order is refused, and becomes rejected."),
    "hold": (WARN, "holds", "Orders are taken and left waiting until the mode is another."),
    "down": (BAD, "is down", "Nobody reaches it: orders wait, and are sent again."),
}
_WORDS = {
    "tradable": (GOOD, "tradable", "orders are taken"),
    "suspended": (WARN, "suspended", "new production orders are refused for now"),
    "unknown": (BAD, "unknown", "the venue does not know it: new production orders are refused"),
}
_DECIDES = ("fill", "refuse")


async def render(visit: Visit) -> Html:
    found, (symbols, _) = await asyncio.gather(venue_of(visit), symbols_of(visit))
    if found["mode"] is None:
        shown = empty(
            "There is no simulated venue here.",
            "With BULLION_HEDGE=desk, the desk answers each production order itself, among the orders.",
        )
        return card("Venue", shown, name="venue")
    kind, words, meaning = _MODES[found["mode"]]
    change = action_button(visit, PAGE_NAME, CONDUCT, "Change its conduct", kind="small")
    delay = found["delay_ms"]
    pause = f"It takes {grouped(str(delay))} ms for each." if delay else "It decides at once."
    if found["mode"] not in _DECIDES:
        pause = ""
    now = el(
        "p",
        state(kind, f"The venue {words}"),
        el("span", f"{meaning} {pause}", class_="hint"),
        class_="inside now",
    )
    covered = _covered(symbols)
    columns = (
        Column("Instrument"),
        Column("At the venue"),
        Column("What that means"),
        Column("Covers"),
        Column("", number=True),
    )
    rows = []
    for name in sorted({*covered, *found["instruments"]}):
        kind, words, meaning = _WORDS[found["instruments"].get(name, "tradable")]
        turn = action_button(
            visit,
            PAGE_NAME,
            INSTRUMENT,
            "Change",
            about={"instrument": name},
            kind="small",
            label=f"Change {name}",
        )
        covers = ", ".join(covered.get(name, [])) or "no symbol"
        rows.append(Line(name, (el("b", name), state(kind, words), meaning, covers, turn)))
    instruments = card(
        "Instruments at the venue", table(columns, rows, name="venue-table"), name="instruments"
    )
    return el(
        "div",
        card("Simulated venue", now, aside=change, name="venue"),
        instruments if rows else None,
        class_="stack",
    )


def _covered(symbols: list[View]) -> dict[str, list[str]]:
    """By instrument, the symbols whose orders it covers."""
    found: dict[str, list[str]] = {}
    for each in symbols:
        pricing = each["pricing"]
        name = pricing.get("instrument") or pricing.get("spot") or each["code"]
        found.setdefault(name, []).append(each["code"])
    return found


async def _ask_conduct(visit: Visit) -> Html:
    now = await hedge.get_hedge(visit.desk, visit.actor)
    modes = [(name, f"{words}: {meaning}") for name, (_, words, meaning) in _MODES.items()]
    fields = [
        hidden("seen", seen(now)),
        choice("The venue", "mode", modes, value=now["mode"] or ""),
        field(
            "Takes for each order, ms",
            "delay_ms",
            value=str(now["delay_ms"] or 0),
            hint="0: it decides at once",
        ),
    ]
    words = ["It holds for this broker's production orders within a second, also for those that wait now."]
    if is_unreadable(now):
        words.append("What was set of its instruments cannot be read: all of them will be tradable.")
    return dialog("Conduct of the simulated venue", words, confirm="Save", fields=fields)


async def _set_conduct(visit: Visit) -> Result:
    form = Form(visit.form)
    wanted = {"mode": form.text("mode"), "delay_ms": form.count("delay_ms", 0, DELAY_MS_MAX)}
    form.check()
    return await _patched(visit, wanted)


async def _patched(visit: Visit, wanted: View) -> Result:
    before = await hedge.get_hedge(visit.desk, visit.actor)
    if is_unreadable(before):
        wanted = {"instruments": {}, **wanted}
    only_if = still(visit, "The venue's conduct", before)
    changes = Changes(HedgeBody, wanted)
    after = await hedge.patch_hedge(visit.desk, visit.actor, changes, only_if=only_if)
    return Result(saved("Venue", _spoken(before), _spoken(after)))


def _spoken(found: View) -> dict[str, str]:
    if found["mode"] is None:
        return {}
    told = {"it": _MODES[found["mode"]][1], "delay": f"{found['delay_ms']} ms"}
    return told | {name: _WORDS[word][1] for name, word in found["instruments"].items() if word != "tradable"}


async def _ask_instrument(visit: Visit) -> Html:
    name = visit.query.get("instrument", "")
    now = await hedge.get_hedge(visit.desk, visit.actor)
    words = [(word, f"{told}: {meaning}") for word, (_, told, meaning) in _WORDS.items()]
    value = now["instruments"].get(name, "tradable")
    fields = [hidden("seen", seen(now)), choice(name, "word", words, value=value)]
    return dialog(f"{name} at the simulated venue", [], confirm="Save", fields=fields)


async def _set_instrument(visit: Visit) -> Result:
    name = visit.query.get("instrument", "")
    return await _patched(visit, {"instruments": {name: Form(visit.form).text("word")}})


CONDUCT = Action("venue", Role.ADMIN, _ask_conduct, _set_conduct)
INSTRUMENT = Action("venue-instrument", Role.ADMIN, _ask_instrument, _set_instrument)
ACTIONS = (CONDUCT, INSTRUMENT)
