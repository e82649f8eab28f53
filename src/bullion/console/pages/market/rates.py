"""Rates: the newest of each instrument, setting one by hand, and pinning one against the feed."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from bullion.console.forms import Code, Dialog, Hidden, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit, locked_button
from bullion.console.paths import MARKET
from bullion.console.widgets.components import BAD, GOOD, NOTHING, OFF, Column, hint, state, table_card
from bullion.console.widgets.formatting import age, clock
from bullion.console.widgets.formatting import rate as rate_text
from bullion.desk.actions.rates import put_rate
from bullion.desk.bodies import RateBody
from bullion.desk.desk import View

from .market_data import rates_of, symbols_of
from .pins import PIN, RELEASE, current_rate, is_pinned, pin_mark

_INSTRUMENT = Code("instrument", "Instrument")
_BID = field_of(RateBody, "bid", "Bid")
_ASK = field_of(RateBody, "ask", "Ask", "not below the bid")


async def render(visit: Visit) -> Html:
    return await rates_card(visit, "Rates")


async def rates_card(visit: Visit, title: str) -> Html:
    found, symbols = await asyncio.gather(rates_of(visit), symbols_of(visit))
    users: dict[str, list[str]] = {}
    for each in symbols:
        for part in ("instrument", "spot", "currency"):
            if name := each["pricing"].get(part):
                users.setdefault(name, []).append(each["code"])
    known = {each["instrument"]: each for each in found}
    rows = [
        {"instrument": name, "rate": known.get(name), "users": users.get(name, [])}
        for name in sorted({*known, *users})
    ]
    source = hint(_origin(visit, found))
    other = SET.button(visit, text="Set another rate", kind="small primary")
    return table_card(
        visit,
        title,
        "board",
        _COLUMNS,
        rows,
        key="instrument",
        nothing=("There are no rates yet.", "Rates come from the feed, or by hand with Set another rate."),
        aside=[source, other],
    )


def _origin(visit: Visit, rates: Sequence[View]) -> str:
    if visit.desk.fed_instruments:
        return f"the feed supplies {', '.join(sorted(visit.desk.fed_instruments))}"
    if any(each["source"] != "desk" for each in rates):
        return "the feed replaces a rate that you set, unless you pin it"
    return "the desk sets every rate"


def _source(visit: Visit, row: View) -> Html:
    if row["rate"] is None:
        return state(BAD, "no rate yet")
    if is_pinned(visit, row["rate"]):
        return pin_mark(visit, row["rate"])
    return state(GOOD, "the desk") if row["rate"]["source"] == "desk" else state(OFF, "the feed")


def _number(row: View, name: str) -> Child:
    return NOTHING if row["rate"] is None else el("span", rate_text(row["rate"][name]), class_="price")


def _buttons(visit: Visit, row: View) -> Html:
    name = row["instrument"]
    about = {"instrument": name}
    if name in visit.desk.fed_instruments:
        why = "the feed supplies it"
        set_rate = locked_button(
            SET.label, why, name=f"why-{name}", kind="small", label=f"Set rate of {name}"
        )
    else:
        set_rate = SET.button(visit, about, kind="small", label=f"Set rate of {name}")
    pinned = row["rate"] is not None and is_pinned(visit, row["rate"])
    pin = RELEASE if pinned else PIN
    label = f"{pin.label} of {name}" if pinned else f"Pin the rate of {name}"
    return el("span", pin.button(visit, about, kind="small", label=label), set_rate, class_="actions")


_COLUMNS = (
    Column("Instrument", lambda _, row: el("b", row["instrument"])),
    Column("Bid", lambda _, row: _number(row, "bid"), number=True),
    Column("Ask", lambda _, row: _number(row, "ask"), number=True),
    Column("Source", _source),
    Column("Age", lambda _, row: NOTHING if row["rate"] is None else age(row["rate"]["age_s"]), number=True),
    Column("Used by", lambda _, row: ", ".join(row["users"]) or NOTHING),
    Column("", _buttons, number=True),
)


async def _ask(visit: Visit) -> Dialog:
    name = visit.param("instrument")
    now = await current_rate(visit, name) if name else None
    text = ["Prices that use it follow within a second, in production and in test."]
    if now is not None:
        text.insert(0, f"Now {rate_text(now['bid'])} / {rate_text(now['ask'])}, {age(now['age_s'])} old.")
    return Dialog(
        title=f"Set rate of {name}" if name else "Set rate",
        text=text,
        confirm="Set rate",
        fields=[Hidden("instrument", "") if name else _INSTRUMENT, _BID, _ASK],
        values={**(now or {}), "instrument": name},
    )


async def _set(visit: Visit) -> Result:
    name, bid, ask = (visit.values[each] for each in ("instrument", "bid", "ask"))
    before = await current_rate(visit, name)
    done = await put_rate(visit.desk, visit.actor, name, RateBody(bid=bid, ask=ask))
    now = f"{rate_text(done['bid'])} / {rate_text(done['ask'])}"
    if not done["taken"]:
        return Result(f"{name}: a newer rate arrived meanwhile and stays: {now}.")
    was = f"{rate_text(before['bid'])} / {rate_text(before['ask'])}" if before else "none"
    at = clock(datetime.fromisoformat(done["at"]), visit.zone)
    return Result(f"{name}: {was} → {now}, at {at}.")


SET = Action(MARKET, "set-rate", "Set rate", put_rate, _ask, _set, (_INSTRUMENT, _BID, _ASK))
ACTIONS = (SET, PIN, RELEASE)
