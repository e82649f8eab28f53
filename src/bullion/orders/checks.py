"""The market's checks of an order, in the order of the refusal table. The first failed check decides.

Pure functions of memory and time. `booking.decide` has the checks that need the book.
"""

from collections.abc import Sequence

from bullion.accounts.group import Sizes
from bullion.hedge.venue import Tradeability
from bullion.metals.rupees import rupees_text
from bullion.metals.symbol import Side
from bullion.metals.weight import weight_text
from bullion.rates.quote import total_paise
from bullion.rates.tick import Tick
from bullion.refusals import catalogue as codes
from bullion.refusals.refusal import RefusalCode

from .bounds import PAISE_MAX
from .instant import instant_text
from .offer import Offer, SidePrice
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
    found: list[Refusal] = []
    if not symbol.trading:
        found.append(Refusal(codes.SYMBOL_NOT_TRADING, compared={"trading": False}))
    side = _SIDES.get(asked.trade_type)
    if side is None:
        return [*found, Refusal(codes.INVALID_SIDE, compared={"trade_type": asked.trade_type})]
    if side not in offer.offered:
        offered = [each.value for each in Side if each in offer.offered]
        found.append(Refusal(codes.SIDE_NOT_OFFERED, compared={"offered": offered}))
    side_price = offer.side_price(side)
    total = (
        0
        if side_price is None
        else total_paise(side_price.price_paise, asked.quantity_e4, symbol.quoted_weight_e4)
    )
    _check_rates(found, offer, side_price, total, now_us, rates_ready=rates_ready, market_open=market_open)
    if not symbol.size.allows(asked.quantity_e4):
        found.append(_size_refused(codes.QUANTITY_RULE, asked, Sizes.of(symbol.size), symbol.unit))
    if tradeability in _UNTRADEABLE:
        compared = {"instrument": symbol.hedged_in, "venue_says": tradeability.value}
        found.append(Refusal(_UNTRADEABLE[tradeability], compared=compared))
    _check_group(found, asked, offer, side, side_price)
    if found or side_price is None:
        return found
    hedged = tradeability is not None
    return Priced(
        symbol.metal,
        side_price.price_paise,
        total,
        offer.switches.price_tolerance_percent_e4,
        side_price.price_anatomy,
        offer.rate_at_us,
        instrument=symbol.hedged_in if hedged else None,
        stock_kept=symbol.stock_kept and hedged,
        fineness_e4=symbol.fineness_e4,
        in_book=symbol.in_book and hedged,
    )


def _check_rates(
    found: list[Refusal],
    offer: Offer,
    side_price: SidePrice | None,
    total: int,
    now_us: int,
    *,
    rates_ready: bool,
    market_open: bool,
) -> None:
    symbol, price, switches = offer.symbol, offer.price, offer.switches
    if not rates_ready:
        found.append(Refusal(codes.RATES_NOT_READY))
    if isinstance(price, RefusalCode):
        why = {"missing": list(offer.missing)} if offer.missing else {"result": "not above 0"}
        found.append(Refusal(price, compared={"pricing": type(symbol.pricing).__name__.lower(), **why}))
    else:
        _check_price(found, offer, price.ticks, side_price, total, now_us)
    if switches.halted:
        found.append(Refusal(codes.TRADING_HALTED, compared={"halted": True}))
    if not market_open:
        found.append(
            Refusal(
                codes.TRADING_HALTED,
                "It is outside the broker's trading hours.",
                {"halted": False, "trading_hours": "closed", "now": instant_text(now_us)},
            )
        )
    if symbol.frozen:
        found.append(Refusal(codes.SYMBOL_FROZEN, compared={"frozen_by": "desk"}))
    if offer.unmoved and not isinstance(price, RefusalCode):
        found.append(
            Refusal(
                codes.SYMBOL_FROZEN,
                compared={
                    "frozen_by": "rates",
                    "moved_at": instant_text(max(tick.moved_at_us for tick in price.ticks)),
                    "freeze_after_s": symbol.freeze_after_s,
                },
            )
        )


def _check_price(
    found: list[Refusal],
    offer: Offer,
    ticks: Sequence[Tick],
    side_price: SidePrice | None,
    total: int,
    now_us: int,
) -> None:
    if side_price is not None and (side_price.price_paise > PAISE_MAX or total > PAISE_MAX):
        found.append(
            Refusal(
                codes.UNPRICED,
                "The price or the total of this order is too large to be recorded.",
                {"price": rupees_text(side_price.price_paise), "total": rupees_text(total)},
            )
        )
    ahead = offer.is_ahead(now_us)
    if ahead or (offer.stale_after_us is not None and now_us > offer.stale_after_us):
        oldest = (max if ahead else min)(ticks, key=lambda tick: tick.at_us)
        found.append(
            Refusal(
                codes.STALE_RATE,
                compared={
                    "oldest": oldest.instrument,
                    "rate_at_us": oldest.at_us,
                    "rate_age_s_max": offer.symbol.rate_age_s_max,
                },
            )
        )


def _check_group(
    found: list[Refusal], asked: PlaceOrder, offer: Offer, side: Side, side_price: SidePrice | None
) -> None:
    terms = offer.terms
    if not offer.group.trading:
        found.append(Refusal(codes.GROUP_TRADING_DISABLED, compared={"group": offer.group.code}))
    if terms is not None and not terms.allow(asked.quantity_e4):
        found.append(_size_refused(codes.GROUP_QUANTITY_RULE, asked, offer.sizes, offer.symbol.unit))
    if side_price is None or side_price.price_paise <= 0:
        # A symbol without a price, or a side that is not offered, is refused for that alone.
        if side in offer.offered and not isinstance(offer.price, RefusalCode):
            found.append(_no_valid_price(offer, side_price))
    elif offer.crossed and offer.switches.refuse_crossed:
        found.append(_crossed(offer))


def _no_valid_price(offer: Offer, side_price: SidePrice | None) -> Refusal:
    return Refusal(
        codes.PRICING_UNAVAILABLE,
        compared={
            "group": offer.group.code,
            "terms": offer.terms is not None,
            "price": None if side_price is None else rupees_text(side_price.price_paise),
        },
    )


def _crossed(offer: Offer) -> Refusal:
    buy, sell = (None if each is None else rupees_text(each.price_paise) for each in (offer.buy, offer.sell))
    return Refusal(
        codes.PRICING_UNAVAILABLE,
        compared={"group": offer.group.code, "crossed": True, "buy": buy, "sell": sell},
    )


def _size_refused(refusal: RefusalCode, asked: PlaceOrder, sizes: Sizes, unit: str) -> Refusal:
    least, most, step = (weight_text(each) for each in sizes)
    scope = "This symbol" if refusal is codes.QUANTITY_RULE else "This account's group"
    return Refusal(
        refusal,
        f"{scope} takes from {least} to {most} {unit} in steps of {step} {unit}.",
        {"quantity": weight_text(asked.quantity_e4), "minimum": least, "maximum": most, "step": step},
    )
