"""The simulated venue, which covers nothing: how it behaves toward this broker's orders."""

import asyncio
from typing import Any

from bullion.console.forms import Choice, Dialog, field_of, saved
from bullion.console.html import Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import (
    BAD,
    SIMULATED,
    WARN,
    Column,
    card,
    empty,
    hint,
    state,
    table,
)
from bullion.console.widgets.cover import simulated_note
from bullion.console.widgets.formatting import count
from bullion.desk.actions.health import NOTHING_COVERED
from bullion.desk.actions.hedge import get_hedge, patch_hedge
from bullion.desk.bodies import HedgeBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable

from .market_data import symbols_of, venue_of

_MODES = {
    "fill": (SIMULATED, "fills", "Every order is confirmed, and no metal is bought or sold for it."),
    "refuse": (BAD, "refuses", "Every order is refused, and becomes rejected."),
    "hold": (WARN, "holds", "Orders wait until the behaviour is changed."),
    "down": (BAD, "is down", "It cannot be reached: orders wait, and are sent again."),
}
_STATES = {
    "tradable": (SIMULATED, "tradable", "orders are accepted"),
    "suspended": (WARN, "suspended", "new production orders are refused for now"),
    "unknown": (BAD, "unknown", "the venue does not know it: new production orders are refused"),
}
_WITH_DELAY = ("fill", "refuse")
_STATE_OPTIONS = [(each, f"{name}: {meaning}") for each, (_, name, meaning) in _STATES.items()]


async def render(visit: Visit) -> Html:
    found, symbols = await asyncio.gather(venue_of(visit), symbols_of(visit))
    if found["mode"] is None:
        who = "the desk confirms or refuses each production order itself"
        if not visit.desk.venue.by_hand:
            who = "a real venue answers production orders"
        text = f"With BULLION_HEDGE={visit.desk.hedge}, {who}."
        shown = empty("There is no simulated venue.", text)
        return card("Venue", shown, name="venue")
    kind, name, meaning = _MODES[found["mode"]]
    delay = ""
    if found["mode"] in _WITH_DELAY:
        ms = found["delay_ms"]
        delay = f" It takes {count(ms)} ms for each." if ms else " It decides at once."
        if found["fill_percent"] < 100:
            delay += f" It fills {found['fill_percent']} % of each."
    now = el(
        "p",
        simulated_note(visit),
        state(kind, f"The venue {name}"),
        hint(f"{meaning}{delay}"),
        class_="inside now",
    )
    traded: dict[str, list[str]] = {}
    for each in symbols:
        pricing = each["pricing"]
        instrument = pricing.get("instrument") or pricing.get("spot") or each["code"]
        traded.setdefault(instrument, []).append(each["code"])
    rows = [
        (name, _STATES[found["instruments"].get(name, "tradable")], traded.get(name, []))
        for name in sorted({*traded, *found["instruments"]})
    ]
    instruments = table(visit, "venue-table", _COLUMNS, rows, key=0)
    return el(
        "div",
        card("Simulated venue", now, aside=BEHAVIOUR.button(visit, kind="small"), name="venue"),
        card("Instruments at the venue", instruments, name="instruments") if rows else None,
        class_="stack",
    )


def _change_button(visit: Visit, row: Any) -> Html:
    return INSTRUMENT.button(visit, {"instrument": row[0]}, kind="small", label=f"Change {row[0]}")


_COLUMNS = (
    Column("Instrument", lambda _, row: el("b", row[0])),
    Column("State", lambda _, row: state(*row[1][:2])),
    Column("Meaning", lambda _, row: row[1][2]),
    Column("Symbols", lambda _, row: ", ".join(row[2]) or "no symbol"),
    Column("", _change_button, number=True),
)


async def _ask_behaviour(visit: Visit) -> Dialog:
    now = await get_hedge(visit.desk, visit.actor)
    text = [
        f"{NOTHING_COVERED}.",
        "It applies to this broker's production orders within a second, also to those that wait now.",
    ]
    if is_unreadable(now):
        text.append("The stored states of its instruments cannot be read: all of them become tradable.")
    return Dialog(
        title="Simulated venue",
        text=text,
        values={
            "mode": now["mode"],
            "delay_ms": now["delay_ms"] or 0,
            "fill_percent": now["fill_percent"],
            **seen(now),
        },
    )


async def _set_behaviour(visit: Visit) -> Result:
    names = ("mode", "delay_ms", "fill_percent")
    return await _patch(visit, {name: visit.values[name] for name in names})


async def _patch(visit: Visit, wanted: View) -> Result:
    before = await get_hedge(visit.desk, visit.actor)
    only_if = unchanged(visit, "The venue's behaviour")
    only_if(before)
    if is_unreadable(before):
        wanted = {"instruments": {}, **wanted}
    after = await patch_hedge(visit.desk, visit.actor, Changes(HedgeBody, wanted), only_if=only_if)
    return Result(saved("Venue", _text(before), _text(after)))


def _text(found: View) -> dict[str, str]:
    if found["mode"] is None:
        return {}
    states = {name: _STATES[each][1] for name, each in found["instruments"].items() if each != "tradable"}
    return {
        "behaviour": _MODES[found["mode"]][1],
        "delay": f"{found['delay_ms']} ms",
        "fills": f"{found['fill_percent']} %",
        **states,
    }


async def _ask_instrument(visit: Visit) -> Dialog:
    name = visit.param("instrument")
    now = await get_hedge(visit.desk, visit.actor)
    return Dialog(
        title=f"{name} at the simulated venue",
        fields=(SEEN, Choice("state", name, options=_STATE_OPTIONS)),
        values={"state": now["instruments"].get(name, "tradable"), **seen(now)},
    )


async def _set_instrument(visit: Visit) -> Result:
    return await _patch(visit, {"instruments": {visit.param("instrument"): visit.values["state"]}})


_MODE_OPTIONS = [(each, f"{name}: {meaning}") for each, (_, name, meaning) in _MODES.items()]
_BEHAVIOUR_FIELDS = (
    SEEN,
    field_of(HedgeBody, "mode", "The venue", options=_MODE_OPTIONS),
    field_of(HedgeBody, "delay_ms", "Delay per order, ms", "0: it decides at once"),
    field_of(HedgeBody, "fill_percent", "Fills of each order, %", "below 100: in parts"),
)
BEHAVIOUR = Action(
    MARKET, "venue", "Change the venue", patch_hedge, _ask_behaviour, _set_behaviour, _BEHAVIOUR_FIELDS
)
INSTRUMENT = Action(
    MARKET,
    "venue-instrument",
    "Change",
    patch_hedge,
    _ask_instrument,
    _set_instrument,
    (SEEN, Choice("state", "State", options=_STATE_OPTIONS)),
)
ACTIONS = (BEHAVIOUR, INSTRUMENT)
