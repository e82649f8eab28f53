"""An order on its way into the book, and what may become of it."""

from asyncio import Future
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from bullion.hedge.venue import HedgeRequest
from bullion.orders.order import Order, PriceMove
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Refusal, Verdict

Settled = Order | PriceMove
"""What a key was settled by."""

KeyName = tuple[int, str, str]
"""Book, channel and idempotency key: what a key is unique within."""

StockName = tuple[str, str]
"""Broker and symbol."""


class ToHedge(msgspec.Struct, frozen=True):
    """A pending order with what its venue must know beside it."""

    order: Order
    broker: str
    instrument: str
    took_stock: bool = False
    """Whether its weight was taken from a stock, and goes back there."""

    def request(self) -> HedgeRequest:
        order, asked = self.order, self.order.asked
        return HedgeRequest(
            order.id, self.broker, self.instrument, asked.trade_type, asked.quantity_e4, order.price_paise
        )


class Booked(msgspec.Struct, frozen=True):
    order: Order
    replayed: bool = False
    compared: Mapping[str, Any] = {}
    """The values that the last checks compared, for the desk's eyes."""


Outcome = Booked | Refusal


class Placing(msgspec.Struct, eq=False):
    book_id: int
    broker: str
    source: str
    idempotency_key: str
    asked: PlaceOrder
    key_id: str | None
    request_id: str
    judge: Callable[[], Verdict]
    """Judges the order anew from what this node's memory holds then."""
    verdict: Verdict
    judged_by: int | None = None
    """The catalogue's version that the verdict, and the gate's word on the caller, were made by."""
    settled: Settled | None = None
    """What the store was found to hold under this key."""
    outcome: "Future[Outcome] | None" = None
    since_s: float = 0.0
    """By the loop's clock, since when it waits."""
    sent: bool = False
    """Whether a store has been asked to record it and has not answered."""
    given_up: bool = False
    """Whether its caller was told, or is about to be told, that it waited too long."""

    @property
    def waits(self) -> bool:
        """Whether nobody has answered it yet."""
        return self.outcome is not None and not self.outcome.done()

    def answer(self, outcome: Outcome) -> None:
        """The first word counts; those that come after it find nobody waiting."""
        if self.waits and self.outcome is not None:
            self.outcome.set_result(outcome)

    def fail(self, error: Exception) -> None:
        if self.waits and self.outcome is not None:
            self.outcome.set_exception(error)

    def send(self) -> bool:
        """Whether it may still be recorded. Asked where the store is about to be, on whichever thread.

        Set before the other is read, as in `give_up`: of the two, at least one sees the other.
        """
        self.sent = True
        return self.waits and not self.given_up

    def give_up(self) -> bool:
        """Whether it is certain that it was not recorded, and will not be."""
        self.given_up = True
        return not self.sent

    @property
    def stock_name(self) -> StockName:
        return self.broker, self.asked.symbol_code

    @property
    def key_name(self) -> KeyName:
        return self.book_id, self.source, self.idempotency_key
