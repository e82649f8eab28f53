"""The house's book, which confirms orders itself and covers what all clients hold together.

An order changes the book's position in the transaction that makes it a deal, or that ends the deal. Weights
are fine milligrams, signed from the broker's side: what clients buy is below zero, what covers buy is above.
"""

from typing import Protocol

import msgspec

from bullion.metals.fine_weight import fine_mg
from bullion.metals.symbol import Side
from bullion.orders.order import Order
from bullion.orders.status import Status

from .attempt import ToHedge

IN_BOOK = "book"
"""The venue of requests that the house's book answers, and the policy under which it does."""
EACH = "each"
"""The policy under which the venue answers each order."""
HELD_BACK = "It waits for room in the house's book."
_DEALS = frozenset({Status.OPEN, Status.CLOSING})


class BookEntry(msgspec.Struct, frozen=True):
    """What an order changes in the book."""

    kind: str
    client_mg: int
    cover_mg: int = 0
    """What the venue covered of it."""


def order_entry(
    before: Order, now: Order, fineness_e4: int, uncovered_mg: int = 0, *, covered: bool
) -> BookEntry | None:
    """What a change of an order changes in the book; None if it neither begins nor ends a deal.

    `covered`: whether the venue has covered it, if it becomes a deal, but for `uncovered_mg`.
    """
    was_deal, is_deal = Status(before.status) in _DEALS, Status(now.status) in _DEALS
    if was_deal == is_deal:
        return None
    if is_deal:
        return deal_entry(now, fineness_e4, uncovered_mg, covered=covered)
    kind = "close" if now.status == Status.CLOSED else "delete"
    return BookEntry(kind, -deal_entry(now, fineness_e4, covered=False).client_mg)


def deal_entry(order: Order, fineness_e4: int, uncovered_mg: int = 0, *, covered: bool) -> BookEntry:
    asked = order.asked
    weight_mg = fine_mg(asked.quantity_e4, order.metal, fineness_e4)
    covered_mg = weight_mg - uncovered_mg if covered else 0
    if asked.trade_type == Side.BUY:
        return BookEntry("deal", -weight_mg, covered_mg)
    return BookEntry("deal", weight_mg, -covered_mg)


class HouseBook(Protocol):
    """Every method may raise StoreFault."""

    async def judge(self, to_hedge: ToHedge) -> Order:
        """Confirm the order if the limit of its book allows it. Otherwise it waits."""

    async def review(self) -> int:
        """Confirm the orders that wait and that there is room for now. Returns how many."""
