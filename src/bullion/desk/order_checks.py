"""The checks of an order as a list for a dealer: each passed, refused, or waiting for what is not known."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from bullion.booking.production import PAUSED, VENUE_AWAY
from bullion.orders.verdict import Refusal
from bullion.refusals import catalogue as codes
from bullion.refusals.desk import LOCK_EXPIRED
from bullion.refusals.refusal import RefusalCode

PASSED, REFUSED, WAITING = "passed", "refused", "waiting"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    question: str
    """What the check is about, in a dealer's words."""
    remedy: str
    """What to do if the order is refused for it."""
    needs: str | None = None
    """What must be known before it can be made: a price, or a quantity."""


PRICE, QUANTITY = "price", "quantity"

CHECKS = (
    Check("account", "The account is active", "Activate the account on its page, or ask an admin to."),
    Check("pause", "Production is not paused", "Resume production in the bar above when it may go on."),
    Check("venue", "The venue can be reached", "Wait until the venue is back, or pause production."),
    Check("schema", "The store's schema is current", "Ask the operator to run 'bullion migrate'."),
    Check("symbol", "The symbol is traded", "Turn its trading on under Market, or choose another symbol."),
    Check("side", "The side is offered", "Offer the side in the symbol or in the group's terms."),
    Check("rate", "There is a rate", "Set a rate under Market, or look why the feed has none."),
    Check("fresh", "The rate is fresh", "Wait for the next rate, or look why the feed has stopped.", PRICE),
    Check("halt", "Trading is not halted", "Resume trading in the bar above when it may go on."),
    Check("hours", "It is within trading hours", "Wait until the market opens, or change the hours."),
    Check("frozen", "The symbol is not frozen", "Unfreeze it under Market, or wait until the rate moves."),
    Check("size", "The weight fits the size rules", "Choose a weight within these sizes.", QUANTITY),
    Check("instrument", "The venue trades it", "Wait until the venue trades the instrument again."),
    Check("group", "The client's group may trade", "Turn trading on for the group under Market."),
    Check("group_price", "The group has a price", "Give the group terms for this symbol.", PRICE),
    Check("crossed", "The prices are not crossed", "Correct the group's premiums or the rate.", PRICE),
    Check(
        "allocation",
        "The allocation is enough",
        "Choose a smaller weight, or raise the account's allocation.",
        QUANTITY,
    ),
    Check("stock", "The stock is enough", "Choose a smaller weight, or enter more stock.", QUANTITY),
)
"""In the order in which an order is refused for them."""

_OTHER = Check("other", "No other rule refuses it", "Change the order so that the rule is met.")
"""For a refusal that has no check of its own. Listed only if there is one."""

_BY_CODE = {
    codes.ACCOUNT_INACTIVE: "account",
    codes.BOOKING_UNAVAILABLE: "account",
    codes.UNKNOWN_SYMBOL: "symbol",
    codes.SYMBOL_NOT_TRADING: "symbol",
    codes.INVALID_SIDE: "side",
    codes.SIDE_NOT_OFFERED: "side",
    codes.RATES_NOT_READY: "rate",
    codes.NO_LIVE_PRICE: "rate",
    codes.UNPRICED: "rate",
    codes.STALE_RATE: "fresh",
    codes.SYMBOL_FROZEN: "frozen",
    codes.QUANTITY_RULE: "size",
    codes.GROUP_QUANTITY_RULE: "size",
    codes.TRADEABILITY_UNVERIFIED: "instrument",
    codes.SYMBOL_UNAVAILABLE: "instrument",
    codes.GROUP_TRADING_DISABLED: "group",
    codes.LIMIT_EXCEEDED: "allocation",
    codes.OUT_OF_STOCK: "stock",
}
_PREREQUISITES = {PAUSED: "pause", VENUE_AWAY: "venue"}
_REMEDIES = {each.name: each.remedy for each in CHECKS}
_OTHER_REMEDIES = {
    codes.PRICE_MOVED: "Tell the client the new price, and lock it.",
    codes.PRODUCTION_PREREQUISITES_UNMET: "Look at the venue and the switches, and try again.",
    codes.TRADING_HALTED: "Resume trading in the bar above when it may go on.",
    codes.PRICING_UNAVAILABLE: "Correct the group's terms or the rate.",
    codes.ORDER_REJECTED: "The venue refused it. Lock the price again, or choose a smaller weight.",
    LOCK_EXPIRED: "Tell the client the new price, and lock it.",
}


def check_of(refusal: Refusal) -> str:
    """The name of the check that the order failed."""
    match refusal.refusal:
        case codes.PRODUCTION_PREREQUISITES_UNMET:
            return _PREREQUISITES.get(refusal.compared["unmet"], "schema")
        case codes.TRADING_HALTED:
            return "halt" if refusal.compared["halted"] else "hours"
        case codes.PRICING_UNAVAILABLE:
            return "crossed" if "crossed" in refusal.compared else "group_price"
    return _BY_CODE.get(refusal.refusal, _OTHER.name)


def remedy_of(code: RefusalCode) -> str | None:
    """What a dealer does about a refusal; None if only waiting or asking the operator helps."""
    return _OTHER_REMEDIES.get(code) or _REMEDIES.get(_BY_CODE.get(code, ""))


def list_checks(refusals: Iterable[Refusal], unknown: Collection[str]) -> list[dict[str, str | None]]:
    """`unknown`: what is not known yet, of a price and a quantity."""
    by_name: dict[str, Refusal] = {}
    for each in refusals:
        by_name.setdefault(check_of(each), each)
    listed = (*CHECKS, _OTHER) if _OTHER.name in by_name else CHECKS
    return [_view(check, by_name.get(check.name), unknown) for check in listed]


def _view(check: Check, refusal: Refusal | None, unknown: Collection[str]) -> dict[str, str | None]:
    waits = check.needs in unknown
    return {
        "check": check.name,
        "question": check.question,
        "state": WAITING if waits else PASSED if refusal is None else REFUSED,
        "code": None if waits or refusal is None else refusal.refusal.code,
        "message": None if waits or refusal is None else _message(refusal),
        "remedy": None if waits or refusal is None else check.remedy,
    }


def _message(refusal: Refusal) -> str:
    if refusal.refusal is codes.PRODUCTION_PREREQUISITES_UNMET:
        why = str(refusal.compared["unmet"])
        return f"{why[:1].upper()}{why[1:]}."
    if "crossed" in refusal.compared:
        buy, sell = refusal.compared["buy"], refusal.compared["sell"]
        return f"Clients would buy at {buy} and sell at {sell}."
    return refusal.message or refusal.refusal.message
