"""The broker's switches in the frame of every page, with their state and a dialog before each change."""

from datetime import datetime

from bullion.desk.actions.switches import patch_switches
from bullion.desk.bodies import SwitchesBody
from bullion.desk.conversion import Changes

from .forms import Dialog
from .html import Html, el
from .page import Action, Result, Visit
from .widgets.components import BAD, GOOD, HOLD, OFF, WARN, state
from .widgets.cover import cover_sentence
from .widgets.formatting import day_and_clock

FRAME = "frame"
"""Stands for a page's name in the paths of the frame's own actions."""
_AT_ONCE = "It takes effect within a second on every node. The audit trail records your name."
_KEPT = "Recorded orders stay: orders that wait are still answered, and open orders can be closed."
_DEPLOYMENT_CLOSED = (
    "The deployment itself is closed to production. API orders stay refused until it is started with "
    "BULLION_PRODUCTION=on."
)


def _switch(
    name: str, label: str, field: str, title: str, *text: str, to: bool, done: str, danger: bool = False
) -> Action:
    async def ask(visit: Visit) -> Dialog:
        more = [_AT_ONCE]
        if name == "open-production":
            more.append(cover_sentence(visit))
            more += [] if visit.settings.production else [_DEPLOYMENT_CLOSED]
        return Dialog(title=title, text=[*text, *more], confirm=label, danger=danger)

    async def do(visit: Visit) -> Result:
        await patch_switches(visit.desk, visit.actor, Changes(SwitchesBody, {field: to}))
        return Result(done)

    return Action(FRAME, name, label, patch_switches, ask, do, changes={field: to})


_HALT = _switch(
    "halt",
    "Halt trading",
    "halted",
    "Halt all trading?",
    "Every new order is refused: in every symbol, in production and in test, by API and at the desk.",
    "Clients get the error trading_halted.",
    _KEPT,
    to=True,
    done="Trading is halted.",
    danger=True,
)
_RESUME = _switch(
    "resume",
    "Resume trading",
    "halted",
    "Resume trading?",
    "New orders are accepted again at current rates. Check the rates before you confirm.",
    to=False,
    done="Trading is resumed.",
)
_PAUSE = _switch(
    "pause",
    "Pause production",
    "paused",
    "Pause production?",
    "New production orders are refused, over the API and at the desk. Test orders are accepted.",
    "Clients are asked to retry later.",
    _KEPT,
    to=True,
    done="Production is paused.",
    danger=True,
)
_END_PAUSE = _switch(
    "end-pause",
    "End the pause",
    "paused",
    "End the pause?",
    "New production orders are accepted again.",
    to=False,
    done="The pause has ended.",
)
_OPEN = _switch(
    "open-production",
    "Open production",
    "production",
    "Open production over the API?",
    "Clients with production trading switched on can then place real orders.",
    to=True,
    done="Production is open.",
    danger=True,
)
_CLOSE = _switch(
    "close-production",
    "Close production",
    "production",
    "Close production over the API?",
    "Clients' real orders are refused with production_trading_disabled.",
    "Orders that the desk places for them, and test orders, are still accepted.",
    _KEPT,
    to=False,
    done="Production is closed.",
    danger=True,
)
ACTIONS = (_HALT, _RESUME, _PAUSE, _END_PAUSE, _OPEN, _CLOSE)


def switchboard(visit: Visit) -> Html:
    """Trading, production and pause, each with its state and the button that changes it."""
    held = visit.frame.switches.value
    if held is None:
        unknown = state(WARN, "unknown: the switches cannot be read")
        return el("div", el("div", el("b", "Switches"), unknown, class_="switch"), class_="switchboard")
    halted, paused, production = held["halted"], held["paused"], held["production"]
    deployed = visit.settings.production
    closed = "closed by the deployment" if production and not deployed else "closed"
    production_state = state(GOOD, "open") if production and deployed else state(OFF, closed)
    trading_state = state(BAD, "halted") if halted else _by_trading_hours(visit)
    pause_state = state(HOLD, "paused") if paused else el("span", "not paused", class_="state unseen")
    production_button = _button(visit, _CLOSE, "Close") if production else _button(visit, _OPEN, "Open")
    halt_button = _button(visit, _RESUME, "Resume") if halted else _button(visit, _HALT, "Halt", "danger")
    pause_button = _button(visit, _END_PAUSE, _END_PAUSE.label) if paused else _button(visit, _PAUSE, "Pause")
    return el(
        "div",
        _switch_html("Trading", "halted", trading_state, halt_button, alarmed=halted),
        _switch_html("Production", "production", production_state, production_button),
        _switch_html(None, "paused", pause_state, pause_button, alarmed=paused),
        class_="switchboard",
        role="group",
        aria_label="Switches",
    )


def _by_trading_hours(visit: Visit) -> Html:
    opening = visit.frame.opening.value
    if opening is None or opening["open"]:
        return state(GOOD, "open")
    if opening["changes_at"] is None:
        return state(OFF, "closed by the trading hours")
    at = datetime.fromisoformat(opening["changes_at"])
    return state(OFF, f"closed, opens {day_and_clock(at, visit.zone)}")


def _button(visit: Visit, action: Action, text: str, kind: str = "") -> Html:
    """With a short word, because the strip has little room; its name says it whole."""
    return action.button(visit, text=text, kind=f"small {kind}".strip(), label=action.label)


def _switch_html(name: str | None, field: str, now: Html, button: Html, *, alarmed: bool = False) -> Html:
    css = "switch alarmed" if alarmed else "switch"
    return el("div", el("span", name) if name else None, now, button, class_=css, data_switch=field)
