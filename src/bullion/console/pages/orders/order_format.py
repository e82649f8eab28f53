"""How the pages about orders show what they have in common."""

from collections.abc import Sequence
from typing import TypeVar

from bullion.console.html import Child, Html, el
from bullion.console.pages.accounts.addresses import account_path
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import BAD, GOOD, OFF, WARN, state
from bullion.console.widgets.formatting import weight
from bullion.console.widgets.times import age
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.orders.status import Status

T = TypeVar("T")
NOTHING = "–"
_STATES: dict[str, tuple[str, str]] = {
    Status.FILLED: (GOOD, "simulated, and nothing was booked"),
    Status.PENDING: (WARN, "waits for the hedge"),
    Status.OPEN: (GOOD, "a deal"),
    Status.CLOSING: (WARN, "the desk is closing it"),
    Status.CLOSED: (OFF, "over, with the client's result below"),
    Status.REJECTED: (BAD, "the hedge refused it: nothing was booked"),
    Status.DELETED: (OFF, "removed by the desk"),
}


def status(name: str) -> Html:
    kind, words = _STATES[name]
    return state(kind, name, words)


def in_words(name: str) -> str:
    return _STATES[name][1]


def environment(name: str) -> Html:
    """Test is told apart at a glance: it is not money."""
    return el("span", name, class_=f"where {name}")


def what(each: View) -> Sequence[Child]:
    """Buy 5 g GOLD"""
    side = each["trade_type"]
    return [
        el("b", side, class_=f"side {side}" if side in ("buy", "sell") else "side"),
        f" {weight(each['quantity'], each['unit'])} {each['symbol_code']}",
    ]


def account_link(login_id: str) -> Html:
    return el("a", login_id, href=account_path(login_id))


def is_test(each: View) -> bool:
    return bool(each["environment"] == Environment.TEST)


def deal(each: View) -> str:
    if each["deal_label"] is not None:
        return str(each["deal_label"])
    return NOTHING if each["deal_no"] is None else str(each["deal_no"])


def freshness(reading: Reading[T]) -> Child:
    """How old something is, when it could not be read again."""
    if reading.trouble is None:
        return None
    return state(WARN, f"{age(reading.age_s)} old", reading.trouble)


def facts(pairs: Sequence[tuple[str, Child]]) -> Html:
    """What is known, each by its name."""
    return el(
        "dl", [el("div", el("dt", name), el("dd", value)) for name, value in pairs if value], class_="facts"
    )
