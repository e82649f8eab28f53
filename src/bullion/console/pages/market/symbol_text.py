"""A symbol in words: for the list, and for what a change came to."""

from bullion.console.widgets.formatting import grouped, rupees, weight
from bullion.console.widgets.times import age
from bullion.desk.desk import View

from .forms import short

_DECIMALS_SHOWN = 6
KINDS = {"direct": "One rate", "fixed": "Fixed by the desk", "landed": "Landed cost"}
SIDES = {"buy": "clients only buy", "sell": "clients only sell"}
PART_NAMES = {
    "spot": "Spot, $",
    "premium_usd": "Premium, $",
    "currency": "Currency, ₹ a $",
    "interbank": "Interbank, ₹ a $",
    "conversion": "Conversion",
    "metal": "Metal, ₹",
    "duty": "Duty, ₹",
    "margin": "Margin, ₹",
    "fixed": "Fixed, ₹",
    "instrument": "Rate of",
    "bid": "Bid, ₹",
    "ask": "Ask, ₹",
    "symbol_price": "Price, ₹",
}


def pricing_words(pricing: View) -> str:
    match pricing["kind"]:
        case "direct":
            return f"rate {pricing['instrument']}"
        case "fixed":
            return "fixed by the desk"
        case _:
            return f"landed: {pricing['spot']} in {pricing['currency']}, duty {pricing['duty']}"


def spoken(symbol: View) -> dict[str, str]:
    """Each thing that can be changed, by its name."""
    unit = symbol["unit"]
    told = {
        "metal": symbol["metal"],
        "quoted weight": weight(symbol["quoted_weight"], unit),
        "trading": "on" if symbol["trading"] else "off",
        "sides": SIDES[symbol["sides"][0]] if len(symbol["sides"]) == 1 else "both",
        "frozen": "yes" if symbol["frozen"] else "no",
        "minimum": weight(symbol["minimum"], unit),
        "maximum": weight(symbol["maximum"], unit),
        "step": weight(symbol["step"], unit),
        "oldest rate": _limit(symbol["rate_age_s_max"]),
        "freeze after": _limit(symbol["freeze_after_s"]),
        "stock": "not counted" if symbol["stock"] is None else weight(symbol["stock"], unit),
    }
    pricing = symbol["pricing"]
    return {**told, "pricing": KINDS[pricing["kind"]].lower(), **_pricing(pricing)}


def _limit(seconds: int | None) -> str:
    return "no limit" if seconds is None else age(seconds)


def _pricing(pricing: View) -> dict[str, str]:
    match pricing["kind"]:
        case "direct":
            return {"instrument": pricing["instrument"]}
        case "fixed":
            prices = {"clients buy at": pricing["buy"], "clients sell at": pricing["sell"]}
            return {name: "not offered" if at is None else rupees(at) for name, at in prices.items()}
        case _:
            return {
                "spot": pricing["spot"],
                "currency": pricing["currency"],
                "premium": f"$ {short(pricing['premium_usd'])}",
                "interbank": rupees(short(pricing["interbank"])),
                "conversion": short(pricing["conversion"]),
                "duty": pricing["duty"],
                "margin": rupees(pricing["margin"]),
            }


def part_words(value: str) -> str:
    """A part of a price: a number is grouped, and cut for the eye where it is long; a name is neither."""
    if not value.lstrip("-").replace(".", "").isdigit():
        return value
    whole, point, part = value.partition(".")
    cut = "…" if len(part) > _DECIMALS_SHOWN else ""
    return f"{grouped(f'{whole}{point}{part[:_DECIMALS_SHOWN]}')}{cut}"
