"""The money of a metal's hedge book: what it is worth, what it risks, and what it has earned by parts."""

from decimal import Decimal

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.widgets.components import NOTHING, WARN, hint, state
from bullion.console.widgets.formatting import MINUS, grouped, is_zero, moment, rate, rupees
from bullion.desk.desk import View

_PAISE = Decimal("0.01")
_PARTS = {
    "premium": "Premiums of clients",
    "duty": "Duty",
    "slippage": "Slippage of covers",
    "realised": "Realised",
    "unrealised": "Not realised",
    "currency": "Currency",
    "fees": "Fees",
}


def money(visit: Visit, book: View) -> Html:
    """The bar of figures, with the parts of the profit below."""
    profit = book["profit"]
    figures: list[tuple[str, Child, Child]] = [
        ("Profit", _amount(profit["total"], signed=True), "the sum of the parts below"),
        ("Value", _amount(book["value"]), "of what is not covered"),
        ("At risk in a day", _amount(book["value_at_risk"]), _volatility(book)),
        ("Average", _average(book), "per g of fine metal"),
        ("Open dollars", dollars(book["usd_open"]), _in_rupees(book)),
    ]
    shown = [
        el("div", el("span", name, class_="label"), el("b", value), el("span", text, class_="hint"))
        for name, value, text in figures
    ]
    parts = [(el("dt", text), el("dd", _amount(profit[name], signed=True))) for name, text in _PARTS.items()]
    return el(
        "div",
        el("div", shown, class_="money"),
        el("dl", parts, class_="figures", aria_label="Profit by parts"),
        _marked(visit, book),
        class_="book-money",
    )


def dollars(plain: str) -> str:
    return f"${grouped(plain)}".replace(f"${MINUS}", f"{MINUS}$")


def _amount(plain: str | None, *, signed: bool = False) -> Child:
    if plain is None:
        return NOTHING
    if not signed or is_zero(plain):
        return rupees(plain)
    if plain.startswith("-"):
        return el("span", rupees(plain), class_="down")
    return el("span", f"+{rupees(plain)}", class_="up")


def _volatility(book: View) -> str:
    if is_zero(book["volatility_percent"]):
        return "no volatility is set"
    return f"at {grouped(book['volatility_percent'].rstrip('0').rstrip('.'))} %"


def _average(book: View) -> Child:
    """To the paisa, with all digits in its title."""
    exact = book["average"]
    if exact is None:
        return NOTHING
    return el("span", rupees(f"{Decimal(exact).quantize(_PAISE):f}"), title=f"₹{rate(exact)}")


def _in_rupees(book: View) -> str:
    if is_zero(book["usd_open"]):
        return "none to cover"
    worth = book["usd_open_rupees"]
    return "no fresh rate" if worth is None else f"worth {rupees(worth)}"


def _marked(visit: Visit, book: View) -> Html:
    texts: list[Child] = []
    if book["marked_at"] is not None:
        texts.append(
            hint("marked by ", book["marked_by"] or "the rate", " at ", moment(book["marked_at"], visit.zone))
        )
    if book["estimated_deals"]:
        texts.append(hint(f"{book['estimated_deals']} deals are estimated"))
    if book["unmarked_because"] is not None:
        texts.append(state(WARN, book["unmarked_because"]))
    return el("div", texts, class_="marks")
