"""The money of a hedge book, counted again with fractions, from what was dealt and from nothing else.

It shares no arithmetic with the service. Each amount is rounded once, to the nearest paisa, cent or
milligram; a half goes up.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from bullion.hedge.book.profit import Mark, ProfitBook
from bullion.hedge.contract import Contract

E4, E6, E8 = 10**4, 10**6, 10**8
FINENESS = Fraction(999, 1000)
QUOTED_G = 10


def nearest(exact: Fraction) -> int:
    return floor(exact + Fraction(1, 2))


def signed(side: str) -> int:
    """The house sells what a client buys."""
    return -1 if side == "buy" else 1


@dataclass(frozen=True)
class ClientOrder:
    """What a client agreed to. The parts of its price are rupees for 10 g."""

    side: str
    quantity_e4: int
    price_paise: int
    market: Fraction | None = None
    duty: Fraction = Fraction(0)

    @property
    def grams(self) -> Fraction:
        return Fraction(self.quantity_e4, E4)

    @property
    def total_paise(self) -> int:
        return nearest(self.price_paise * self.grams / QUOTED_G)

    @property
    def fine_mg(self) -> int:
        return nearest(self.grams * 1000 * FINENESS)

    @property
    def cash_paise(self) -> int:
        return -signed(self.side) * self.total_paise

    def at(self, rupees: Fraction) -> int:
        """The house's cash at this price."""
        return -signed(self.side) * nearest(rupees * 100 * self.grams / QUOTED_G)

    @property
    def reference_paise(self) -> int:
        return self.cash_paise if self.market is None else self.at(self.market)

    @property
    def duty_paise(self) -> int:
        return 0 if self.market is None else self.at(self.duty)

    def gain_paise(self, close_paise: int) -> int:
        """Of the client; halves away from zero."""
        exact = -signed(self.side) * (close_paise - self.price_paise) * self.grams / QUOTED_G
        return nearest(exact) if exact >= 0 else -nearest(-exact)


@dataclass(frozen=True)
class Movement:
    """What one entry of the book, or one currency deal, changes."""

    client_mg: int = 0
    cover_mg: int = 0
    paise: int = 0
    cents: int = 0
    premium: int = 0
    duty: int = 0
    slippage: int = 0
    fees: int = 0
    metal_paise: int = 0
    """The cash for the metal at the market's price."""
    dollars_paise: int = 0
    """The rupees for the dollars."""


def deal(order: ClientOrder, *, sign: int = 1) -> Movement:
    """`sign` -1: it is deleted."""
    cash, reference, duty = order.cash_paise, order.reference_paise, order.duty_paise
    return Movement(
        client_mg=sign * signed(order.side) * order.fine_mg,
        paise=sign * cash,
        premium=sign * (cash - reference - duty),
        duty=sign * duty,
        metal_paise=sign * reference,
    )


def close(order: ClientOrder, close_paise: int) -> Movement:
    cash = -order.cash_paise - order.gain_paise(close_paise)
    return Movement(
        client_mg=-signed(order.side) * order.fine_mg,
        paise=cash,
        duty=-order.duty_paise,
        metal_paise=cash + order.duty_paise,
    )


def deal_with_cover(order: ClientOrder, fills: list[tuple[int, int]], covered_grams: int) -> Movement:
    """Under the policy `each`. `fills`: whole grams, and rupees for 10 g in millionths.

    Grams that no fill accounts for count at the reference.
    """
    sign = -signed(order.side)
    reference = -nearest(Fraction(covered_grams) / order.grams * order.reference_paise)
    cash = sum(-sign * nearest(Fraction(grams * price_e6 * 100, QUOTED_G * E6)) for grams, price_e6 in fills)
    untold = covered_grams - sum(grams for grams, _ in fills)
    cash += nearest(Fraction(reference * untold, covered_grams))
    return _deal_and_cover(order, nearest(covered_grams * 1000 * FINENESS), cash, reference)


def deal_with_line_cover(
    order: ClientOrder, contract: Contract, parts: list[list[tuple[int, int]]]
) -> Movement:
    """Under the policy `each`, on a line. `parts`: by id that was sent, the lots and their prices.

    The weight is rounded for each id, and the cash is what the venue told; without prices, the reference.
    """
    sign, lot_mg = -signed(order.side), Fraction(contract.lot_ng * contract.fineness_e4, 10**6 * E4)
    cover_mg = sum(nearest(lot_mg * sum(lots_e8 for lots_e8, _ in fills) / E8) for fills in parts)
    cash = 0
    for lots_e8, price_e6 in (fill for fills in parts for fill in fills):
        weight = Fraction(contract.lot_ng * lots_e8, contract.price_ng * E8)
        cash -= sign * nearest(weight * price_e6 * 100 / E6)
    reference = -nearest(Fraction(cover_mg, order.fine_mg) * order.reference_paise)
    told = any(price_e6 for fills in parts for _, price_e6 in fills)
    return _deal_and_cover(order, cover_mg, cash if told else reference, reference)


def _deal_and_cover(order: ClientOrder, cover_mg: int, cash: int, reference: int) -> Movement:
    plain = deal(order)
    return Movement(
        client_mg=plain.client_mg,
        cover_mg=-signed(order.side) * cover_mg,
        paise=plain.paise + cash,
        premium=plain.premium,
        duty=plain.duty,
        slippage=cash - reference,
        metal_paise=plain.metal_paise + reference,
    )


def currency_deal(cents: int, rate_e6: int, fee_paise: int) -> Movement:
    cash = -nearest(Fraction(cents * rate_e6, E6))
    return Movement(paise=cash - fee_paise, cents=cents, fees=-fee_paise, dollars_paise=cash)


@dataclass
class Average:
    """A position at average cost, exactly; what the service keeps of it is rounded at each reduction."""

    amount: int = 0
    cost: Fraction = Fraction(0)
    rounded: int = 0
    """How often."""

    def trade(self, change: int, cash: int) -> None:
        after = self.amount + change
        if change == 0:
            return
        if self.amount == 0 or (self.amount > 0) == (change > 0):
            self.cost -= cash
        elif after == 0:
            self.cost, self.rounded = Fraction(0), 0
        elif (after > 0) == (self.amount > 0):
            self.cost *= Fraction(after, self.amount)
            self.rounded += 1
        else:
            self.cost, self.rounded = -cash * Fraction(after, change), 1
        self.amount = after

    def problems(self, amount: int, cost: int) -> list[str]:
        if amount != self.amount or abs(cost - self.cost) > Fraction(self.rounded, 2):
            return [f"{amount} at {cost}, and not {self.amount} at {float(self.cost)}"]
        return []


@dataclass
class BookModel:
    client_mg: int = 0
    cover_mg: int = 0
    paise: int = 0
    cents: int = 0
    premium: int = 0
    duty: int = 0
    slippage: int = 0
    fees: int = 0
    metal: Average = field(default_factory=Average)
    dollars: Average = field(default_factory=Average)
    held: dict[str, Fraction] = field(default_factory=dict)
    """Fine milligrams of each contract, not rounded."""

    @property
    def residual_mg(self) -> int:
        return self.client_mg + self.cover_mg

    def apply(self, moved: Movement) -> None:
        for name in ("client_mg", "cover_mg", "paise", "cents", "premium", "duty", "slippage", "fees"):
            setattr(self, name, getattr(self, name) + getattr(moved, name))
        self.metal.trade(moved.client_mg + moved.cover_mg, moved.metal_paise)
        self.dollars.trade(moved.cents, moved.dollars_paise)

    def fill(
        self,
        contract: Contract,
        lots_e8: int,
        price_e6: int,
        reference_e6: int,
        fee_minor: int,
        dollar_e6: int,
    ) -> Movement:
        """A cover's deal; `lots_e8` is above 0 for a buy. Weights are rounded for all that is held."""
        before = self.held.get(contract.code, Fraction(0))
        lot_mg = Fraction(contract.lot_ng * contract.fineness_e4, 10**6 * E4)
        after = before + lot_mg * lots_e8 / E8
        self.held[contract.code] = after
        weight = Fraction(contract.lot_ng * lots_e8, contract.price_ng * E8)
        cash, at_reference = (-nearest(weight * each * 100 / E6) for each in (price_e6, reference_e6))
        paid = cash - fee_minor
        in_dollars = contract.currency == "USD"
        rate = Fraction(dollar_e6, E6) if in_dollars else Fraction(1)
        cash_paise, reference_paise, paid_paise = (
            nearest(each * rate) for each in (cash, at_reference, paid)
        )
        return Movement(
            cover_mg=nearest(after) - nearest(before),
            paise=0 if in_dollars else paid,
            cents=paid if in_dollars else 0,
            slippage=cash_paise - reference_paise,
            fees=paid_paise - cash_paise,
            metal_paise=reference_paise,
            dollars_paise=-paid_paise if in_dollars else 0,
        )

    def total_paise(self, mark: Mark) -> int:
        """The cash, with what the position would bring now."""
        return total_paise((self.paise, self.cents, self.residual_mg), mark)

    def problems(self, book: ProfitBook) -> list[str]:
        shown = {
            "cash": (book.cash_paise, self.paise),
            "dollars": (book.cash_cents, self.cents),
            "premium": (book.premium_paise, self.premium),
            "duty": (book.duty_paise, self.duty),
            "slippage": (book.slippage_paise, self.slippage),
            "fees": (book.fees_paise, self.fees),
        }
        found = [f"{name}: {has}, and not {own}" for name, (has, own) in shown.items() if has != own]
        found += self.metal.problems(book.metal.amount, book.metal.basis_paise)
        return found + self.dollars.problems(book.dollars.amount, book.dollars.basis_paise)


def total_paise(state: tuple[int, int, int], mark: Mark) -> int:
    """Of rupees, dollars and fine metal that are there: rupees, with the rest at the mark."""
    paise, cents, fine_mg = state
    price_e6, unit_e6 = (
        each.bid_e6 if fine_mg >= 0 else each.ask_e6 for each in (mark.metal, mark.metal_currency)
    )
    gross_ng = Fraction(fine_mg * 10**6 * E4, mark.fineness_e4)
    metal = gross_ng / mark.weight_ng * price_e6 * unit_e6 * 100 / E6**2
    dollar_e6 = mark.dollar.bid_e6 if cents >= 0 else mark.dollar.ask_e6
    return paise + nearest(metal) + nearest(Fraction(cents * dollar_e6, E6))
