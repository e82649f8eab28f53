"""What becomes of the orders that wait for one book: pure, and the same on every engine.

Decided on the book as this node last saw it. Whoever records the plan makes sure that it still is so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from bullion.allocation.book import Book
from bullion.allocation.position import Position
from bullion.metals.metal import Metal
from bullion.metals.weight import weight_text
from bullion.orders.order import Order, PriceMove, Status, signed_e4
from bullion.orders.verdict import Denied, Priced
from bullion.refusals.catalogue import LIMIT_EXCEEDED

from .placing import Booked, Outcome, Placing
from .replay import price_moved, replay

_PERCENT_E4 = 100 * 10_000
_PAISE_PLACES = 2


@dataclass(slots=True)
class Plan:
    """What to record in one book, and what to answer once that is done."""

    before: Book
    after: Book
    orders: list[Order] = field(default_factory=list)
    price_moves: list[PriceMove] = field(default_factory=list)
    outcomes: list[tuple[Placing, Outcome]] = field(default_factory=list)

    @property
    def changes(self) -> bool:
        return bool(self.orders or self.price_moves)


def decide(book: Book, placings: Sequence[Placing], now_us: int, new_id: Callable[[int, int], str]) -> Plan:
    positions = {Metal.GOLD: book.gold, Metal.SILVER: book.silver}
    plan = Plan(book, book)
    # A clock that was set back must not put a later order before an earlier one.
    at_us = max(now_us, book.last_order_at_us)
    ordinal = book.order_count
    for placing in placings:
        verdict = placing.verdict
        outcome: Outcome
        if placing.settled is not None:
            outcome = replay(placing.settled, placing.asked, placing.request_id)
        elif isinstance(verdict, Denied):
            outcome = verdict
        else:
            position = positions[verdict.metal]
            change_e4 = signed_e4(placing.asked)
            if not position.admits(change_e4):
                outcome = _limit_exceeded(verdict.metal, position, change_e4)
            elif moved(verdict, placing.asked.expected_price):
                move = _price_move(placing, verdict, at_us)
                plan.price_moves.append(move)
                outcome = price_moved(move)
            else:
                ordinal += 1
                order = _order(placing, verdict, ordinal, at_us, new_id(at_us, ordinal))
                plan.orders.append(order)
                positions[verdict.metal] = Position(position.net_e4 + change_e4, position.limit_e4)
                outcome = Booked(order, compared=_compared(verdict, position, change_e4))
        plan.outcomes.append((placing, outcome))
    if plan.changes:
        plan.after = msgspec.structs.replace(
            book,
            gold=positions[Metal.GOLD],
            silver=positions[Metal.SILVER],
            order_count=ordinal,
            last_order_at_us=at_us,
            version=book.version + 1,
        )
    return plan


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
        status=Status.FILLED.value,
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


def _limit_exceeded(metal: Metal, position: Position, change_e4: int) -> Denied:
    free, limit = weight_text(position.free_e4), weight_text(position.limit_e4)
    return Denied(
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
