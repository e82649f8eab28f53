"""The market's checks of an order, in the order of the refusal table. The first failed check decides.

Pure functions of memory and time. `booking.decide` has the checks that need the book.
"""

from bullion.accounts.group import Sizes
from bullion.hedge.venue import Tradeability
from bullion.metals.rupees import rupees_text
from bullion.metals.symbol import Side
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
    side_price = offer.side_price(side)
    total = 0
    if side_price is not None:
        total = total_paise(side_price.price_paise, asked.quantity_e4, symbol.quoted_weight_e4)
    found = _refusals_of_node(offer, now_us, rates_ready, market_open, tradeability)
    _check_size(found, asked, offer, side_price, total)
    always = offer.refusals(side)
    if found or always:
        found = sorted((*always, *found), key=_precedence)
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
        symbol.hedged_in if hedged else None,
        symbol.stock_kept and hedged,
        symbol.fineness_e4,
        symbol.in_book and hedged,
    )


def _precedence(refusal: Refusal) -> int:
    return PRECEDENCE[refusal.refusal.code]


def _refusals_of_node(
    offer: Offer, now_us: int, rates_ready: bool, market_open: bool, tradeability: Tradeability | None
) -> list[Refusal]:
    """What this node knows now, and no order changes."""
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
    return found


def _check_size(
    found: list[Refusal], asked: PlaceOrder, offer: Offer, side_price: SidePrice | None, total: int
) -> None:
    symbol, terms = offer.symbol, offer.terms
    if side_price is not None and (side_price.price_paise > PAISE_MAX or total > PAISE_MAX):
        found.append(
            Refusal(
                codes.UNPRICED,
                "The price or the total of this order is too large to be recorded.",
                {"price": rupees_text(side_price.price_paise), "total": rupees_text(total)},
            )
        )
    if not symbol.size.allows(asked.quantity_e4):
        found.append(_size_refused(codes.QUANTITY_RULE, asked, Sizes.of(symbol.size), symbol.unit))
    if terms is not None and not terms.allow(asked.quantity_e4):
        found.append(_size_refused(codes.GROUP_QUANTITY_RULE, asked, offer.sizes, symbol.unit))


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
