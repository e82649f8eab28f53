"""A cover, its deals and its contract as text."""

from bullion.console.html import Child, Html, el
from bullion.console.widgets.components import BAD, DONE, OFF, WAIT, WARN, state
from bullion.console.widgets.fine_weight import fine
from bullion.console.widgets.formatting import grouped, rate, rupees, trim_zeros
from bullion.desk.actions.covers import BY_HAND
from bullion.desk.desk import View
from bullion.hedge.contract import DOLLARS

_STATES = {
    "suggested": (WARN, "to send"),
    "sent": (WAIT, "sent"),
    "filled": (DONE, "filled"),
    "partly": (WARN, "partly filled"),
    "refused": (BAD, "refused"),
    "dropped": (OFF, "dropped"),
}


def cover_state(cover: View) -> Html:
    kind, text = _STATES[cover["state"]]
    return state(kind, text)


def order_text(cover: View) -> Child:
    """BUY 2 GOLDM"""
    side = cover["side"]
    return [el("b", side, class_=f"side {side}"), f" {quantity(cover['quantity'])} {cover['contract']}"]


def plain_text(cover: View) -> str:
    """buy 2 GOLDM, for sentences and names of buttons"""
    return f"{cover['side']} {quantity(cover['quantity'])} {cover['contract']}"


def quantity(plain: str) -> str:
    return grouped(trim_zeros(plain))


def fine_text(cover: View) -> str:
    return fine(cover["fine"], cover["metal"])


def by_whom(cover: View) -> str:
    name = cover["made_by"].partition(" (")[0]
    return f"by hand by {name}" if cover["rule"] == BY_HAND else f"by the rule {cover['rule']}"


def deal_text(deal: View) -> str:
    """2 at ₹71,250.50, LM-1"""
    parts = [f"{quantity(deal['quantity'])} at {price(deal['price'], deal['currency'])}", deal["reference"]]
    if deal["dollar"]:
        parts.append(f"{rupees(trim_zeros(deal['dollar']))} per $")
    return ", ".join(parts)


def price(plain: str, currency: str) -> str:
    return f"{currency_sign(currency)}{rate(plain)}"


def currency_sign(currency: str) -> str:
    return "$" if currency == DOLLARS else "₹"
