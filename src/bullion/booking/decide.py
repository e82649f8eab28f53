"""Decides the orders that wait for one book. Pure functions, the same for every engine.

The decision is based on the book as this node last read it. The store records the plan only if the book has
not changed since.
"""

from collections.abc import Callable, MutableMapping, Sequence

import msgspec

from bullion.allocation.book import Book, environment_of
from bullion.allocation.position import Position
from bullion.environment import PRODUCTION, TEST
from bullion.metals.metal import GOLD, SILVER, Metal
from bullion.metals.symbol import BUY
from bullion.metals.weight import weight_text
from bullion.orders.order import Order, PriceMove, signed_e4
from bullion.orders.status import Status
from bullion.orders.verdict import Priced, Refusal, Verdict
from bullion.refusals.catalogue import LIMIT_EXCEEDED, OUT_OF_STOCK

from .attempt import Booked, OrderAttempt, Outcome, QueueEntry, StockName, ToHedge
from .replay import price_moved, replay

_PERCENT_E4 = 100 * 10_000
_PAISE_PLACES = 2
_FIRST_STATUS = {TEST: Status.FILLED.value, PRODUCTION: Status.PENDING.value}


class Plan(msgspec.Struct):
    """The changes to record in one book, and the outcomes to answer with once they are recorded."""

    before: Book
    after: Book
    orders: list[Order] = []
    price_moves: list[PriceMove] = []
    to_hedge: list[ToHedge] = []
    """The orders that a venue must confirm."""
    stock_taken: dict[StockName, int] = {}
    fences: bool = False
    """Whether the book's version moves although nothing is recorded, because a production order was refused.

    An earlier call with the same idempotency key may still be on its way to the store after its caller gave
    up. It was decided on the version before, so it can no longer be recorded, and the refusal stays true.
    """
    outcomes: list[tuple[QueueEntry, Outcome]] = []

    @property
    def changes(self) -> bool:
        return bool(self.orders or self.price_moves or self.fences)


def decide(
    book: Book,
    entries: Sequence[QueueEntry],
    now_us: int,
    new_id: Callable[[int, int], str],
    stock: MutableMapping[StockName, int] | None = None,
) -> Plan:
    """`stock`: the weight left in each stock; orders reduce it. Without it no order may take from a stock."""
    draft = _Draft(book, now_us, new_id, stock)
    for entry in entries:
        draft.plan.outcomes.append((entry, draft.outcome(entry)))
    return draft.finished()


class _Draft:
    """An unfinished plan, with the positions and stocks after the orders so far."""

    def __init__(
        self,
        book: Book,
        now_us: int,
        new_id: Callable[[int, int], str],
        stock: MutableMapping[StockName, int] | None,
    ) -> None:
        self.plan = Plan(book, book)
        self._positions = {GOLD: book.gold, SILVER: book.silver}
        # A clock that was set back must not put a later order before an earlier one.
        self._at_us = max(now_us, book.last_order_at_us)
        self._ordinal = book.order_count
        environment = environment_of(book.id)
        self._is_production = environment is PRODUCTION
        self._first_status = _FIRST_STATUS[environment]
        self._new_id = new_id
        self._stock = {} if stock is None else stock

    def outcome(self, entry: QueueEntry) -> Outcome:
        verdict = entry.verdict
        if entry.settled is not None:
            return replay(entry.settled, entry)
        outcome = verdict if isinstance(verdict, Refusal) else self._book(entry.attempt, verdict)
        if isinstance(outcome, Refusal) and self._is_production:
            self.plan.fences = True
        return outcome

    def _book(self, attempt: OrderAttempt, priced: Priced) -> Outcome:
        position = self._positions[priced.metal]
        change_e4 = signed_e4(attempt.asked)
        if not position.admits(change_e4):
            return limit_exceeded(priced.metal, position, change_e4)
        from_stock = priced.stock_kept and takes_stock(attempt, priced)
        left_e4 = self._stock.get(attempt.stock_name, 0) if from_stock else 0
        if from_stock and left_e4 < change_e4:
            return out_of_stock(priced.metal, left_e4, change_e4)
        if moved(priced, attempt.asked.expected_price):
            move = _price_move(attempt, priced, self._at_us)
            self.plan.price_moves.append(move)
            return price_moved(move)
        self._ordinal += 1
        order = self._order(attempt, priced)
        self.plan.orders.append(order)
        if priced.instrument is not None:
            self.plan.to_hedge.append(
                ToHedge(
                    order,
                    attempt.broker,
                    priced.instrument,
                    from_stock,
                    priced.fineness_e4,
                    in_book=priced.in_book,
                )
            )
        if from_stock:
            stock_name, taken = attempt.stock_name, self.plan.stock_taken
            self._stock[stock_name] = left_e4 - change_e4
            taken[stock_name] = taken.get(stock_name, 0) + change_e4
        self._positions[priced.metal] = Position(position.net_e4 + change_e4, position.limit_e4)
        return Booked(
            order,
            compared=_compared(priced, position, change_e4),
            instrument=priced.instrument,
            fineness_e4=priced.fineness_e4,
            in_book=priced.in_book,
        )

    def _order(self, attempt: OrderAttempt, priced: Priced) -> Order:
        return Order(
            book_id=attempt.book_id,
            ordinal=self._ordinal,
            id=self._new_id(self._at_us, self._ordinal),
            source=attempt.source,
            idempotency_key=attempt.idempotency_key,
            asked=attempt.asked,
            metal=priced.metal,
            price_paise=priced.price_paise,
            total_paise=priced.total_paise,
            status=self._first_status,
            key_id=attempt.key_id,
            request_id=attempt.request_id,
            created_at_us=self._at_us,
            price_anatomy=priced.price_anatomy,
        )

    def finished(self) -> Plan:
        plan = self.plan
        if plan.changes:
            plan.after = msgspec.structs.replace(
                plan.before,
                gold=self._positions[GOLD],
                silver=self._positions[SILVER],
                order_count=self._ordinal,
                # It stays if only refusals were recorded.
                last_order_at_us=self._at_us if plan.orders else plan.before.last_order_at_us,
                version=plan.before.version + 1,
            )
        return plan


def takes_stock(attempt: OrderAttempt, verdict: Verdict) -> bool:
    return isinstance(verdict, Priced) and verdict.stock_kept and attempt.asked.trade_type == BUY


def moved(priced: Priced, expected_price: str | None) -> bool:
    """Whether the price is beyond the tolerance in either direction; exactly at the tolerance it is not."""
    if expected_price is None:
        return False
    places = max(len(expected_price.partition(".")[2]), _PAISE_PLACES)
    expected = _scaled(expected_price, places)
    price: int = priced.price_paise * 10 ** (places - _PAISE_PLACES)
    return abs(price - expected) * _PERCENT_E4 > expected * priced.tolerance_percent_e4


def _scaled(text: str, places: int) -> int:
    whole, _, part = text.partition(".")
    return int(whole + part.ljust(places, "0"))


def _price_move(attempt: OrderAttempt, priced: Priced, at_us: int) -> PriceMove:
    return PriceMove(
        book_id=attempt.book_id,
        source=attempt.source,
        idempotency_key=attempt.idempotency_key,
        asked=attempt.asked,
        price_paise=priced.price_paise,
        tolerance_percent_e4=priced.tolerance_percent_e4,
        request_id=attempt.request_id,
        at_us=at_us,
    )


def _compared(priced: Priced, position: Position, change_e4: int) -> dict[str, int | None]:
    """Unformatted numbers: they are formatted when a trace is read."""
    return {
        "net_before_e4": position.net_e4,
        "change_e4": change_e4,
        "limit_e4": position.limit_e4,
        "price_paise": priced.price_paise,
        "rate_at_us": priced.rate_at_us,
    }


def limit_exceeded(metal: Metal, position: Position, change_e4: int) -> Refusal:
    free, limit = weight_text(position.free_e4), weight_text(position.limit_e4)
    return Refusal(
        LIMIT_EXCEEDED,
        f"The order would take the {metal.value} position past the weight allocation: "
        f"{free} {metal.unit} of {limit} {metal.unit} are free.",
        {
            "metal": metal.value,
            "net_before_e4": position.net_e4,
            "change_e4": change_e4,
            "limit_e4": position.limit_e4,
            "unit": metal.unit,
        },
    )


def out_of_stock(metal: Metal, left_e4: int, wanted_e4: int) -> Refusal:
    return Refusal(
        OUT_OF_STOCK,
        f"There is not enough stock for this buy: {weight_text(left_e4)} {metal.unit} are left.",
        {"stock_e4": left_e4, "change_e4": wanted_e4, "unit": metal.unit},
    )
