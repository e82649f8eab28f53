"""A symbol's price from its formula: exact, before any premium and before any rounding."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation

from bullion.metals.pricing import Direct, Fixed, Landed, Pricing
from bullion.metals.rupees import PLACES as RUPEES_PLACES
from bullion.metals.symbol import Side, Symbol
from bullion.refusals.catalogue import NO_LIVE_PRICE, UNPRICED
from bullion.refusals.refusal import RefusalCode

from .duty import Duty, DutyTable
from .tick import PLACES as TICK_PLACES
from .tick import Tick

TickOf = Callable[[str], Tick | None]
DutyOf = Callable[[str], DutyTable | None]

# The longest numbers that the desk can enter need a third of this. More digits raise; nothing is rounded.
_EXACT = Context(prec=300, traps=[Inexact, InvalidOperation])


@dataclass(frozen=True, slots=True)
class SymbolPrice:
    """In rupees per quoted weight. A side of None has no price."""

    bid: Decimal | None
    """What clients sell at."""
    ask: Decimal | None
    """What clients buy at."""
    ticks: tuple[Tick, ...]
    """The ticks behind it: none for a fixed price; spot and currency, in this order, for a landed price."""
    duty: Duty | None
    valid_until_us: int | None
    """When it changes without a tick, because another duty comes into force. None: never."""
    pricing: Pricing

    def on(self, side: Side) -> Decimal | None:
        """What a client who is on that side pays or gets."""
        return self.ask if side is Side.BUY else self.bid

    def components(self, side: Side) -> list[tuple[str, str]]:
        """The parts of the price, by name, as plain decimals; empty without a price."""
        price = self.on(side)
        if price is None:
            return []
        return [*self._parts(side, price), ("symbol_price", _rupees(price))]

    def _parts(self, side: Side, price: Decimal) -> list[tuple[str, str]]:
        match self.pricing:
            case Fixed():
                return [("fixed", _rupees(price))]
            case Direct(instrument):
                return [("instrument", instrument), ("ask" if side is Side.BUY else "bid", _rupees(price))]
            case Landed() as landed:
                spot, currency = (_quoted(tick, side) for tick in self.ticks)
                duty = _paise(self.duty.rupees_paise if self.duty else 0)
                return [
                    ("spot", _text(spot)),
                    ("premium_usd", _text(landed.premium_usd)),
                    ("currency", _text(currency)),
                    ("interbank", _text(landed.interbank)),
                    ("conversion", _text(landed.conversion)),
                    ("metal", _rupees(_metal(landed, spot, currency) or Decimal(0))),
                    ("duty", _rupees(duty)),
                    ("margin", _rupees(_paise(landed.margin_paise))),
                ]


def symbol_price(symbol: Symbol, tick_of: TickOf, duty_of: DutyOf, at_us: int) -> SymbolPrice | RefusalCode:
    """The price at that time, or the refusal that says why there is none."""
    match symbol.pricing:
        case Fixed() as fixed:
            return SymbolPrice(_given(fixed.sell_paise), _given(fixed.buy_paise), (), None, None, fixed)
        case Direct() as direct:
            price = _direct(direct, tick_of)
        case Landed() as landed:
            price = _landed(landed, tick_of, duty_of, at_us)
    if isinstance(price, SymbolPrice) and any(price.on(side) is None for side in symbol.sides):
        return UNPRICED
    return price


def _direct(pricing: Direct, tick_of: TickOf) -> SymbolPrice | RefusalCode:
    tick = tick_of(pricing.instrument)
    if tick is None:
        return NO_LIVE_PRICE
    bid, ask = (_above_zero(_quoted(tick, side)) for side in (Side.SELL, Side.BUY))
    return SymbolPrice(bid, ask, (tick,), None, None, pricing)


def _landed(pricing: Landed, tick_of: TickOf, duty_of: DutyOf, at_us: int) -> SymbolPrice | RefusalCode:
    spot = tick_of(pricing.spot)
    if spot is None:
        return NO_LIVE_PRICE
    currency = tick_of(pricing.currency)
    table = duty_of(pricing.duty)
    duty = None if table is None else table.in_force(at_us)
    if currency is None or table is None or duty is None:
        return UNPRICED
    added = _paise(duty.rupees_paise + pricing.margin_paise)
    bid, ask = (
        _landed_price(_metal(pricing, _quoted(spot, side), _quoted(currency, side)), added)
        for side in (Side.SELL, Side.BUY)
    )
    return SymbolPrice(bid, ask, (spot, currency), duty, table.next_change_us(at_us), pricing)


def _landed_price(metal: Decimal | None, added: Decimal) -> Decimal | None:
    return None if metal is None else _above_zero(_EXACT.add(metal, added))


def _metal(pricing: Landed, spot: Decimal, currency: Decimal) -> Decimal | None:
    """The metal alone, in rupees. None unless both factors are above 0: two negatives would cancel out."""
    dollars = _EXACT.add(spot, pricing.premium_usd)
    rupees_a_dollar = _EXACT.add(currency, pricing.interbank)
    if dollars <= 0 or rupees_a_dollar <= 0:
        return None
    return _EXACT.multiply(_EXACT.multiply(dollars, rupees_a_dollar), pricing.conversion)


def _quoted(tick: Tick, side: Side) -> Decimal:
    """Clients buy at the ask and sell at the bid; the same sides of each tick make the price."""
    return _EXACT.scaleb(Decimal(tick.ask_e6 if side is Side.BUY else tick.bid_e6), -TICK_PLACES)


def _paise(value_paise: int) -> Decimal:
    return _EXACT.scaleb(Decimal(value_paise), -RUPEES_PLACES)


def _given(value_paise: int | None) -> Decimal | None:
    return None if value_paise is None else _paise(value_paise)


def _above_zero(price: Decimal) -> Decimal | None:
    return price if price > 0 else None


def _text(value: Decimal) -> str:
    """All significant digits: no exponent, no trailing zeros, no `-0`."""
    text = f"{value or Decimal(0):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _rupees(value: Decimal) -> str:
    """The same, with paise always written."""
    whole, _, part = _text(value).partition(".")
    return f"{whole}.{part:0<{RUPEES_PLACES}}"
