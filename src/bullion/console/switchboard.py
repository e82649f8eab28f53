"""The big switches: in the frame of every page, with their state, and a question before each is turned."""

from dataclasses import dataclass
from datetime import datetime

from bullion.desk.actions import switches
from bullion.desk.bodies import SwitchesBody
from bullion.desk.conversion import Changes
from bullion.records.token import Role

from .html import Html, el
from .page import Action, Result, Visit
from .widgets.components import BAD, GOOD, OFF, WARN, state
from .widgets.dialog import action_button, dialog
from .widgets.times import day_and_clock

FRAME = "frame"
"""Stands for a page's name in the paths of the frame's own actions."""
_AT_ONCE = "It holds within a second, on every node, and your name stands in the audit trail."


_DEPLOYMENT_CLOSED = (
    "The deployment itself is closed to production: until it is started with BULLION_PRODUCTION=on, "
    "orders over the API are refused all the same."
)


@dataclass(frozen=True, slots=True)
class _Turn:
    """One way of turning a switch."""

    name: str
    button: str
    field: str
    to: bool
    role: Role
    title: str
    explanation: tuple[str, ...]
    done: str
    danger: bool = False

    def action(self) -> Action:
        async def ask(visit: Visit) -> Html:
            words = [*self.explanation, *_beyond(visit, self)]
            return dialog(self.title, words, confirm=self.button, danger=self.danger)

        async def do(visit: Visit) -> Result:
            changes = Changes(SwitchesBody, {self.field: self.to})
            await switches.patch_switches(visit.desk, visit.actor, changes)
            return Result(self.done)

        return Action(self.name, self.role, ask, do)


def _beyond(visit: Visit, turn: _Turn) -> list[str]:
    if turn.field == "production" and turn.to and not visit.settings.production:
        return [_DEPLOYMENT_CLOSED]
    return []


_KEPT = "What is recorded stays: pending orders go on to their hedge, and open ones can be closed."
_HALT = _Turn(
    "halt",
    "Halt trading",
    "halted",
    to=True,
    role=Role.DEALER,
    title="Halt all trading?",
    explanation=(
        "Every new order is refused: in every symbol, in production and in test, by API and at the desk.",
        "Clients are told trading_halted.",
        _KEPT,
        _AT_ONCE,
    ),
    done="Trading is halted.",
    danger=True,
)
_RESUME = _Turn(
    "resume",
    "Resume trading",
    "halted",
    to=False,
    role=Role.DEALER,
    title="Resume trading?",
    explanation=(
        "New orders are taken again, at the rates of that moment. Look at the rates before you confirm.",
        _AT_ONCE,
    ),
    done="Trading goes on.",
)
_PAUSE = _Turn(
    "pause",
    "Pause production",
    "paused",
    to=True,
    role=Role.ADMIN,
    title="Pause production?",
    explanation=(
        "New production orders are refused, over the API and at the desk. Test orders go on.",
        "Clients are told to try again later.",
        _KEPT,
        _AT_ONCE,
    ),
    done="Production is paused.",
    danger=True,
)
_GO_ON = _Turn(
    "go-on",
    "End the pause",
    "paused",
    to=False,
    role=Role.ADMIN,
    title="End the pause?",
    explanation=("New production orders are taken again.", _AT_ONCE),
    done="The pause is over.",
)
_OPEN = _Turn(
    "open-production",
    "Open production",
    "production",
    to=True,
    role=Role.ADMIN,
    title="Open production over the API?",
    explanation=(
        "Clients whose own production switch is on can then place real orders.",
        "Each is covered at the venue and becomes a deal.",
        _AT_ONCE,
    ),
    done="Production is open.",
    danger=True,
)
_CLOSE = _Turn(
    "close-production",
    "Close production",
    "production",
    to=False,
    role=Role.ADMIN,
    title="Close production over the API?",
    explanation=(
        "Clients' real orders are refused: they are told production_trading_disabled.",
        "Orders that the desk places for them go on, and so do test orders.",
        _KEPT,
        _AT_ONCE,
    ),
    done="Production is closed.",
    danger=True,
)
_TURNS = (_HALT, _RESUME, _PAUSE, _GO_ON, _OPEN, _CLOSE)
_BY_TURN = {turn.name: turn.action() for turn in _TURNS}
ACTIONS = tuple(_BY_TURN.values())


def switchboard(visit: Visit) -> Html:
    """Trading, production, pause: each with its state in words and the button that turns it."""
    held = visit.news.switches.value
    if held is None:
        unknown = state(WARN, "not known: the switches cannot be read")
        return el("div", el("div", el("b", "Switches"), unknown, class_="switch"), class_="switchboard")
    halted, paused, production = held["halted"], held["paused"], held["production"]
    opened = production and visit.settings.production
    shut = "closed by the deployment" if production and not visit.settings.production else "closed"
    return el(
        "div",
        _shown(
            visit,
            "Trading",
            state(BAD, "halted") if halted else _by_timetable(visit),
            _RESUME if halted else _HALT,
            alarmed=halted,
        ),
        _shown(
            visit,
            "Production",
            state(GOOD, "open") if opened else state(OFF, shut),
            _CLOSE if production else _OPEN,
        ),
        _shown(
            visit,
            "Pause",
            state(WARN, "paused") if paused else state(GOOD, "not paused"),
            _GO_ON if paused else _PAUSE,
            alarmed=paused,
        ),
        class_="switchboard",
        role="group",
        aria_label="Switches",
    )


def _by_timetable(visit: Visit) -> Html:
    """Not halted; so the broker's hours decide."""
    opening = visit.news.opening.value
    if opening is None or opening["open"]:
        return state(GOOD, "open")
    if opening["changes_at"] is None:
        return state(OFF, "closed by the timetable")
    at = datetime.fromisoformat(opening["changes_at"])
    return state(OFF, f"closed, opens {day_and_clock(at, visit.zone)}")


def _shown(visit: Visit, name: str, now: Html, turn: _Turn, *, alarmed: bool = False) -> Html:
    button = action_button(visit, FRAME, _BY_TURN[turn.name], turn.button, kind="small")
    return el(
        "div",
        el("b", name),
        now,
        button,
        class_="switch alarmed" if alarmed else "switch",
        data_switch=turn.field,
    )
