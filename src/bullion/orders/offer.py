"""The offer to a group in a symbol: its prices now, and their components."""

from collections.abc import Callable

import msgspec

from bullion.accounts.group import Group, Sizes, Terms
from bullion.accounts.switches import Switches
from bullion.metals.pricing import Direct, Fixed, Landed, Pricing
from bullion.metals.rupees import rupees_text
from bullion.metals.scaled import plain
from bullion.metals.symbol import BUY, Side, Symbol
from bullion.rates.duty import DutyTable
from bullion.rates.formula import SymbolPrice, symbol_price
from bullion.rates.freshness import fresh_from_us, frozen, stale_after_us
from bullion.rates.quote import account_price_paise
from bullion.rates.tick import PLACES, Tick
from bullion.refusals import catalogue as codes
from bullion.refusals.refusal import RefusalCode

from .instant import instant_text
from .request import PlaceOrder
from .verdict import Refusal

_encode = msgspec.json.Encoder().encode
_NEVER_US = 2**63 - 1

NOT_TRADING = Refusal(codes.SYMBOL_NOT_TRADING, compared={"trading": False})


class SidePrice(msgspec.Struct, frozen=True):
    """One side of an offer."""

    price_paise: int
    """May be 0 or less, which is no valid price: a group's premium can be that negative."""
    price_anatomy: str


class Offer(msgspec.Struct, frozen=True):
    symbol: Symbol
    group: Group
    terms: Terms | None
    switches: Switches
    price: SymbolPrice | RefusalCode
    """Or the refusal if the symbol has no price."""
    buy: SidePrice | None
    sell: SidePrice | None
    offered: frozenset[Side]
    """The sides that symbol, formula and terms allow. Missing terms allow both: a later check refuses."""
    sizes: Sizes
    """The sizes that may be ordered, after the group's terms."""
    rate_at_us: int | None = None
    """When the oldest rate behind the price was quoted; None for a fixed price, or none."""
    stale_after_us: int = _NEVER_US
    """The time from which the price is too old."""
    fresh_from_us: int = 0
    """The time before which the price is from before the clock was set back."""
    unmoved: bool = False
    """Whether rates keep arriving but do not move."""
    missing: tuple[str, ...] = ()
    """If there is no price: the inputs that its formula lacks."""
    crossed: bool = False
    """Whether a client could sell for more than it buys for."""
    valid_until_us: int = 0
    """The time from which it has to be made again: another duty may be in force by then. Without a price at
    any time, since a duty may be what it lacks."""
    buy_refusals: tuple[Refusal, ...] = ()
    """What refuses every buy, whatever its size and time, in the order of the checks."""
    sell_refusals: tuple[Refusal, ...] = ()

    def side_price(self, side: Side) -> SidePrice | None:
        return self.buy if side is BUY else self.sell

    def is_stale(self, now_us: int) -> bool:
        return not self.fresh_from_us <= now_us <= self.stale_after_us

    def is_ahead(self, now_us: int) -> bool:
        """Whether a rate behind the price is from before the clock was set back."""
        return now_us < self.fresh_from_us


def premium_paise(terms: Terms, side: Side) -> int | None:
    return terms.buy_premium_paise if side is BUY else terms.sell_premium_paise


def smallest_order(offer: Offer, side: Side) -> PlaceOrder:
    """The smallest that the sizes allow. If the market refuses it, it refuses every order."""
    return PlaceOrder(offer.symbol.code, side.value, offer.sizes.smallest_e4, None, None)


def make_offer(
    symbol: Symbol,
    group: Group,
    switches: Switches,
    tick_of: Callable[[str], Tick | None],
    duty_of: Callable[[str], DutyTable | None],
    at_us: int,
) -> Offer:
    offer = _priced(symbol, group, switches, tick_of, duty_of, at_us)
    buy, sell = (_refusals(offer, side) for side in Side)
    return msgspec.structs.replace(offer, buy_refusals=buy, sell_refusals=sell)


def _priced(
    symbol: Symbol,
    group: Group,
    switches: Switches,
    tick_of: Callable[[str], Tick | None],
    duty_of: Callable[[str], DutyTable | None],
    at_us: int,
) -> Offer:
    price = symbol_price(symbol, tick_of, duty_of, at_us)
    terms = group.terms_for(symbol.code)
    offered = frozenset(side for side in symbol.sides if _offers(symbol, terms, side))
    sizes = Sizes.of(symbol.size) if terms is None else terms.within(symbol.size)
    if isinstance(price, RefusalCode):
        missing = _missing(symbol.pricing, tick_of, duty_of, at_us)
        return Offer(symbol, group, terms, switches, price, None, None, offered, sizes, missing=missing)
    rate_at_us = min((tick.at_us for tick in price.ticks), default=None)
    buy, sell = (_side_price(side, price, terms, symbol, switches) for side in Side)
    return Offer(
        symbol,
        group,
        terms,
        switches,
        price,
        buy,
        sell,
        offered,
        sizes,
        rate_at_us,
        _or_never(stale_after_us(price.ticks, symbol.rate_age_s_max)),
        fresh_from_us(price.ticks, symbol.rate_age_s_max) or 0,
        frozen(price.ticks, symbol.freeze_after_s),
        crossed=len(offered) == len(Side)
        and buy is not None
        and sell is not None
        and sell.price_paise > buy.price_paise,
        valid_until_us=_or_never(price.valid_until_us),
    )


def _or_never(at_us: int | None) -> int:
    return _NEVER_US if at_us is None else at_us


def _refusals(offer: Offer, side: Side) -> tuple[Refusal, ...]:
    """`checks` adds those that depend on the order, on the time and on the state of the node."""
    symbol, price, switches, group = offer.symbol, offer.price, offer.switches, offer.group
    found: list[Refusal] = []
    if not symbol.trading:
        found.append(NOT_TRADING)
    if side not in offer.offered:
        offered = [each.value for each in Side if each in offer.offered]
        found.append(Refusal(codes.SIDE_NOT_OFFERED, compared={"offered": offered}))
    if isinstance(price, RefusalCode):
        why = {"missing": list(offer.missing)} if offer.missing else {"result": "not above 0"}
        found.append(Refusal(price, compared={"pricing": type(symbol.pricing).__name__.lower(), **why}))
    if switches.halted:
        found.append(Refusal(codes.TRADING_HALTED, compared={"halted": True}))
    if symbol.frozen:
        found.append(Refusal(codes.SYMBOL_FROZEN, compared={"frozen_by": "desk"}))
    if offer.unmoved and not isinstance(price, RefusalCode):
        found.append(_frozen_by_rates(symbol, price))
    if not group.trading:
        found.append(Refusal(codes.GROUP_TRADING_DISABLED, compared={"group": group.code}))
    if side in offer.offered and not isinstance(price, RefusalCode):
        # Otherwise the side is refused for that alone.
        found += _refusals_of_price(offer, side)
    return tuple(found)


def _refusals_of_price(offer: Offer, side: Side) -> list[Refusal]:
    side_price = offer.side_price(side)
    if side_price is None or side_price.price_paise <= 0:
        return [_no_valid_price(offer, side_price)]
    return [_crossed(offer)] if offer.crossed and offer.switches.refuse_crossed else []


def _frozen_by_rates(symbol: Symbol, price: SymbolPrice) -> Refusal:
    moved_at_us = max(tick.moved_at_us for tick in price.ticks)
    return Refusal(
        codes.SYMBOL_FROZEN,
        compared={
            "frozen_by": "rates",
            "moved_at": instant_text(moved_at_us),
            "freeze_after_s": symbol.freeze_after_s,
        },
    )


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


def _side_price_paise(side: Side, price: SymbolPrice, terms: Terms | None) -> int | None:
    """What clients with these terms pay or get on a side; None if it has no price for them."""
    at, premium = price.on(side), None if terms is None else premium_paise(terms, side)
    return None if at is None or premium is None else account_price_paise(at, premium)


def _missing(
    pricing: Pricing,
    tick_of: Callable[[str], Tick | None],
    duty_of: Callable[[str], DutyTable | None],
    at_us: int,
) -> tuple[str, ...]:
    """As text for the desk; empty if the formula's result is not above 0."""
    match pricing:
        case Direct():
            instruments, duty = [pricing.instrument], None
        case Landed():
            instruments, duty = [pricing.spot, pricing.currency], pricing.duty
        case Fixed():
            return ()
    missing = [f"a rate of {each}" for each in instruments if tick_of(each) is None]
    if duty is not None:
        table = duty_of(duty)
        if table is None or table.in_force(at_us) is None:
            missing.append(f"a duty {duty} in force")
    return tuple(missing)


def _offers(symbol: Symbol, terms: Terms | None, side: Side) -> bool:
    pricing = symbol.pricing
    if isinstance(pricing, Fixed) and (pricing.buy_paise if side is BUY else pricing.sell_paise) is None:
        return False
    return terms is None or premium_paise(terms, side) is not None


def _side_price(
    side: Side, price: SymbolPrice, terms: Terms | None, symbol: Symbol, switches: Switches
) -> SidePrice | None:
    price_paise = _side_price_paise(side, price, terms)
    if terms is None or price_paise is None:
        return None
    anatomy = {
        "components": [{"name": name, "value": value} for name, value in price.components(side)],
        "premium": rupees_text(premium_paise(terms, side) or 0),
        "price": rupees_text(price_paise),
        "quoted_weight": plain(symbol.quoted_weight_e4, 4),
        "unit": symbol.unit,
        "tolerance_percent": plain(switches.price_tolerance_percent_e4, 4),
        "ticks": [
            {
                "instrument": tick.instrument,
                "bid": plain(tick.bid_e6, PLACES),
                "ask": plain(tick.ask_e6, PLACES),
                "at": instant_text(tick.at_us),
            }
            for tick in price.ticks
        ],
    }
    return SidePrice(price_paise, _encode(anatomy).decode())
