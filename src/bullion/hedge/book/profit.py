"""The profit of a hedge book by its parts, in whole paise, which add up to its cash.

Average cost: what enlarges the position adds to the cost basis, what reduces it takes its share out of the
basis, rounded once, and realises the difference. The average itself is only shown, and never calculated with.

Dollars are a position of their own. A cover in dollars buys metal for its rupee value at that moment, and
sells as many dollars for the same rupees; a currency deal of the desk closes them.
"""

from collections.abc import Iterable

import msgspec

from bullion.hedge.contract import E6
from bullion.metals.fine_weight import FINENESS_E4_ONE, NG_PER_MG
from bullion.metals.rounding import half_up

from .events import BookEvent, ClientDeal, CoverFill, CurrencyDeal, OrderCover
from .position import distinct, fill_change_mg

_MINOR_PER_UNIT = 100
_NO_COVER = OrderCover(0, 0, 0, 0, 0)


class Holding(msgspec.Struct, frozen=True):
    """An amount of metal in milligrams or of money in cents, and what was paid for it."""

    amount: int = 0
    basis_paise: int = 0
    """Below 0 for a short position: what was received for it."""

    def traded(self, change: int, cash_paise: int) -> tuple["Holding", int]:
        """The holding after a trade, and what the trade realised."""
        amount = self.amount + change
        if change == 0:
            return self, cash_paise
        if self.amount == 0 or (self.amount > 0) == (change > 0):
            return Holding(amount, self.basis_paise - cash_paise), 0
        if abs(change) <= abs(self.amount):
            share = half_up(self.basis_paise * abs(change), abs(self.amount))
            return Holding(amount, self.basis_paise - share), cash_paise - share
        # It crosses zero: one part closes the holding, and the rest opens another on the other side.
        closing_paise = half_up(cash_paise * abs(self.amount), abs(change))
        return Holding(amount, closing_paise - cash_paise), closing_paise - self.basis_paise


class Quote(msgspec.Struct, frozen=True):
    """What can be dealt at now."""

    bid_e6: int
    ask_e6: int

    def to_close(self, amount: int) -> int:
        """The side at which a position of this sign is closed: a long one is sold at the bid."""
        return self.bid_e6 if amount >= 0 else self.ask_e6


ONE_RUPEE = Quote(E6, E6)


class Mark(msgspec.Struct, frozen=True):
    """The prices at which the residual and the open dollars are valued."""

    metal: Quote
    weight_ng: int
    """The gross weight that the metal's quote is for."""
    fineness_e4: int
    metal_currency: Quote = ONE_RUPEE
    """Rupees for one unit of the currency of the metal's quote."""
    dollar: Quote = ONE_RUPEE
    """Rupees for a dollar. It is not used while no dollars are open."""

    def metal_paise(self, weight_mg: int) -> int:
        """The value of a fine weight at the side one would deal at, rounded half up once."""
        return half_up(
            weight_mg
            * NG_PER_MG
            * FINENESS_E4_ONE
            * self.metal.to_close(weight_mg)
            * self.metal_currency.to_close(weight_mg)
            * _MINOR_PER_UNIT,
            self.weight_ng * self.fineness_e4 * E6 * E6,
        )

    def dollars_paise(self, cents: int) -> int:
        return paise_of(cents, self.dollar.to_close(cents))


class Profit(msgspec.Struct, frozen=True):
    """Above 0 is a gain of the house, in paise."""

    premium: int
    """Clients' prices beyond the reference: premium, margin, and their rounding."""
    duty: int
    """Duty that clients paid. It is owed to customs, and no market risk."""
    slippage: int
    """Covers against the reference at which they were sent. Usually below 0."""
    realised: int
    unrealised: int
    """The residual at the mark, less what it cost."""
    currency_realised: int
    currency_unrealised: int
    fees: int
    """Below 0 is a cost."""

    @property
    def total(self) -> int:
        return (
            self.premium
            + self.duty
            + self.slippage
            + self.realised
            + self.unrealised
            + self.currency_realised
            + self.currency_unrealised
            + self.fees
        )


class ProfitBook(msgspec.Struct, frozen=True):
    """Everything that the profit is made of, but the mark."""

    metal: Holding = Holding()
    dollars: Holding = Holding()
    held_e8: dict[str, int] = {}
    premium_paise: int = 0
    duty_paise: int = 0
    slippage_paise: int = 0
    realised_paise: int = 0
    currency_realised_paise: int = 0
    fees_paise: int = 0
    cash_paise: int = 0
    """All rupees received, less all rupees paid."""
    cash_cents: int = 0
    """All dollars received, less all dollars paid."""

    @property
    def usd_open_cents(self) -> int:
        """Dollars of covers that no currency deal covers. Below 0: the house owes them."""
        return self.dollars.amount

    @property
    def average_e6(self) -> int | None:
        """Rupees for a fine gram of the residual, in millionths. To be shown, not to be calculated with."""
        if self.metal.amount == 0:
            return None
        basis, amount = abs(self.metal.basis_paise), abs(self.metal.amount)
        return half_up(basis * 1_000 * E6, amount * _MINOR_PER_UNIT)

    def profit(self, mark: Mark) -> Profit:
        return Profit(
            premium=self.premium_paise,
            duty=self.duty_paise,
            slippage=self.slippage_paise,
            realised=self.realised_paise,
            unrealised=mark.metal_paise(self.metal.amount) - self.metal.basis_paise,
            currency_realised=self.currency_realised_paise,
            currency_unrealised=mark.dollars_paise(self.dollars.amount) - self.dollars.basis_paise,
            fees=self.fees_paise,
        )


def fold_profit(events: Iterable[BookEvent], start: ProfitBook | None = None) -> ProfitBook:
    """The profit after these events. A repeated fill changes nothing. May raise ContradictoryFill."""
    book = start or ProfitBook()
    for event in distinct(events):
        book = profit_after(book, event)
    return book


def profit_after(book: ProfitBook, event: BookEvent) -> ProfitBook:
    """The book after one event. The caller counts each execution id once."""
    match event:
        case ClientDeal():
            return _after_deal(book, event)
        case CoverFill():
            return _after_fill(book, event)
        case CurrencyDeal():
            return _after_currency_deal(book, event)
        case _:
            return book


def paise_of(cents: int, dollar_e6: int) -> int:
    """Dollars at a rate, rounded half up."""
    return half_up(cents * dollar_e6, E6)


def _after_deal(book: ProfitBook, deal: ClientDeal) -> ProfitBook:
    """A deal and its own cover change the metal together: what is covered never touches the cost basis."""
    cover = deal.cover or _NO_COVER
    metal, realised = book.metal.traded(
        deal.change_mg + cover.change_mg, deal.reference_paise + cover.reference_paise
    )
    dollars_paise = paise_of(cover.cash_cents, cover.dollar_e6)
    dollars, currency_realised = book.dollars.traded(cover.cash_cents, -dollars_paise)
    slippage = cover.cash_paise + dollars_paise - cover.reference_paise
    return msgspec.structs.replace(
        book,
        metal=metal,
        dollars=dollars,
        premium_paise=book.premium_paise + deal.cash_paise - deal.reference_paise - deal.duty_paise,
        duty_paise=book.duty_paise + deal.duty_paise,
        slippage_paise=book.slippage_paise + slippage,
        realised_paise=book.realised_paise + realised,
        currency_realised_paise=book.currency_realised_paise + currency_realised,
        cash_paise=book.cash_paise + deal.cash_paise + cover.cash_paise,
        cash_cents=book.cash_cents + cover.cash_cents,
    )


def _after_fill(book: ProfitBook, fill: CoverFill) -> ProfitBook:
    code = fill.contract.code
    held_e8 = book.held_e8.get(code, 0)
    cash = -fill.contract.value_minor(fill.quantity_e8, fill.price_e6)
    at_reference = -fill.contract.value_minor(fill.quantity_e8, fill.reference_e6)
    paid = cash - fill.fee_minor
    dollars, currency_realised = book.dollars, 0
    if fill.in_dollars:
        dollars, currency_realised = dollars.traded(paid, -paise_of(paid, fill.dollar_e6))
    cash_paise, reference_paise, paid_paise = (
        paise_of(each, fill.dollar_e6) if fill.in_dollars else each for each in (cash, at_reference, paid)
    )
    change_mg = fill.change_mg
    if change_mg is None:
        change_mg = fill_change_mg(fill.contract, held_e8, fill.quantity_e8)
    metal, realised = book.metal.traded(change_mg, reference_paise)
    return msgspec.structs.replace(
        book,
        metal=metal,
        dollars=dollars,
        held_e8={**book.held_e8, code: held_e8 + fill.quantity_e8},
        slippage_paise=book.slippage_paise + cash_paise - reference_paise,
        realised_paise=book.realised_paise + realised,
        currency_realised_paise=book.currency_realised_paise + currency_realised,
        fees_paise=book.fees_paise + paid_paise - cash_paise,
        cash_paise=book.cash_paise + (0 if fill.in_dollars else paid),
        cash_cents=book.cash_cents + (paid if fill.in_dollars else 0),
    )


def _after_currency_deal(book: ProfitBook, deal: CurrencyDeal) -> ProfitBook:
    dollars, realised = book.dollars.traded(deal.cents, deal.cash_paise)
    return msgspec.structs.replace(
        book,
        dollars=dollars,
        currency_realised_paise=book.currency_realised_paise + realised,
        fees_paise=book.fees_paise - deal.fee_paise,
        cash_paise=book.cash_paise + deal.cash_paise - deal.fee_paise,
        cash_cents=book.cash_cents + deal.cents,
    )
