"""Rates: the newest of each instrument, and setting one by hand."""

import asyncio
from datetime import datetime

from bullion.console.forms import Code, Dialog, Hidden, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit, locked_button
from bullion.console.paths import MARKET
from bullion.console.widgets.components import BAD, GOOD, NOTHING, OFF, Column, hint, state, table_card
from bullion.console.widgets.formatting import age, clock, grouped
from bullion.desk.actions.rates import list_rates, put_rate
from bullion.desk.bodies import RateBody
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable

from .market_data import rates_of, symbols_of

_INSTRUMENT = Code("instrument", "Instrument")
_BID = field_of(RateBody, "bid", "Bid")
_ASK = field_of(RateBody, "ask", "Ask", "not below the bid")


async def render(visit: Visit) -> Html:
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
    fed = ", ".join(sorted(visit.desk.fed_instruments))
    source = hint(f"the feed supplies {fed}" if fed else "the desk sets every rate")
    other = SET.button(visit, text="Set another rate", kind="small primary")
    return table_card(
        visit,
        "Rates",
        "board",
        _COLUMNS,
        rows,
        key="instrument",
        nothing=("There are no rates yet.", "Rates come from the feed, or by hand with Set another rate."),
        aside=[source, other],
    )


def _source(_visit: Visit, row: View) -> Html:
    if row["rate"] is None:
        return state(BAD, "no rate yet")
    return state(GOOD, "the desk") if row["rate"]["source"] == "desk" else state(OFF, "the feed")


def _number(row: View, name: str) -> Child:
    return NOTHING if row["rate"] is None else el("span", _rate(row["rate"][name]), class_="price")


def _rate(plain: str) -> str:
    """With at least two decimals, so that digits stand below digits."""
    whole, _, part = plain.partition(".")
    return grouped(f"{whole}.{part.rstrip('0').ljust(2, '0')}")


def _button(visit: Visit, row: View) -> Html:
    name = row["instrument"]
    if name in visit.desk.fed_instruments:
        why = "the feed supplies it"
        return locked_button(SET.label, why, name=f"why-{name}", kind="small", label=f"Set rate of {name}")
    return SET.button(visit, {"instrument": name}, kind="small", label=f"Set rate of {name}")


_COLUMNS = (
    Column("Instrument", lambda _, row: el("b", row["instrument"])),
    Column("Bid", lambda _, row: _number(row, "bid"), number=True),
    Column("Ask", lambda _, row: _number(row, "ask"), number=True),
    Column("Source", _source),
    Column("Age", lambda _, row: NOTHING if row["rate"] is None else age(row["rate"]["age_s"]), number=True),
    Column("Used by", lambda _, row: ", ".join(row["users"]) or NOTHING),
    Column("", _button, number=True),
)


async def _current(visit: Visit, instrument: str) -> View | None:
    for each in await list_rates(visit.desk, visit.actor):
        if each["instrument"] == instrument:
            return None if is_unreadable(each) else each
    return None


async def _ask(visit: Visit) -> Dialog:
    name = visit.param("instrument")
    now = await _current(visit, name) if name else None
    text = ["Prices that use it follow within a second, in production and in test."]
    if now is not None:
        text.insert(0, f"Now {_rate(now['bid'])} / {_rate(now['ask'])}, {age(now['age_s'])} old.")
    return Dialog(
        title=f"Set rate of {name}" if name else "Set rate",
        text=text,
        confirm="Set rate",
        fields=[Hidden("instrument", "") if name else _INSTRUMENT, _BID, _ASK],
        values={**(now or {}), "instrument": name},
    )


async def _set(visit: Visit) -> Result:
    name, bid, ask = (visit.values[each] for each in ("instrument", "bid", "ask"))
    before = await _current(visit, name)
    done = await put_rate(visit.desk, visit.actor, name, RateBody(bid=bid, ask=ask))
    now = f"{_rate(done['bid'])} / {_rate(done['ask'])}"
    if not done["taken"]:
        return Result(f"{name}: a newer rate arrived meanwhile and stays: {now}.")
    was = f"{_rate(before['bid'])} / {_rate(before['ask'])}" if before else "none"
    at = clock(datetime.fromisoformat(done["at"]), visit.zone)
    return Result(f"{name}: {was} → {now}, at {at}.")


SET = Action(MARKET, "set-rate", "Set rate", put_rate, _ask, _set, (_INSTRUMENT, _BID, _ASK))
ACTIONS = (SET,)
