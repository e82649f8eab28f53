"""A symbol as text: its price, its state, and its settings."""

from bullion.console.html import Child, Html, el
from bullion.console.widgets.components import BAD, GOOD, NOTHING, OFF, WARN, state
from bullion.console.widgets.formatting import age, grouped, rupees, trim_zeros, weight
from bullion.desk.desk import View

_DECIMALS_SHOWN = 6
KINDS = {"direct": "One rate", "fixed": "Fixed by the desk", "landed": "Landed cost"}
SIDES = {"buy": "clients only buy", "sell": "clients only sell"}
PART_NAMES = {
    "spot": "Spot, $",
    "premium_usd": "Premium, $",
    "currency": "Currency, ₹ per $",
    "interbank": "Interbank, ₹ per $",
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
_STATES = {
    "live": (GOOD, "live"),
    "stale": (BAD, "stale"),
    "no_rate": (BAD, "no rate"),
    "frozen": (WARN, "frozen"),
    "halted": (WARN, "halted"),
    "closed": (OFF, "closed"),
    "off": (OFF, "not traded"),
    "unreadable": (BAD, "cannot be read"),
}


def price_state(quote: View) -> Html:
    kind, text = _STATES[quote["state"]]
    if quote["crossed"]:
        groups = ", ".join(quote["crossed"])
        return state(
            BAD, f"crossed for {groups}", "Clients of these groups could sell for more than they pay."
        )
    return state(kind, text, quote["words"])


def price(quote: View | None, side: str) -> Child:
    """Grey where nobody can trade at it."""
    if quote is None or quote[side] is None:
        return NOTHING
    return el("span", grouped(quote[side]), class_="price" if quote["state"] == "live" else "price old")


def pricing_text(pricing: View) -> str:
    match pricing["kind"]:
        case "direct":
            return f"rate {pricing['instrument']}"
        case "fixed":
            return "fixed by the desk"
        case _:
            return f"landed: {pricing['spot']} in {pricing['currency']}, duty {pricing['duty']}"


def settings_text(symbol: View) -> dict[str, str]:
    """Every setting by its name."""
    unit, pricing = symbol["unit"], symbol["pricing"]
    return {
        "metal": symbol["metal"],
        "price for": weight(symbol["quoted_weight"], unit),
        "trading": "on" if symbol["trading"] else "off",
        "sides": SIDES[symbol["sides"][0]] if len(symbol["sides"]) == 1 else "both",
        "frozen": "yes" if symbol["frozen"] else "no",
        "minimum": weight(symbol["minimum"], unit),
        "maximum": weight(symbol["maximum"], unit),
        "step": weight(symbol["step"], unit),
        "oldest rate": _limit(symbol["rate_age_s_max"]),
        "freeze after": _limit(symbol["freeze_after_s"]),
        "stock": "not counted" if symbol["stock"] is None else weight(symbol["stock"], unit),
        "fineness": symbol["fineness"].removesuffix(".0"),
        "pricing": KINDS[pricing["kind"]].lower(),
        **_pricing(pricing),
    }


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
                "premium": f"$ {trim_zeros(pricing['premium_usd'])}",
                "interbank": rupees(trim_zeros(pricing["interbank"])),
                "conversion": trim_zeros(pricing["conversion"]),
                "duty": pricing["duty"],
                "margin": rupees(pricing["margin"]),
            }


def part_text(value: str) -> str:
    """A part of a price: a number is grouped and cut for display; a name stays as it is."""
    if not value.lstrip("-").replace(".", "").isdigit():
        return value
    whole, point, part = value.partition(".")
    cut = "…" if len(part) > _DECIMALS_SHOWN else ""
    return f"{grouped(f'{whole}{point}{part[:_DECIMALS_SHOWN]}')}{cut}"
