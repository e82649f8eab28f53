"""An attempt to place an order, and its possible outcomes."""

from asyncio import Future
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from bullion.hedge.venue import HedgeRequest
from bullion.metals.fine_weight import FINENESS_E4_USUAL, fine_mg
from bullion.orders.order import Order, PriceMove
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Refusal, Verdict

from .partial_fills import Rest, child_id

Settled = Order | PriceMove
"""The recorded outcome of an idempotency key."""

KeyName = tuple[int, str, str]
"""Book, channel and idempotency key: a key is unique within its book and channel."""

StockName = tuple[str, str]
"""Broker and symbol."""


class OrderAttempt(msgspec.Struct, frozen=True, gc=False):
    """One call that places an order: the caller, the order and the idempotency key."""

    book_id: int
    broker: str
    source: str
    idempotency_key: str
    asked: PlaceOrder
    key_id: str | None
    """The API key of the call; None for an order that the desk places."""
    request_id: str
    address: str = ""
    """The caller's address, which its API key may be limited to."""
    admitted_serial: int | None = None
    """The catalogue's serial that the caller was admitted with; None: the caller is always checked again."""

    @property
    def stock_name(self) -> StockName:
        return self.broker, self.asked.symbol_code

    @property
    def key_name(self) -> KeyName:
        return self.book_id, self.source, self.idempotency_key


class OrderCheck(Protocol):
    """Checks the caller and the order against this node's memory, without a read of the store.

    The queue calls it when an attempt arrives, and again if it has waited, or the catalogue has changed,
    before the order is recorded: a key that was revoked, or a switch that was turned off, stops the order
    then.
    """

    def check(self, attempt: OrderAttempt) -> Verdict: ...


class ToHedge(msgspec.Struct, frozen=True):
    """A pending order, with the broker and instrument that the venue needs."""

    order: Order
    broker: str
    instrument: str
    took_stock: bool = False
    """Whether its weight was taken from a stock, and returns there if the order does not become a deal."""
    fineness_e4: int = FINENESS_E4_USUAL
    """Of the symbol, when the order was recorded."""
    rest: Rest | None = None
    """What is left of a partly filled order."""
    in_book: bool = False
    """Whether the house's book confirms it, and not the venue."""

    @property
    def child(self) -> int:
        """The number of the child that is sent; 0 for the order itself."""
        return 0 if self.rest is None else self.rest.child

    def request(self) -> HedgeRequest:
        order, asked, rest = self.order, self.order.asked, self.rest
        if rest is None:
            order_id, quantity_e4 = order.id, asked.quantity_e4
            fine = fine_mg(quantity_e4, order.metal, self.fineness_e4)
        else:
            order_id, quantity_e4, fine = child_id(order.id, rest.child), rest.quantity_e4, rest.fine_mg
        return HedgeRequest(
            order_id,
            self.broker,
            self.instrument,
            asked.trade_type,
            quantity_e4,
            order.price_paise,
            order.metal.value,
            fine,
        )


class Booked(msgspec.Struct, frozen=True, gc=False):
    """The order is recorded, now or before. One of production may still be pending, or be rejected by now."""

    order: Order
    replayed: bool = False
    compared: Mapping[str, Any] = {}
    """The values that the last checks compared, for the desk."""
    instrument: str | None = None
    """What the venue must cover the order in; None if it was booked earlier, or is not hedged."""
    fineness_e4: int = FINENESS_E4_USUAL
    in_book: bool = False
    """Whether the house's book confirms it."""


Outcome = Booked | Refusal


class QueueEntry(msgspec.Struct, eq=False):
    """An attempt in the booking queue, with its state."""

    attempt: OrderAttempt
    check: OrderCheck
    verdict: Verdict
    catalogue_serial: int | None = None
    """The catalogue's serial that the verdict was made with; None: the attempt must be checked again."""
    settled: Settled | None = None
    """The outcome that the store has recorded for this idempotency key."""
    outcome: "Future[Outcome] | None" = None
    since_s: float = 0.0
    """When the attempt arrived, by the loop's clock."""
    sent: bool = False
    """Whether it was sent to the store and no response has arrived."""
    waits_for_lock: bool = False
    """Whether its book has to be locked before it is decided."""
    found_locked: bool = False
    """Whether another node had locked its book when it was tried."""
    given_up: bool = False
    """Whether the caller has been told that the deadline passed, or is about to be."""

    @property
    def waits(self) -> bool:
        """Whether the caller has no answer yet."""
        return self.outcome is not None and not self.outcome.done()

    @property
    def is_open(self) -> bool:
        """Whether the caller has no answer yet, and may still get one from a batch."""
        waiting = self.outcome
        return waiting is not None and not self.given_up and not waiting.done()

    def answer(self, outcome: Outcome) -> None:
        """Only the first answer counts."""
        waiting = self.outcome
        if waiting is not None and not waiting.done():
            waiting.set_result(outcome)

    def fail(self, error: Exception) -> None:
        waiting = self.outcome
        if waiting is not None and not waiting.done():
            waiting.set_exception(error)

    def mark_sent(self) -> bool:
        """Called right before it is sent to the store, on any thread. False if it must not be recorded.

        `mark_sent` and `give_up` each set their own flag before they read the other's, so they cannot both
        miss.
        """
        self.sent = True
        return self.is_open

    def give_up(self) -> bool:
        """Whether it is certain that it was not recorded, and will not be."""
        self.given_up = True
        return not self.sent
