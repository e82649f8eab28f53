"""Pins: a rate of the desk that holds against the feed until a time, and its mark wherever it is used."""

import asyncio
import contextlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from bullion.console.forms import Dialog, Field, FormErrors, field_of
from bullion.console.html import Child, Html
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import HOLD, state
from bullion.console.widgets.formatting import age, clock, day_and_clock, rate, zone_name
from bullion.desk.actions.rates import list_rates, put_rate, unpin_rate
from bullion.desk.bodies import RateBody
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError

from .market_data import rates_of, symbols_of

_USUAL = timedelta(minutes=30)
_PARTS = ("instrument", "spot", "currency")
"""The parts of a symbol's pricing that name an instrument."""
_BID = field_of(RateBody, "bid", "Bid")
_ASK = field_of(RateBody, "ask", "Ask", "not below the bid")
_UNTIL = Field("pin_until", "Until", "at most 7 days from now", required=True, kind="datetime-local")


def is_pinned(visit: Visit, held: View) -> bool:
    until = held["pinned_until"]
    return held["source"] == "desk" and until is not None and datetime.fromisoformat(until) > visit.now


def pin_mark(visit: Visit, held: View, *, named: bool = False) -> Html:
    """`named`: with the instrument, where the mark stands beside something else."""
    until = _until_text(visit, held["pinned_until"])
    what = f"{held['instrument']} pinned" if named else "pinned"
    return state(HOLD, f"{what} until {until}")


def pin_marks(visit: Visit, rates: Iterable[View], pricing: View) -> Sequence[Child]:
    """The pins that a symbol is priced by."""
    used = {pricing.get(part) for part in _PARTS}
    return [
        pin_mark(visit, each, named=True)
        for each in rates
        if each["instrument"] in used and is_pinned(visit, each)
    ]


async def pins_of(visit: Visit, code: str) -> Sequence[Child]:
    """The pins that the symbol with this code is priced by. It never fails a page."""
    with contextlib.suppress(RefusalError):
        symbols, rates = await asyncio.gather(symbols_of(visit), rates_of(visit))
        return [
            mark
            for each in symbols
            if each["code"] == code
            for mark in pin_marks(visit, rates, each["pricing"])
        ]
    return ()


def _until_text(visit: Visit, text: str) -> str:
    at = datetime.fromisoformat(text)
    same_day = at.astimezone(visit.zone).date() == visit.now.astimezone(visit.zone).date()
    return clock(at, visit.zone) if same_day else day_and_clock(at, visit.zone)


async def current_rate(visit: Visit, instrument: str) -> View | None:
    for each in await list_rates(visit.desk, visit.actor):
        if each["instrument"] == instrument:
            return None if is_unreadable(each) else each
    return None


async def _ask(visit: Visit) -> Dialog:
    name = visit.param("instrument")
    now = await current_rate(visit, name)
    local = (visit.now + _USUAL).astimezone(visit.zone)
    text = [
        "It holds against the feed until that time. Clients trade at it within a second.",
        "It is marked wherever it is used. You can end the pin at any time.",
    ]
    if now is not None:
        text.insert(0, f"Now {rate(now['bid'])} / {rate(now['ask'])}, {age(now['age_s'])} old.")
    until = Field("pin_until", f"Until, {zone_name(local)}", _UNTIL.hint, required=True, kind=_UNTIL.kind)
    return Dialog(
        title=f"Pin the rate of {name}",
        text=text,
        confirm="Pin the rate",
        fields=(_BID, _ASK, until),
        values={**(now or {}), "pin_until": f"{local:%Y-%m-%dT%H:%M}"},
    )


async def _pin(visit: Visit) -> Result:
    name, bid, ask = visit.param("instrument"), visit.values["bid"], visit.values["ask"]
    try:
        local = datetime.fromisoformat(visit.values["pin_until"])
        until = local.replace(tzinfo=local.tzinfo or visit.zone).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        raise FormErrors({"pin_until": "Type a day and a time, such as 2026-11-17T16:30."}) from None
    before = await current_rate(visit, name)
    done = await put_rate(visit.desk, visit.actor, name, RateBody(bid=bid, ask=ask, pin_until=until))
    if not done["taken"]:
        raise RefusalError(
            CONFLICT, f"A newer rate of {name} arrived meanwhile: nothing was pinned. Try again."
        )
    was = f"{rate(before['bid'])} / {rate(before['ask'])}" if before else "none"
    now = f"{rate(done['bid'])} / {rate(done['ask'])}"
    return Result(f"{name}: {was} → {now}, pinned until {_until_text(visit, done['pinned_until'])}.")


def _held(rate: View) -> View:
    """What somebody pinned."""
    return {name: rate[name] for name in ("bid", "ask", "pinned_until")}


async def _ask_release(visit: Visit) -> Dialog:
    name = visit.param("instrument")
    now = await current_rate(visit, name)
    held = f"{rate(now['bid'])} / {rate(now['ask'])}" if now else "none"
    return Dialog(
        title=f"End the pin of {name}?",
        text=[
            f"It is pinned at {held}.",
            "The next rate of the feed replaces it, and it grows old until then.",
        ],
        confirm="End the pin",
        values={} if now is None else seen(_held(now)),
    )


async def _release(visit: Visit) -> Result:
    name = visit.param("instrument")
    only_if = unchanged(visit, f"The pin of {name}", _held)
    await unpin_rate(visit.desk, visit.actor, name, only_if=only_if)
    return Result(f"The pin of {name} has ended.")


PIN = Action(MARKET, "pin-rate", "Pin", put_rate, _ask, _pin, (_BID, _ASK, _UNTIL))
RELEASE = Action(MARKET, "unpin-rate", "End the pin", unpin_rate, _ask_release, _release, (SEEN,))
