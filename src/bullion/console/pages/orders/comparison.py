"""The numbers that a check compared: in sentences where possible, else each by its name."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from typing import Any

from bullion.console.html import Child, el
from bullion.console.page import Visit
from bullion.console.paths import decision_path
from bullion.console.widgets.components import NOTHING
from bullion.console.widgets.formatting import age, grouped, moment, rupees, signed_weight, weight
from bullion.desk.desk import View
from bullion.refusals.catalogue import LIMIT_EXCEEDED

_DIGITS = 100
_PERCENT = Decimal("0.01")
_LABELS = {
    "symbol_code": "Symbol",
    "trading": "Symbol is traded",
    "trade_type": "Side sent",
    "offered": "Sides offered",
    "pricing": "Pricing",
    "missing": "Missing",
    "result": "The formula's result",
    "oldest": "Oldest rate",
    "rate_at": "Rate quoted at",
    "rate_age_s_max": "Maximum age, seconds",
    "halted": "Trading is halted",
    "trading_hours": "Trading hours",
    "now": "Checked at",
    "frozen_by": "Frozen by",
    "moved_at": "Price last moved at",
    "freeze_after_s": "Frozen after, seconds",
    "quantity": "Quantity",
    "minimum": "Minimum",
    "maximum": "Maximum",
    "step": "Step",
    "instrument": "Instrument",
    "venue_says": "Venue answer",
    "group": "Group",
    "terms": "Group has terms",
    "price": "Price",
    "metal": "Metal",
    "net_before": "Position before",
    "change": "Order's weight",
    "limit": "Allocation",
    "stock": "Left in stock",
    "expected_price": "Expected price",
    "tolerance_percent": "Tolerance, percent",
    "settled_by": "Key was used by",
    "reason": "Closed by",
    "unmet": "Missing",
    "fault": "Store error",
    "account": "Account",
    "active": "Account is active",
    "errors": "Problems",
    "scenario": "Scenario requested",
}
_REASONS = {
    "deploy": "the deployment: BULLION_PRODUCTION is off",
    "global": "the broker's production switch",
    "account": "the account's own production switch",
}
_POSITION = ("net_before", "change", "limit")
_PRICE_MOVE = ("price", "expected_price", "tolerance_percent")


def request_text(asked: View | None, unit: str | None) -> str:
    if asked is None:
        return "The body could not be read."
    return f"{asked['trade_type']} {_weight(asked['quantity'], unit)} {asked['symbol_code']}"


def comparison_sentences(trace: View, unit: str | None) -> list[str]:
    """The result of the comparison, where a sentence says it better than a table."""
    compared: Mapping[str, Any] = trace["compared"]
    with localcontext(prec=_DIGITS):
        sentences = [_position(trace, unit), _staleness(trace, compared), _price_move(compared)]
    return [each for each in sentences if each is not None]


def _position(trace: View, unit: str | None) -> str | None:
    compared: Mapping[str, Any] = trace["compared"]
    before, change, limit = (compared.get(name) for name in _POSITION)
    if before is None or change is None or limit is None or unit is None:
        return None
    after = Decimal(before) + Decimal(change)
    # An order that reduces the position is accepted above the allocation too.
    refused = trace["outcome"] == LIMIT_EXCEEDED.code
    return (
        f"The client's position was {signed_weight(before, unit)}. With the order it "
        f"{'would have been' if refused else 'is'} {signed_weight(f'{after:f}', unit)}, "
        f"{'above' if abs(after) > Decimal(limit) else 'within'} the allocation of {weight(limit, unit)}."
    )


def _staleness(trace: View, compared: Mapping[str, Any]) -> str | None:
    if "oldest" not in compared or compared.get("rate_at") is None:
        return None
    late = datetime.fromisoformat(trace["at"]) - datetime.fromisoformat(compared["rate_at"])
    if late < timedelta():
        return f"The rate of {compared['oldest']} is from before the clock was set back."
    allowed = age(int(compared["rate_age_s_max"]))
    old = age(int(late.total_seconds()))
    return f"The rate of {compared['oldest']} was {old} old. The symbol allows {allowed}."


def _price_move(compared: Mapping[str, Any]) -> str | None:
    expected, price = compared.get("expected_price"), compared.get("price")
    if expected is None or price is None or not Decimal(expected):
        return None
    percent = (abs(Decimal(price) - Decimal(expected)) * 100 / Decimal(expected)).quantize(_PERCENT)
    return (
        f"The client expected {rupees(expected)} and the price was {rupees(price)}: "
        f"{percent:f} percent off. The tolerance is {compared['tolerance_percent']} percent."
    )


def comparison_facts(visit: Visit, trace: View, unit: str | None) -> list[tuple[str, Child]]:
    """Each number by its name, except those in a sentence."""
    compared: Mapping[str, Any] = trace["compared"]
    with localcontext(prec=_DIGITS):
        omitted = {"unit", *(_POSITION if _position(trace, unit) else ())}
        omitted.update(_PRICE_MOVE if _price_move(compared) else ())
    return [
        (_LABELS.get(name, name), _value(visit, name, value, unit))
        for name, value in compared.items()
        if name not in omitted
    ]


def _weight(plain: str, unit: str | None) -> str:
    return weight(plain, unit or "").strip()


def _signed(plain: str, unit: str | None) -> str:
    return signed_weight(plain, unit or "").strip()


_FORMATS: dict[str, Callable[[str, str | None], str]] = {
    **dict.fromkeys(("quantity", "minimum", "maximum", "step", "limit", "stock"), _weight),
    **dict.fromkeys(("net_before", "change"), _signed),
    **dict.fromkeys(("price", "expected_price"), lambda plain, _unit: rupees(plain)),
    "reason": lambda plain, _unit: _REASONS.get(plain, plain),
}
_INSTANTS = ("rate_at", "moved_at", "now")


def _value(visit: Visit, name: str, value: Any, unit: str | None) -> Child:
    match value:
        case None:
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case int():
            return grouped(str(value))
        case str() if name in _INSTANTS:
            return moment(value, visit.zone, visit.now)
        case str() if name == "settled_by":
            return el("a", el("code", value), href=decision_path(value))
        case str():
            return _FORMATS[name](value, unit) if name in _FORMATS else value
        case list():
            return [el("div", _item(each)) for each in value]
        case _:
            return str(value)


def _item(value: Any) -> str:
    """One problem of a request: where it is, and what it is."""
    if isinstance(value, dict) and "loc" in value:
        return f"{'.'.join(map(str, value['loc']))}: {value.get('msg', '')}"
    return str(value)
