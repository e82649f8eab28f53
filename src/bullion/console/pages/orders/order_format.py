"""How the pages about orders show an order's state, environment, deal and account."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo

from bullion.console.html import Child, Html, el
from bullion.console.paths import account_path
from bullion.console.widgets.components import BAD, DONE, GOOD, NOTHING, OFF, WAIT, state
from bullion.console.widgets.formatting import weight
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.orders.status import Status

_STATES: dict[str, tuple[str, str]] = {
    Status.FILLED: (GOOD, "simulated, nothing was booked"),
    Status.PENDING: (WAIT, "waiting for the venue"),
    Status.OPEN: (GOOD, "a deal"),
    Status.CLOSING: (WAIT, "the desk is closing it"),
    Status.CLOSED: (DONE, "closed, with the client's result below"),
    Status.REJECTED: (BAD, "its hedge was refused, nothing was booked"),
    Status.DELETED: (OFF, "deleted by the desk"),
}


@cache
def status(name: str) -> Html:
    kind, text = _STATES[name]
    return state(kind, name, text)


def status_text(name: str) -> str:
    return _STATES[name][1]


@cache
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


@cache
def side(trade_type: str) -> Html:
    """Blue for BUY and orange for SELL, as the client sees it."""
    return el("b", trade_type.upper(), class_=f"side {trade_type}")


def row_time(text: str, zone: ZoneInfo, now: datetime) -> Html:
    """14:32:02, or 16 Nov 14:32:02. The head of the column names the zone."""
    local = datetime.fromisoformat(text).astimezone(zone)
    today = local.date() == now.astimezone(zone).date()
    same_year = local.year == now.astimezone(zone).year
    day = "" if today else f"{local:%d %b} " if same_year else f"{local:%d %b %Y} "
    return el("time", f"{day}{local:%H:%M:%S}", datetime=text, title=text)


def row_name(order: View) -> str:
    """BUY 5 g GOLD for client: names a row in messages and labels."""
    size = weight(order["quantity"], order["unit"])
    who = order.get("firm_name") or order["login_id"]
    return f"{order['trade_type'].upper()} {size} {order['symbol_code']} for {who}"


def left_to_cover(order: View) -> str:
    """What the desk covers if it confirms the order."""
    rest = None if order["hedge"] is None else order["hedge"]["rest"]
    return str(order["quantity"] if rest is None else rest["quantity"])
