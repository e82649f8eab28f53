"""What the price of an order was made of, as it was stored with it: a waterfall, and the numbers behind."""

from collections.abc import Mapping
from decimal import Decimal, localcontext

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.widgets.charts import Step, waterfall
from bullion.console.widgets.components import card
from bullion.console.widgets.formatting import grouped, rupees, weight
from bullion.console.widgets.times import moment
from bullion.desk.desk import View

from .order_format import facts

_DIGITS = 300
"""More than the widest numbers of a formula fill."""
_PAISE = Decimal("0.01")


def anatomy_card(visit: Visit, order: View) -> Html:
    anatomy = order["price_anatomy"]
    parts = {each["name"]: each["value"] for each in anatomy["components"]}
    per = weight(anatomy["quoted_weight"], anatomy["unit"])
    steps = price_steps(parts, anatomy)
    label = f"The price of {rupees(anatomy['price'])}, from the top down"
    return card(
        "The price",
        el("figure", waterfall(steps, label=label)),
        facts(_behind(visit, order, parts)),
        aside=el("span", f"per {per}, in rupees", class_="hint"),
        name="anatomy",
    )


def price_steps(parts: Mapping[str, str], anatomy: View) -> list[Step]:
    """From the market to the client, without those that added nothing."""
    with localcontext(prec=_DIGITS):
        return [step for step in _steps(parts, anatomy) if step.amount or step.whole]


def _steps(parts: Mapping[str, str], anatomy: View) -> list[Step]:
    whole = Decimal(parts["symbol_price"])
    premium, price = Decimal(anatomy["premium"]), Decimal(anatomy["price"])
    return [
        *_market(parts),
        *([_step("Symbol's price", whole, whole=True)] if "spot" in parts else []),
        _step("Terms of the group", premium),
        _step("Rounding", price - whole - premium),
        _step("Price", price, whole=True),
    ]


def _market(parts: Mapping[str, str]) -> list[Step]:
    if "fixed" in parts:
        return [_step("Fixed by the desk", Decimal(parts["fixed"]))]
    if "spot" not in parts:
        return [_step(f"Rate of {parts['instrument']}", Decimal(parts["symbol_price"]))]
    spot, premium_usd, currency, interbank, conversion = (
        Decimal(parts[name]) for name in ("spot", "premium_usd", "currency", "interbank", "conversion")
    )
    return [
        _step("Spot in rupees", spot * currency * conversion),
        _step("Premium on spot", premium_usd * currency * conversion),
        _step("Interbank", (spot + premium_usd) * interbank * conversion),
        _step("Duty", Decimal(parts["duty"])),
        _step("Margin", Decimal(parts["margin"])),
    ]


def _step(name: str, amount: Decimal, *, whole: bool = False) -> Step:
    """To the paisa for the eye; what is lost by that is told by no other step, and is less than one."""
    shown = f"{amount.quantize(_PAISE):f}"
    return Step(name, int(amount.quantize(_PAISE).scaleb(2)), grouped(shown), whole=whole)


def _behind(visit: Visit, order: View, parts: Mapping[str, str]) -> list[tuple[str, Child]]:
    told: list[tuple[str, Child]] = []
    if "spot" in parts:
        told = [
            ("Spot", f"{grouped(parts['spot'])} USD{_added(parts['premium_usd'], 'premium')}"),
            ("Currency", f"{rupees(parts['currency'])} a dollar{_added(parts['interbank'], 'interbank')}"),
            ("Conversion", grouped(parts["conversion"])),
        ]
    anatomy = order["price_anatomy"]
    for tick in anatomy["ticks"]:
        quote = f"{_short(tick['bid'])} / {_short(tick['ask'])}, at "
        told.append((f"{tick['instrument']} bid / ask", [quote, moment(tick["at"], visit.zone, visit.now)]))
    if order["expected_price"] is not None:
        tolerance = anatomy["tolerance_percent"].rstrip("0").rstrip(".") or "0"
        told.append(("The client expected", f"{rupees(order['expected_price'])}, within {tolerance} percent"))
    return told


def _short(plain: str) -> str:
    """Ticks have six places, and mostly fewer that say something."""
    return grouped(plain.rstrip("0").rstrip(".") if "." in plain else plain)


def _added(plain: str, name: str) -> str:
    if plain.strip("-0.") == "":
        return ""
    sign = "" if plain.startswith("-") else "+"
    return f", {sign}{grouped(plain)} {name}"
