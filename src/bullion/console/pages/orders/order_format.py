"""How the pages about orders show an order's state, environment, deal and account."""

from collections.abc import Sequence

from bullion.console.html import Child, Html, el
from bullion.console.paths import account_path
from bullion.console.widgets.components import BAD, GOOD, NOTHING, OFF, WARN, state
from bullion.console.widgets.formatting import weight
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.orders.status import Status

_STATES: dict[str, tuple[str, str]] = {
    Status.FILLED: (GOOD, "simulated, nothing was booked"),
    Status.PENDING: (WARN, "waiting for the hedge"),
    Status.OPEN: (GOOD, "a deal"),
    Status.CLOSING: (WARN, "the desk is closing it"),
    Status.CLOSED: (OFF, "closed, with the client's result below"),
    Status.REJECTED: (BAD, "refused by the hedge, nothing was booked"),
    Status.DELETED: (OFF, "deleted by the desk"),
}


def status(name: str) -> Html:
    kind, text = _STATES[name]
    return state(kind, name, text)


def status_text(name: str) -> str:
    return _STATES[name][1]


def environment(name: str) -> Html:
    """Coloured, so that test orders stand out: they are not money."""
    return el("span", name, class_=f"where {name}")


def order_text(each: View, unit: str | None = None) -> Sequence[Child]:
    """Buy 5 g GOLD"""
    side = each["trade_type"]
    size = weight(each["quantity"], unit or each.get("unit") or "").strip()
    css = f"side {side}" if side in ("buy", "sell") else "side"
    return [el("b", side, class_=css), f" {size} {each['symbol_code']}"]


def account_link(login_id: str) -> Html:
    return el("a", login_id, href=account_path(login_id))


def is_test(each: View) -> bool:
    return bool(each["environment"] == Environment.TEST)


def deal_number(each: View) -> str:
    if each["deal_label"] is not None:
        return str(each["deal_label"])
    return NOTHING if each["deal_no"] is None else str(each["deal_no"])
