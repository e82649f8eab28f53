"""What an entry of a hedge book means in money: a client's deal, its end, and the cover of one order.

The profit counts from the opening of the book. Deals that were open then count as covered and bring no money
with them; their end counts as that of any other deal.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from bullion.hedge.contract import DOLLARS, E6, ONE_E8, Contract
from bullion.metals.rounding import half_up
from bullion.metals.symbol import Side

from .events import BookEvent, ClientDeal, OrderCover, close_of, deletion_of, house_change_mg
from .profit import ProfitBook, paise_of, profit_after
from .reference import Reference, deal_reference

_E8_PER_E4 = ONE_E8 // 10_000
_Part = tuple[str, Contract | None]
"""What was dealt under an id that was sent, in a contract."""


class BookMoney(msgspec.Struct, frozen=True):
    """The profit of a book up to one entry."""

    ordinal: int = 0
    """The last entry in it; `currency_no`: the last currency deal."""
    currency_no: int = 0
    book: ProfitBook = ProfitBook()
    estimated: int = 0
    """Deals and covers whose market price was not recorded. Their sum is exact, its parts are not."""
    dollar_e6: int = 0
    """What a dollar cost when one was last dealt in; 0: never."""

    def after(self, event: BookEvent, *, estimated: bool = False, dollar_e6: int = 0) -> "BookMoney":
        return msgspec.structs.replace(
            self,
            book=profit_after(self.book, event),
            estimated=self.estimated + estimated,
            dollar_e6=dollar_e6 or self.dollar_e6,
        )


class DealtOrder(msgspec.Struct, frozen=True):
    """A client's order that became a deal, as far as money needs it."""

    order_id: str
    side: str
    quantity_e4: int
    fine_mg: int
    total_paise: int
    price_anatomy: str
    gain_paise: int = 0
    """What the client gained, once it is closed."""


class OrderFill(msgspec.Struct, frozen=True):
    """A deal of the venue for one order."""

    sent_id: str
    """The id that was sent: the order's own, or that of a part of it."""
    quantity_e8: int
    price_e6: int
    contract: Contract | None
    """None: quantity and price are those of the order, in the metal's unit and for its quoted weight."""


class Priced(msgspec.Struct, frozen=True):
    deal: ClientDeal
    estimated: bool = False
    dollar_e6: int = 0


def dealt(order: DealtOrder, at_us: int) -> Priced:
    """The deal. Without a market price in the price anatomy, the cash itself is the reference."""
    change_mg = house_change_mg(order.side, order.fine_mg)
    # By the side, not by the weight: that of a very small order is rounded to 0.
    cash_paise = order.total_paise if order.side == Side.BUY else -order.total_paise
    try:
        found = deal_reference(order.price_anatomy, order.side, order.quantity_e4)
    except (KeyError, ValueError, TypeError, ZeroDivisionError):
        found = None
    reference = found or Reference(cash_paise, 0)
    deal = ClientDeal(
        order.order_id, change_mg, cash_paise, reference.reference_paise, reference.duty_paise, at_us
    )
    return Priced(deal, found is None)


def covered(
    order: DealtOrder, cover_mg: int, fills: Sequence[OrderFill], dollar_e6: int, at_us: int
) -> Priced:
    """A deal under the policy `each`, with what the venue dealt for it at once.

    Weight that no fill with a price accounts for counts at the reference. Fills beyond the covered weight are
    breaks, and do not count. `dollar_e6`: what a dollar cost when one was last dealt in.
    """
    priced = dealt(order, at_us)
    deal, sign = priced.deal, 1 if cover_mg > 0 else -1
    reference_paise = -half_up(deal.reference_paise * abs(cover_mg), order.fine_mg)
    dollar_e6 = _dollar_e6(order.price_anatomy) or dollar_e6
    cash_paise = cash_cents = 0
    filled_e8: dict[_Part, int] = {}
    priced_e8: dict[_Part, int] = {}
    for fill in fills:
        if _filled_mg(order, filled_e8) >= abs(cover_mg):
            break
        part = (fill.sent_id, fill.contract)
        filled_e8[part] = filled_e8.get(part, 0) + fill.quantity_e8
        if fill.price_e6 <= 0:
            continue
        priced_e8[part] = priced_e8.get(part, 0) + fill.quantity_e8
        value = -sign * _value_minor(order, fill)
        if fill.contract is not None and fill.contract.currency == DOLLARS:
            cash_cents += value
        else:
            cash_paise += value
    left_mg = abs(cover_mg) - _filled_mg(order, priced_e8)
    if left_mg > 0:
        cash_paise += half_up(reference_paise * left_mg, abs(cover_mg))
    estimated = priced.estimated
    if cash_cents and not dollar_e6:
        # As if it had been dealt at the reference.
        dollar_e6, estimated = max(0, half_up((reference_paise - cash_paise) * E6, cash_cents)), True
    cover = OrderCover(cover_mg, cash_paise, cash_cents, dollar_e6, reference_paise)
    used_e6 = dollar_e6 if cash_cents else 0
    return Priced(msgspec.structs.replace(deal, cover=cover), estimated, used_e6)


def closed(order: DealtOrder, at_us: int) -> Priced:
    """The close of a deal. Its duty is not owed any longer, and its price counts as the market's."""
    priced = dealt(order, at_us)
    cash_paise, duty_paise = -priced.deal.cash_paise - order.gain_paise, -priced.deal.duty_paise
    return Priced(close_of(priced.deal, order.gain_paise, cash_paise - duty_paise, duty_paise, at_us))


def deleted(order: DealtOrder, at_us: int) -> Priced:
    priced = dealt(order, at_us)
    return Priced(deletion_of(priced.deal, at_us))


def currency_cash_paise(cents: int, rate_e6: int) -> int:
    """What dollars bought (above 0) or sold cost in rupees, with the sign of the house's cash."""
    return -paise_of(cents, rate_e6)


def _filled_mg(order: DealtOrder, filled_e8: Mapping[_Part, int]) -> int:
    """The weight of the fills, rounded as the covered weight was: once for each id, and not for each fill.

    Without a contract, a part weighs its share of what the parts before it left, as in
    `bullion.desk.actions.hand_covers`. So the parts of an order always add up to its weight.
    """
    filled_mg = 0
    left_e8, left_mg = order.quantity_e4 * _E8_PER_E4, order.fine_mg
    for (_, contract), quantity_e8 in filled_e8.items():
        if contract is not None:
            filled_mg += contract.fine_mg(quantity_e8)
        elif left_e8 > 0:  # Otherwise the parts before it are the whole order.
            part_mg = half_up(left_mg * quantity_e8, left_e8)
            filled_mg += part_mg
            left_e8, left_mg = left_e8 - quantity_e8, left_mg - part_mg
    return filled_mg


def _value_minor(order: DealtOrder, fill: OrderFill) -> int:
    if fill.contract is not None:
        return fill.contract.value_minor(fill.quantity_e8, fill.price_e6)
    weight_e4 = Fraction(msgspec.json.decode(order.price_anatomy)["quoted_weight"]) * 10_000
    exact = Fraction(fill.quantity_e8 * fill.price_e6 * 100, _E8_PER_E4 * E6) / weight_e4
    return half_up(exact.numerator, exact.denominator)


def _dollar_e6(price_anatomy: str) -> int:
    """What a dollar cost for this price; 0 for a price without one."""
    try:
        parts = {each["name"]: each["value"] for each in msgspec.json.decode(price_anatomy)["components"]}
        return int(Fraction(parts["currency"]) * E6)
    except (KeyError, ValueError, TypeError):
        return 0
