"""Sources of rates: for each instrument what each source says, and which one is believed."""

from datetime import datetime

from bullion.console.forms import Dialog
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.widgets.components import (
    BAD,
    DONE,
    GOOD,
    HOLD,
    NOTHING,
    OFF,
    WARN,
    Column,
    hint,
    small,
    state,
    table_card,
)
from bullion.console.widgets.formatting import age, clock, count, deviation_text, rate
from bullion.desk.actions import feeds as desk_feeds
from bullion.desk.actions.feeds import list_feeds, prefer_source, release_quote
from bullion.desk.bodies import PreferBody, ReleaseBody
from bullion.desk.desk import View
from bullion.metals.scaled import scaled
from bullion.rates.tick import PLACES
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .hedge_data import feeds_of

_FOR_ALL = "It is for all brokers of the deployment. The audit trail records your name."
_STATES = {
    desk_feeds.GOOD: (GOOD, "good"),
    desk_feeds.HELD: (BAD, "held"),
    desk_feeds.BAD: (WARN, "no good quote"),
    desk_feeds.AWAY: (WARN, "away"),
    desk_feeds.CLOSED: (OFF, "closed"),
    desk_feeds.UNKNOWN: (OFF, "unknown: no node runs the feed"),
}


async def feeds_card(visit: Visit) -> Html:
    reading = await feeds_of(visit)
    rows = sorted(reading.value or [], key=lambda each: each["instrument"])
    return table_card(
        visit,
        "Sources of rates",
        "feeds",
        _COLUMNS,
        rows,
        key=lambda each: f"{each['instrument']} {each['source']}",
        nothing=(
            "There is no live feed.",
            "With BULLION_FEED=live the nodes take rates from the sources of the market file.",
        ),
        css=lambda each: "late" if each["held"] else None,
        aside=hint("per instrument, one source is published"),
        reading=reading,
    )


def prices(held: View) -> str:
    return f"{rate(held['bid'])} / {rate(held['ask'])}"


def far_from_last(each: View) -> str:
    """Why a quote is held: how far its middle is from the last good one."""
    if each["bid"] is None or each["ask"] is None:
        return "There is no good quote to compare it with."
    now, was = (_double_middle(of) for of in (each["held"], each))
    return f"{deviation_text(now, was)} the last good quote, {prices(each)}."


def _double_middle(of: View) -> int:
    return scaled(of["bid"], PLACES) + scaled(of["ask"], PLACES)


def _source(_visit: Visit, each: View) -> Child:
    marks = []
    if each["published"]:
        marks.append(state(DONE, "published"))
    elif each["chosen"]:
        marks.append(state(OFF, "chosen"))
    if each["preferred"]:
        marks.append(state(HOLD, "preferred by the desk"))
    return [
        el("b", each["source"]),
        " ",
        hint(each["kind"]),
        el("div", marks, class_="marks") if marks else None,
    ]


def _state(visit: Visit, each: View) -> Child:
    kind, text = _STATES[each["state"]]
    since = "" if each["away_since"] is None else f" since {clock(_at(each['away_since']), visit.zone)}"
    troubles = [
        each["error"],
        f"differs from {each['differs_from']}" if each["chosen"] and each["differs_from"] else None,
        f"disputed by {each['disputed_by']}" if each["chosen"] and each["disputed_by"] else None,
        "off parity" if each["chosen"] and each["off_parity"] else None,
    ]
    return [state(kind, f"{text}{since}"), small(", ".join(filter(None, troubles)))]


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _quote(each: View, side: str) -> Child:
    other = each["ask" if side == "bid" else "bid"]
    shown = NOTHING if each[side] is None else rate(each[side], other or "")
    return [shown, small(rate(each["held"][side])) if each["held"] else None]


def _held(visit: Visit, each: View) -> Child:
    held = each["held"]
    if held is None:
        return NOTHING
    since = clock(_at(held["since"]), visit.zone)
    return [f"{count(held['count'])} since {since}", small(far_from_last(each))]


def _drops(_visit: Visit, each: View) -> Child:
    if not each["dropped"]:
        return NOTHING
    reasons = ", ".join(
        f"{name.replace('_', ' ')} {count(number)}" for name, number in sorted(each["drops"].items())
    )
    return [count(each["dropped"]), small(reasons)]


def release_button(visit: Visit, each: View) -> Html:
    held = each["held"]
    about = {
        "source": each["source"],
        "instrument": each["instrument"],
        "bid": held["bid"],
        "ask": held["ask"],
    }
    label = f"Release {each['instrument']} of {each['source']}"
    return RELEASE.button(visit, about, kind="small primary", label=label)


def _buttons(visit: Visit, each: View) -> Html:
    about = {"source": each["source"], "instrument": each["instrument"]}
    prefer = END if each["preferred"] else PREFER
    label = f"{prefer.label} {each['source']} for {each['instrument']}"
    return el(
        "span",
        release_button(visit, each) if each["held"] else None,
        prefer.button(visit, about, kind="small", label=label),
        class_="actions",
    )


_COLUMNS = (
    Column("Instrument", lambda _, each: el("b", each["instrument"])),
    Column("Source", _source),
    Column("State", _state),
    Column("Bid", lambda _, each: _quote(each, "bid"), number=True),
    Column("Ask", lambda _, each: _quote(each, "ask"), number=True),
    Column("Age", lambda _, each: NOTHING if each["age_s"] is None else age(each["age_s"]), number=True),
    Column("Held", _held),
    Column("Dropped, by reason", _drops),
    Column("", _buttons, number=True),
)


async def _find(visit: Visit) -> View:
    wanted = (visit.param("instrument"), visit.param("source"))
    for each in await list_feeds(visit.desk, visit.actor):
        if (each["instrument"], each["source"]) == wanted:
            return each
    raise RefusalError(NOT_FOUND, f"The live feed has no source {wanted[1]} of {wanted[0]}.")


async def _ask_release(visit: Visit) -> Dialog:
    now = await _find(visit)
    seen = {"bid": visit.param("bid"), "ask": visit.param("ask")}
    name = f"{now['instrument']} of {now['source']}"
    text = [far_from_last(now)] if now["held"] else ["It is no longer held."]
    return Dialog(
        title=f"Release {name} at {prices(seen)}?",
        text=[
            *text,
            "Compare it with another screen first. Clients can trade at it within a second.",
            f"If the source has moved on meanwhile, the quote stays held. {_FOR_ALL}",
        ],
        confirm=f"Release at {prices(seen)}",
        danger=True,
    )


async def _release(visit: Visit) -> Result:
    source, instrument = visit.param("source"), visit.param("instrument")
    seen = {"bid": visit.param("bid"), "ask": visit.param("ask")}
    body = ReleaseBody(instrument=instrument, **seen)
    await release_quote(visit.desk, visit.actor, source, body)
    return Result(f"{instrument} of {source} is released at {prices(seen)}.")


async def _ask_prefer(visit: Visit) -> Dialog:
    now = await _find(visit)
    source, instrument = now["source"], now["instrument"]
    return Dialog(
        title=f"Prefer {source} for {instrument}?",
        text=[
            f"The rate of {instrument} comes from {source} at once if it has a good quote, until you end it.",
            "That also decides between two sources whose prices differ.",
            "If it has none now, its price is compared when it is back, as that of every source.",
            _FOR_ALL,
        ],
        confirm=f"Prefer {source}",
    )


async def _ask_end(visit: Visit) -> Dialog:
    now = await _find(visit)
    text = "The sources are used in the order of the market file again."
    return Dialog(
        title=f"End the preference of {now['source']} for {now['instrument']}?",
        text=[text, _FOR_ALL],
        confirm="End it",
    )


async def _set_preference(visit: Visit, *, end: bool) -> Result:
    source, instrument = visit.param("source"), visit.param("instrument")
    await prefer_source(visit.desk, visit.actor, source, PreferBody(instrument=instrument, end=end))
    return Result(f"{instrument}: {source} is {'no longer preferred' if end else 'preferred'}.")


async def _prefer(visit: Visit) -> Result:
    return await _set_preference(visit, end=False)


async def _end(visit: Visit) -> Result:
    return await _set_preference(visit, end=True)


RELEASE = Action(MARKET, "release-quote", "Release", release_quote, _ask_release, _release)
PREFER = Action(MARKET, "prefer-source", "Prefer", prefer_source, _ask_prefer, _prefer)
END = Action(MARKET, "end-preference", "End preference", prefer_source, _ask_end, _end)
ACTIONS = (RELEASE, PREFER, END)
