"""How the order ticket writes an order: in words that a dealer can say to a client."""

from collections.abc import Mapping

from bullion.console.forms import Amount
from bullion.console.html import Child, Html, el
from bullion.console.widgets.formatting import grouped, trim_zeros, weight
from bullion.desk.desk import View

FIELDS = ("login", "symbol", "side", "quantity")
"""The fields of the form, which are also the parameters of the page's address."""
_AMOUNT = Amount("quantity", "Weight")
_UNITS = {"g": ("gram", "grams"), "kg": ("kilogram", "kilograms")}
_VERBS = {"buy": ("buys", "buy", "pays"), "sell": ("sells", "sell", "gets")}


def order_of(fields: Mapping[str, str]) -> dict[str, str | None]:
    """What was typed, as the fields of the desk's bodies. The weight may be grouped by commas."""
    typed = {name: fields.get(name, "").strip() for name in FIELDS}
    return {
        "login_id": typed["login"],
        "symbol_code": typed["symbol"],
        "trade_type": typed["side"],
        "quantity": str(_AMOUNT.parse(typed["quantity"])) or None,
    }


def client_name(order: View) -> str:
    return str(order["firm_name"] or order["login_id"])


def price_text(plain: str | None) -> str:
    """₹1,50,617: paise only if there are any, because the price is read aloud."""
    return "–" if plain is None else f"₹{grouped(trim_zeros(plain))}"


def total_text(plain: str | None) -> str:
    """₹15,06,170.00"""
    return "–" if plain is None else f"₹{grouped(plain)}"


def quoted_for(order: View) -> str:
    """per 10 g"""
    return f"per {weight(order['quoted_weight'], order['unit'])}"


def verb(side: str) -> str:
    """buys, sells"""
    return _VERBS[side][0]


def pays(side: str) -> str:
    return _VERBS[side][2]


def booking_text(order: View) -> str:
    """Raja Jewellers buys 100 g GOLD at ₹1,50,617"""
    size = weight(order["quantity"], order["unit"])
    what = f"{size} {order['symbol_code']} at {price_text(order['price'])}"
    return f"{client_name(order)} {verb(order['trade_type'])} {what}"


def sentence(order: View) -> Html:
    """What to say to the client before it is booked."""
    buys = _VERBS[order["trade_type"]][1]
    amount = trim_zeros(order["quantity"])
    said: list[Child] = [
        "“You ",
        el("b", f"{buys} {grouped(amount)} {_unit(amount, order['unit'])}"),
        f" of {order['metal']}, {order['symbol_code']}, at ",
        el("b", grouped(trim_zeros(order["price"]))),
        f" {quoted_for(order)}, in all ",
        el("b", f"{grouped(trim_zeros(order['total']))} rupees"),
        ". Shall I book it?”",
    ]
    return el("p", said, class_="say")


def _unit(amount: str, unit: str) -> str:
    one, many = _UNITS[unit]
    return one if amount == "1" else many
