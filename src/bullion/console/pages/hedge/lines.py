"""FIX lines to venues: the state of each, and connecting, disconnecting and resetting it."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from bullion.console.forms import Dialog, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit, locked_button
from bullion.console.paths import MARKET
from bullion.console.widgets.components import (
    BAD,
    GOOD,
    HOLD,
    NOTHING,
    OFF,
    WAIT,
    WARN,
    Column,
    hint,
    small,
    state,
    table_card,
)
from bullion.console.widgets.formatting import count, day_and_clock, moment
from bullion.desk.actions.lines import connect_line, disconnect_line, list_lines, reset_line
from bullion.desk.bodies import LineBody
from bullion.desk.desk import Desk, View
from bullion.records.token import Actor
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .hedge_data import lines_of

UP, DISCONNECTED = "up", "disconnected"
_STATES = {
    UP: (GOOD, "up"),
    "connecting": (WAIT, "connecting"),
    "logging_on": (WAIT, "logging on"),
    "recovering": (WAIT, "asking for open orders"),
    "leaving": (WAIT, "logging out"),
    "waiting": (WARN, "waiting to try again"),
    "resting": (OFF, "closed by its timetable"),
    DISCONNECTED: (HOLD, "disconnected by the desk"),
    "stale": (BAD, "no node holds it"),
}
_REASON = field_of(LineBody, "reason", "Reason", "Required, up to 500 characters. The audit trail keeps it.")
_SOON = "The node that holds the line does it within a few seconds."


async def lines_card(visit: Visit) -> Html:
    reading = await lines_of(visit)
    return table_card(
        visit,
        "Lines to venues",
        "lines",
        _COLUMNS,
        reading.value or [],
        key="name",
        nothing=(
            "There are no lines.",
            "With BULLION_HEDGE=fix the nodes deal over the FIX lines of the market file.",
        ),
        css=lambda line: "late" if is_down(line) else None,
        aside=hint("one node holds each line"),
        reading=reading,
    )


def is_down(line: View) -> bool:
    """It should be up now, and is not."""
    return bool(line["expected"]) and line["state"] != UP


def line_state(line: View) -> Html:
    kind, text = _STATES.get(line["state"], (WARN, line["state"].replace("_", " ")))
    return state(BAD if is_down(line) else kind, text)


def _name(_visit: Visit, line: View) -> Child:
    return [el("b", line["name"]), small(f"{line['venue']}, profile {line['profile']}")]


def _state(visit: Visit, line: View) -> Child:
    return [line_state(line), small(["since ", moment(line["since"], visit.zone)]), small(line["message"])]


def _numbers(_visit: Visit, line: View) -> Child:
    return [f"in {count(line['incoming'])}", small(f"out {count(line['outgoing'])}")]


def _last(visit: Visit, line: View) -> Child:
    came, went = (
        NOTHING if at is None else moment(at, visit.zone) for at in (line["last_in_at"], line["last_out_at"])
    )
    return [el("div", "in ", came), small(["out ", went])]


def _orders(_visit: Visit, line: View) -> Child:
    unknown = line["unknown_orders"]
    return [count(line["open_orders"]), state(BAD, f"{count(unknown)} unknown") if unknown else None]


def _hours(visit: Visit, line: View) -> Child:
    for name, at in (("closes", line["closes_at"]), ("opens", line["opens_at"])):
        if at is not None:
            return f"{name} {day_and_clock(datetime.fromisoformat(at), visit.zone)}"
    return NOTHING


def _buttons(visit: Visit, line: View) -> Html:
    name = line["name"]
    about = {"name": name}
    wish = CONNECT if line["wanted"] == DISCONNECTED else DISCONNECT
    reset: Html = RESET.button(visit, about, kind="small", label=f"Reset the numbers of {name}")
    if not line["may_reset"] and visit.has_role(RESET.role):
        why = "its numbers begin anew at every logon"
        reset = locked_button(RESET.label, why, name=f"why-reset-{name}", kind="small")
    kind = "small danger" if wish is DISCONNECT else "small primary"
    return el(
        "span", wish.button(visit, about, kind=kind, label=f"{wish.label} {name}"), reset, class_="actions"
    )


_COLUMNS = (
    Column("Line", _name),
    Column("State", _state),
    Column("Numbers", _numbers, number=True),
    Column("Last message", _last),
    Column("Open orders", _orders, number=True),
    Column("Hours", _hours),
    Column("Held by", lambda _, line: line["held_by"] or NOTHING),
    Column("", _buttons, number=True),
)


async def _find(visit: Visit) -> View:
    for each in await list_lines(visit.desk, visit.actor):
        if each["name"] == visit.param("name"):
            return each
    raise RefusalError(NOT_FOUND, f"There is no line {visit.param('name')}, or no node has held it yet.")


def _orders_sentence(line: View) -> str:
    number = line["open_orders"]
    if not number:
        return "No order is open on it."
    orders = "1 order is" if number == 1 else f"{count(number)} orders are"
    return f"{orders} open on it: the venue is asked for them at the next logon."


_Call = Callable[[Desk, Actor, str, LineBody], Awaitable[View]]


def _action(
    path: str, label: str, call: _Call, confirm: str, done: str, *text: str, danger: bool = False
) -> Action:
    async def ask(visit: Visit) -> Dialog:
        line = await _find(visit)
        words: Sequence[Child] = [*text, _orders_sentence(line), _SOON]
        return Dialog(title=f"{confirm} {line['name']}?", text=words, confirm=confirm, danger=danger)

    async def do(visit: Visit) -> Result:
        name = visit.param("name")
        await call(visit.desk, visit.actor, name, LineBody(reason=visit.values["reason"]))
        return Result(f"Line {name}: {done}.")

    return Action(MARKET, path, label, call, ask, do, (_REASON,))


CONNECT = _action(
    "connect-line",
    "Connect",
    connect_line,
    "Connect the line",
    "it is connected in its hours again",
    "It logs on at once if the venue is open by its timetable, and stays up in its hours.",
)
DISCONNECT = _action(
    "disconnect-line",
    "Disconnect",
    disconnect_line,
    "Disconnect the line",
    "it logs out and stays away",
    "It logs out and stays away until somebody connects it. Live orders are refused meanwhile.",
    danger=True,
)
RESET = _action(
    "reset-line",
    "Reset numbers",
    reset_line,
    "Reset the numbers of the line",
    "it logs on once with new numbers",
    "Agree on it with the venue first: it logs on once with new message numbers.",
    danger=True,
)
ACTIONS = (CONNECT, DISCONNECT, RESET)
