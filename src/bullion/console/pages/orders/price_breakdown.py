"""How the price of an order was made, as it was stored with it: a waterfall, and the numbers behind."""

from collections.abc import Mapping
from decimal import Decimal, localcontext

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.widgets.charts import Step, waterfall
from bullion.console.widgets.components import card, facts, hint
from bullion.console.widgets.formatting import grouped, is_zero, moment, rupees, trim_zeros, weight
from bullion.desk.desk import View

_DIGITS = 300
"""More than the longest numbers of a formula have."""
_PAISE = Decimal("0.01")


def price_card(visit: Visit, order: View) -> Html:
    anatomy = order["price_anatomy"]
    parts = {each["name"]: each["value"] for each in anatomy["components"]}
    per = weight(anatomy["quoted_weight"], anatomy["unit"])
    label = f"How the price of {rupees(anatomy['price'])} is made, from the top down"
    return card(
        "Price",
        el("figure", waterfall(price_steps(parts, anatomy), label=label)),
        facts(_inputs(visit, order, parts)),
        aside=hint(f"per {per}, in rupees"),
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
        _step("Group premium", premium),
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
    """Rounded to the paisa for display; the bars may be off by less than one."""
    shown = amount.quantize(_PAISE)
    return Step(name, int(shown.scaleb(2)), grouped(f"{shown:f}"), whole=whole)


def _inputs(visit: Visit, order: View, parts: Mapping[str, str]) -> list[tuple[str, Child]]:
    shown: list[tuple[str, Child]] = []
    if "spot" in parts:
        shown = [
            ("Spot", f"{grouped(parts['spot'])} USD{_added(parts['premium_usd'], 'premium')}"),
            ("Currency", f"{rupees(parts['currency'])} per dollar{_added(parts['interbank'], 'interbank')}"),
            ("Conversion", grouped(parts["conversion"])),
        ]
    anatomy = order["price_anatomy"]
    for tick in anatomy["ticks"]:
        quote = f"{grouped(trim_zeros(tick['bid']))} / {grouped(trim_zeros(tick['ask']))}, at "
        shown.append((f"{tick['instrument']} bid / ask", [quote, moment(tick["at"], visit.zone, visit.now)]))
    if "locked_at" in anatomy:
        shown.append(("Locked for the client", moment(anatomy["locked_at"], visit.zone, visit.now)))
    if order["expected_price"] is not None:
        tolerance = trim_zeros(anatomy["tolerance_percent"])
        shown.append(
            ("Expected by the client", f"{rupees(order['expected_price'])}, within {tolerance} percent")
        )
    return shown


def _added(plain: str, name: str) -> str:
    if is_zero(plain):
        return ""
    sign = "" if plain.startswith("-") else "+"
    return f", {sign}{grouped(plain)} {name}"
