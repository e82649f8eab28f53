"""What becomes of the orders that wait for one book: pure, and the same on every engine.

Decided on the book as this node last saw it. Whoever records the plan makes sure that it still is so.
"""

from collections.abc import Callable, MutableMapping, Sequence

import msgspec

from bullion.allocation.book import Book, environment_of
from bullion.allocation.position import Position
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.metals.symbol import Side
from bullion.metals.weight import weight_text
from bullion.orders.order import Order, PriceMove, signed_e4
from bullion.orders.status import Status
from bullion.orders.verdict import Priced, Refusal
from bullion.refusals.catalogue import LIMIT_EXCEEDED, OUT_OF_STOCK

from .placing import Booked, Outcome, Placing, StockName, ToHedge
from .replay import price_moved, replay

_PERCENT_E4 = 100 * 10_000
_PAISE_PLACES = 2
_FIRST_STATUS = {Environment.TEST: Status.FILLED.value, Environment.PRODUCTION: Status.PENDING.value}


class Plan(msgspec.Struct):
    """What to record in one book, and what to answer once that is done."""

    before: Book
    after: Book
    orders: list[Order] = []
    price_moves: list[PriceMove] = []
    to_hedge: list[ToHedge] = []
    """Those of the orders that a venue must confirm."""
    stock_taken: dict[StockName, int] = {}
    fences: bool = False
    """Whether the book's version is moved although nothing is recorded, because a key was refused.

    Where real metal hangs on it: an earlier call with that key may still be on its way to the store, given up
    by whoever sent it. Decided on the version before, it is not recorded any more; the refusal stays true.
    """
    outcomes: list[tuple[Placing, Outcome]] = []

    @property
    def changes(self) -> bool:
        return bool(self.orders or self.price_moves or self.fences)


def decide(
    book: Book,
    placings: Sequence[Placing],
    now_us: int,
    new_id: Callable[[int, int], str],
    stock: MutableMapping[StockName, int] | None = None,
) -> Plan:
    """`stock` is what is left of each stock, and is drawn on; without it no placing may take from one."""
    draft = _Draft(book, now_us, new_id, stock)
    for placing in placings:
        draft.plan.outcomes.append((placing, draft.outcome(placing)))
    return draft.finished()


class _Draft:
    """A plan in the making, and what the book and the stocks hold after the orders so far."""

    def __init__(
        self,
        book: Book,
        now_us: int,
        new_id: Callable[[int, int], str],
        stock: MutableMapping[StockName, int] | None,
    ) -> None:
        self.plan = Plan(book, book)
        self._positions = {Metal.GOLD: book.gold, Metal.SILVER: book.silver}
        # A clock that was set back must not put a later order before an earlier one.
        self._at_us = max(now_us, book.last_order_at_us)
        self._ordinal = book.order_count
        self._real = environment_of(book.id) is Environment.PRODUCTION
        self._new_id = new_id
        self._stock = {} if stock is None else stock

    def outcome(self, placing: Placing) -> Outcome:
        verdict = placing.verdict
        if placing.settled is not None:
            replayed = replay(placing.settled, placing.asked, placing.request_id)
            if isinstance(verdict, Refusal) and verdict.closed and not isinstance(replayed, Booked):
                return verdict
            return replayed
        outcome = verdict if isinstance(verdict, Refusal) else self._with_book(placing, verdict)
        if isinstance(outcome, Refusal) and self._real:
            self.plan.fences = True
        return outcome

    def _with_book(self, placing: Placing, priced: Priced) -> Outcome:
        position = self._positions[priced.metal]
        change_e4 = signed_e4(placing.asked)
        if not position.admits(change_e4):
            return limit_exceeded(priced.metal, position, change_e4)
        from_stock, left_e4 = takes_stock(placing), self._stock.get(placing.stock_name, 0)
        if from_stock and left_e4 < change_e4:
            return _out_of_stock(priced.metal, left_e4, change_e4)
        if moved(priced, placing.asked.expected_price):
            move = _price_move(placing, priced, self._at_us)
            self.plan.price_moves.append(move)
            return price_moved(move)
        self._ordinal += 1
        order = _order(placing, priced, self._ordinal, self._at_us, self._new_id(self._at_us, self._ordinal))
        self.plan.orders.append(order)
        if priced.instrument is not None:
            self.plan.to_hedge.append(ToHedge(order, placing.broker, priced.instrument, from_stock))
        if from_stock:
            self._stock[placing.stock_name] = left_e4 - change_e4
            taken = self.plan.stock_taken
            taken[placing.stock_name] = taken.get(placing.stock_name, 0) + change_e4
        self._positions[priced.metal] = Position(position.net_e4 + change_e4, position.limit_e4)
        return Booked(order, compared=_compared(priced, position, change_e4))

    def finished(self) -> Plan:
        plan = self.plan
        if plan.changes:
            plan.after = msgspec.structs.replace(
                plan.before,
                gold=self._positions[Metal.GOLD],
                silver=self._positions[Metal.SILVER],
                order_count=self._ordinal,
                last_order_at_us=self._at_us,
                version=plan.before.version + 1,
            )
        return plan


def takes_stock(placing: Placing) -> bool:
    verdict = placing.verdict
    return isinstance(verdict, Priced) and verdict.stock_kept and placing.asked.trade_type == Side.BUY


def moved(priced: Priced, expected_price: str | None) -> bool:
    """Beyond the tolerance in either direction, exactly; at the tolerance it passes."""
    if expected_price is None:
        return False
    places = max(len(expected_price.partition(".")[2]), _PAISE_PLACES)
    expected = _scaled(expected_price, places)
    price: int = priced.price_paise * 10 ** (places - _PAISE_PLACES)
    return abs(price - expected) * _PERCENT_E4 > expected * priced.tolerance_percent_e4


def _scaled(text: str, places: int) -> int:
    whole, _, part = text.partition(".")
    return int(whole + part.ljust(places, "0"))


def _order(placing: Placing, priced: Priced, ordinal: int, at_us: int, order_id: str) -> Order:
    return Order(
        book_id=placing.book_id,
        ordinal=ordinal,
        id=order_id,
        source=placing.source,
        idempotency_key=placing.idempotency_key,
        asked=placing.asked,
        metal=priced.metal,
        price_paise=priced.price_paise,
        total_paise=priced.total_paise,
        status=_FIRST_STATUS[environment_of(placing.book_id)],
        key_id=placing.key_id,
        request_id=placing.request_id,
        created_at_us=at_us,
        price_anatomy=priced.price_anatomy,
    )


def _price_move(placing: Placing, priced: Priced, at_us: int) -> PriceMove:
    return PriceMove(
        book_id=placing.book_id,
        source=placing.source,
        idempotency_key=placing.idempotency_key,
        asked=placing.asked,
        price_paise=priced.price_paise,
        tolerance_percent_e4=priced.tolerance_percent_e4,
        request_id=placing.request_id,
        at_us=at_us,
    )


def _compared(priced: Priced, position: Position, change_e4: int) -> dict[str, int | None]:
    """Plain numbers: they are written out for people only if somebody asks."""
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


def _out_of_stock(metal: Metal, left_e4: int, wanted_e4: int) -> Refusal:
    return Refusal(
        OUT_OF_STOCK,
        f"There is not enough stock for this buy: {weight_text(left_e4)} {metal.unit} are left.",
        {"stock_e4": left_e4, "change_e4": wanted_e4, "unit": metal.unit},
    )
