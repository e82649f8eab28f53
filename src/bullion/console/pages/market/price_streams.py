"""Streams of prices: whether clients may have their prices sent to them, and how often."""

from bullion.console.forms import Dialog, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import GOOD, OFF, card, facts, state
from bullion.console.widgets.formatting import count
from bullion.desk.actions.switches import get_switches, patch_switches
from bullion.desk.bodies import SwitchesBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import View

from .market_data import switches_of

_INTERVAL = field_of(
    SwitchesBody,
    "quote_stream_interval_ms",
    "Shortest time between two prices of a symbol, in milliseconds",
    "from 100 to 60,000; 1,000 is a second",
    required=True,
)
_ABOUT = (
    "Programs of clients can have the prices of their group sent to them, instead of asking again and again."
)
_USUAL_MS = 1000


async def render(visit: Visit) -> Html:
    interval_ms = (await switches_of(visit))[_INTERVAL.name]
    about: list[Child] = [el("p", _ABOUT, class_="hint")]
    buttons: list[Child] = [ALLOW.button(visit, text="Change" if interval_ms else None, kind="small")]
    if interval_ms:
        about.insert(0, facts([("Each symbol at most every", f"{count(interval_ms)} ms")]))
        buttons.append(STOP.button(visit, kind="small"))
    light = state(GOOD, "allowed") if interval_ms else state(OFF, "off")
    content = el("div", about, class_="inside")
    return card("Streams of prices", content, aside=[light, *buttons], name="price-streams")


async def _ask(visit: Visit) -> Dialog:
    now = _part(await get_switches(visit.desk, visit.actor))
    values = {_INTERVAL.name: now[_INTERVAL.name] or _USUAL_MS, **seen(now)}
    return Dialog(title="Streams of prices", text=[_ABOUT], confirm="Allow streams", values=values)


async def _allow(visit: Visit) -> Result:
    await _patch(visit, visit.values[_INTERVAL.name])
    return Result("Clients may stream their prices.")


async def _ask_stop(visit: Visit) -> Dialog:
    now = _part(await get_switches(visit.desk, visit.actor))
    text = ["Every stream of prices ends within a second. Clients can still ask for prices."]
    return Dialog(title="Stop streams of prices?", text=text, confirm="Stop streams", values=seen(now))


async def _stop(visit: Visit) -> Result:
    await _patch(visit, None)
    return Result("Prices are no longer streamed.")


async def _patch(visit: Visit, interval_ms: int | None) -> None:
    changes = Changes(SwitchesBody, {_INTERVAL.name: interval_ms})
    only_if = unchanged(visit, "The streams of prices", _part)
    await patch_switches(visit.desk, visit.actor, changes, only_if=only_if)


def _part(held: View) -> View:
    return {_INTERVAL.name: held[_INTERVAL.name]}


ALLOW = Action(
    MARKET,
    "allow-price-streams",
    "Allow streams",
    patch_switches,
    _ask,
    _allow,
    (SEEN, _INTERVAL),
    changes=_INTERVAL.name,
)
STOP = Action(
    MARKET,
    "stop-price-streams",
    "Stop streams",
    patch_switches,
    _ask_stop,
    _stop,
    (SEEN,),
    changes=_INTERVAL.name,
)
ACTIONS = (ALLOW, STOP)
