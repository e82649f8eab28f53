"""Rates: what the board has of each instrument, and what the desk puts by hand, asked twice if it jumps."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.widgets.components import BAD, GOOD, OFF, Column, Line, card, empty, state, table
from bullion.console.widgets.dialog import action_button, dialog, field, hidden
from bullion.console.widgets.formatting import grouped, off_words
from bullion.console.widgets.times import age, clock
from bullion.desk.actions import rates
from bullion.desk.bodies import RateBody
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable
from bullion.metals.scaled import scaled
from bullion.rates.tick import PLACES
from bullion.records.token import Role

from .forms import NOTHING, Form, beside_fields, short
from .market_data import rates_of, symbols_of
from .names import PAGE_NAME

_JUMP_PERCENT = 3
"""A rate that moves by more at once is asked about again: a digit may be lost."""
_COLUMNS = (
    Column("Instrument"),
    Column("Bid", number=True),
    Column("Ask", number=True),
    Column("From"),
    Column("Age", number=True),
    Column("In the price of"),
    Column("", number=True),
)


async def render(visit: Visit) -> Html:
    found, (symbols, _) = await asyncio.gather(rates_of(visit), symbols_of(visit))
    users = _users(symbols)
    known = {each["instrument"]: each for each in found}
    names = sorted({*known, *users})
    other = action_button(visit, PAGE_NAME, PUT, "Put another rate", kind="small primary")
    if not names:
        shown = empty(
            "There is no rate yet.",
            "Rates come from the feed, or by hand with Put another rate. Symbols name the instruments that "
            "their prices are made of.",
        )
        return card("Rates", shown, aside=other, name="board")
    rows = [Line(name, _cells(visit, name, known.get(name), users.get(name, []))) for name in names]
    return card("Rates", table(_COLUMNS, rows, name="board-table"), aside=[_feed(visit), other], name="board")


def _feed(visit: Visit) -> Html:
    fed = sorted(visit.desk.fed_instruments)
    words = f"the feed supplies {', '.join(fed)}" if fed else "the desk puts every rate"
    return el("span", words, class_="hint")


def _users(symbols: Sequence[View]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in symbols:
        for name in ("instrument", "spot", "currency"):
            instrument = each["pricing"].get(name)
            if instrument:
                found.setdefault(instrument, []).append(each["code"])
    return found


def _cells(visit: Visit, name: str, rate: View | None, users: Sequence[str]) -> Sequence[Child]:
    fed = name in visit.desk.fed_instruments
    put: Child = action_button(
        visit,
        PAGE_NAME,
        PUT,
        "Put a rate",
        about={"instrument": name},
        kind="small",
        label=f"Put a rate of {name}",
    )
    if fed:
        why = "The deployment's feed supplies it."
        put = el("button", "Put a rate", type="button", class_="small", disabled=True, title=why)
    if rate is None:
        came: Child = state(BAD, "no rate yet")
    else:
        came = state(GOOD, "the desk") if rate["source"] == "desk" else state(OFF, "the feed")
    return (
        el("b", name),
        _number(rate, "bid"),
        _number(rate, "ask"),
        came,
        NOTHING if rate is None else age(rate["age_s"]),
        ", ".join(users) or NOTHING,
        put,
    )


def _number(rate: View | None, name: str) -> Child:
    return NOTHING if rate is None else el("span", _shown(rate[name]), class_="price")


def _shown(plain: str) -> str:
    """With two decimals at least: digits stand below digits."""
    whole, _, part = plain.partition(".")
    return grouped(f"{whole}.{part.rstrip('0').ljust(2, '0')}")


async def _current(visit: Visit, instrument: str) -> View | None:
    for each in await rates.list_rates(visit.desk, visit.actor):
        if each["instrument"] == instrument:
            return None if is_unreadable(each) else each
    return None


async def _ask(visit: Visit) -> Html:
    name = visit.query.get("instrument", "")
    now = await _current(visit, name) if name else None
    words = ["Prices that are made of it follow within a second, in production and in test."]
    if now is not None:
        words.insert(0, f"Just now {_shown(now['bid'])} / {_shown(now['ask'])}, {age(now['age_s'])} old.")
    fields = [
        hidden("instrument", name) if name else field("Instrument", "instrument", required=True),
        field("Bid", "bid", value=short(now["bid"]) if now else "", required=True),
        field("Ask", "ask", value=short(now["ask"]) if now else "", hint="not below the bid", required=True),
    ]
    return dialog(f"Put a rate of {name}" if name else "Put a rate", words, confirm="Put it", fields=fields)


async def _put(visit: Visit) -> Result:
    form = Form(visit.form)
    name = form.code("instrument")
    bid, ask = form.amount("bid", PLACES), form.amount("ask", PLACES)
    form.check()
    before = await _current(visit, name)
    odd = _odd(before, bid, ask)
    if odd and form.text("sure") != f"{bid} {ask}":
        return Result("", ask_again=_again(name, bid, ask, odd))
    with beside_fields(visit.form):
        done = await rates.put_rate(visit.desk, visit.actor, name, RateBody(bid=bid, ask=ask))
    now = f"{_shown(done['bid'])} / {_shown(done['ask'])}"
    if not done["taken"]:
        return Result(f"{name}: a newer rate came meanwhile, and holds: {now}.")
    was = f"{_shown(before['bid'])} / {_shown(before['ask'])}" if before else "none"
    at = clock(datetime.fromisoformat(done["at"]), visit.zone)
    return Result(f"{name}: {was} → {now}, at {at}.")


def _again(name: str, bid: str, ask: str, odd: Sequence[str]) -> Html:
    """What was typed goes along unseen; that somebody is sure holds for these very numbers alone."""
    kept = {"instrument": name, "bid": bid, "ask": ask, "sure": f"{bid} {ask}"}
    return dialog(
        f"Is {_shown(bid)} / {_shown(ask)} right?",
        [*odd, "Nothing was changed so far. Clients trade at this rate as soon as you put it."],
        confirm="It is right, put it",
        danger=True,
        fields=[hidden(*each) for each in kept.items()],
    )


def _odd(before: View | None, bid: str, ask: str) -> list[str]:
    """Why somebody should look twice, in words."""
    bid_e6, ask_e6 = scaled(bid, PLACES), scaled(ask, PLACES)
    odd = []
    for name, now_e6 in (("bid", bid_e6), ("ask", ask_e6)):
        was_e6 = scaled(before[name], PLACES) if before else 0
        if before and was_e6 and abs(now_e6 - was_e6) * 100 > was_e6 * _JUMP_PERCENT:
            off = off_words(now_e6, was_e6)
            odd.append(f"The {name} is {off} the last one, which was {_shown(before[name])}.")
    if 0 < bid_e6 < ask_e6 and (ask_e6 - bid_e6) * 100 > bid_e6 * _JUMP_PERCENT:
        odd.append(f"The ask is more than {_JUMP_PERCENT} % above the bid.")
    return odd


PUT = Action("put-rate", Role.DEALER, _ask, _put)
ACTIONS = (PUT,)
