"""The market's checks of an order, in the order of the refusal table. The first failed check decides.

Pure functions of memory and time. `booking.decide` has the checks that need the book.
"""

from bullion.accounts.group import Sizes
from bullion.hedge.venue import Tradeability
from bullion.metals.rupees import rupees_text
from bullion.metals.symbol import BUY, Side
from bullion.metals.weight import weight_text
from bullion.rates.quote import total_paise
from bullion.refusals import catalogue as codes
from bullion.refusals.catalogue import PRECEDENCE
from bullion.refusals.refusal import RefusalCode

from .bounds import PAISE_MAX
from .instant import instant_text
from .offer import NOT_TRADING, Offer, SidePrice
from .request import PlaceOrder
from .verdict import Priced, Refusal, Verdict

_SIDES = {side.value: side for side in Side}
_UNTRADEABLE = {
    Tradeability.UNKNOWN: codes.TRADEABILITY_UNVERIFIED,
    Tradeability.SUSPENDED: codes.SYMBOL_UNAVAILABLE,
}


def check(
    asked: PlaceOrder,
    offer: Offer | None,
    now_us: int,
    *,
    rates_ready: bool,
    market_open: bool,
    tradeability: Tradeability | None = None,
) -> Verdict:
    """`tradeability`: whether the venue trades the symbol's instrument; None in test: nothing is hedged."""
    found = check_all(
        asked, offer, now_us, rates_ready=rates_ready, market_open=market_open, tradeability=tradeability
    )
    return found[0] if isinstance(found, list) else found


def check_all(
    asked: PlaceOrder,
    offer: Offer | None,
    now_us: int,
    *,
    rates_ready: bool,
    market_open: bool,
    tradeability: Tradeability | None = None,
) -> list[Refusal] | Priced:
    """Every refusal that the order deserves, or its price.

    Checks that need a price are left out if there is none.
    """
    if offer is None:
        return [Refusal(codes.UNKNOWN_SYMBOL, compared={"symbol_code": asked.symbol_code})]
    symbol = offer.symbol
    side = _SIDES.get(asked.trade_type)
    if side is None:
        invalid = Refusal(codes.INVALID_SIDE, compared={"trade_type": asked.trade_type})
        return [invalid] if symbol.trading else [NOT_TRADING, invalid]
    if side is BUY:
        side_price, found = offer.buy, offer.buy_refusals
    else:
        side_price, found = offer.sell, offer.sell_refusals
    total = 0
    if side_price is not None:
        total = total_paise(side_price.price_paise, asked.quantity_e4, symbol.quoted_weight_e4)
        if total > PAISE_MAX or side_price.price_paise > PAISE_MAX:
            found += (_too_large(side_price, total),)
    if not offer.sizes.allow(asked.quantity_e4):
        found += _size_refusals(asked, offer)
    found += _refusals_of_node(offer, now_us, rates_ready, market_open, tradeability)
    if found or side_price is None:
        return sorted(found, key=_precedence)
    hedged = tradeability is not None
    return Priced(
        symbol.metal,
        side_price.price_paise,
        total,
        offer.switches.price_tolerance_percent_e4,
        side_price.price_anatomy,
        offer.rate_at_us,
        symbol.hedged_in if hedged else None,
        symbol.stock_kept and hedged,
        symbol.fineness_e4,
        symbol.in_book and hedged,
    )


def _precedence(refusal: Refusal) -> int:
    return PRECEDENCE[refusal.refusal.code]


def _refusals_of_node(
    offer: Offer, now_us: int, rates_ready: bool, market_open: bool, tradeability: Tradeability | None
) -> tuple[Refusal, ...]:
    """What this node knows now, whatever the order."""
    found: list[Refusal] = []
    if not rates_ready:
        found.append(Refusal(codes.RATES_NOT_READY))
    if offer.is_stale(now_us):
        found.append(_stale(offer, now_us))
    if not market_open:
        found.append(
            Refusal(
                codes.TRADING_HALTED,
                "It is outside the broker's trading hours.",
                {"halted": False, "trading_hours": "closed", "now": instant_text(now_us)},
            )
        )
    if tradeability in _UNTRADEABLE:
        compared = {"instrument": offer.symbol.hedged_in, "venue_says": tradeability.value}
        found.append(Refusal(_UNTRADEABLE[tradeability], compared=compared))
    return tuple(found)


def _too_large(side_price: SidePrice, total: int) -> Refusal:
    return Refusal(
        codes.UNPRICED,
        "The price or the total of this order is too large to be recorded.",
        {"price": rupees_text(side_price.price_paise), "total": rupees_text(total)},
    )


def _size_refusals(asked: PlaceOrder, offer: Offer) -> tuple[Refusal, ...]:
    symbol, terms = offer.symbol, offer.terms
    found: list[Refusal] = []
    if not symbol.size.allows(asked.quantity_e4):
        found.append(_size_refused(codes.QUANTITY_RULE, asked, Sizes.of(symbol.size), symbol.unit))
    if terms is not None and not terms.allow(asked.quantity_e4):
        found.append(_size_refused(codes.GROUP_QUANTITY_RULE, asked, offer.sizes, symbol.unit))
    return tuple(found)


def _stale(offer: Offer, now_us: int) -> Refusal:
    ticks = () if isinstance(offer.price, RefusalCode) else offer.price.ticks
    choose = max if offer.is_ahead(now_us) else min
    oldest = choose(ticks, key=lambda tick: tick.at_us)
    return Refusal(
        codes.STALE_RATE,
        compared={
            "oldest": oldest.instrument,
            "rate_at_us": oldest.at_us,
            "rate_age_s_max": offer.symbol.rate_age_s_max,
        },
    )


def _size_refused(refusal: RefusalCode, asked: PlaceOrder, sizes: Sizes, unit: str) -> Refusal:
    least, most, step = (weight_text(each) for each in sizes)
    scope = "This symbol" if refusal is codes.QUANTITY_RULE else "This account's group"
    return Refusal(
        refusal,
        f"{scope} takes from {least} to {most} {unit} in steps of {step} {unit}.",
        {"quantity": weight_text(asked.quantity_e4), "minimum": least, "maximum": most, "step": step},
    )
