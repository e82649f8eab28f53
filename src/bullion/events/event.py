"""An event of an account, and the kinds there are."""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import blake2b
from typing import Any

import msgspec

from bullion.allocation.book import first_book_id
from bullion.orders.order import Order
from bullion.orders.status import Status


class EventType(StrEnum):
    ORDER_CREATED = "order.created"
    ORDER_OPENED = "order.opened"
    ORDER_REJECTED = "order.rejected"
    ORDER_CLOSING = "order.closing"
    ORDER_CLOSED = "order.closed"
    ORDER_DELETED = "order.deleted"
    ALLOCATION_CHANGED = "allocation.changed"
    KEY_ROTATED = "key.rotated"
    KEY_REVOKED = "key.revoked"
    TRADING_HALTED = "trading.halted"
    TRADING_RESUMED = "trading.resumed"
    SYMBOL_FROZEN = "symbol.frozen"
    SYMBOL_RESUMED = "symbol.resumed"


OF_STATUS: Mapping[str, EventType] = {
    Status.OPEN: EventType.ORDER_OPENED,
    Status.REJECTED: EventType.ORDER_REJECTED,
    Status.CLOSING: EventType.ORDER_CLOSING,
    Status.CLOSED: EventType.ORDER_CLOSED,
    Status.DELETED: EventType.ORDER_DELETED,
}
"""The event of an order that enters a status."""


class AccountEvent(msgspec.Struct, frozen=True):
    book_id: int
    """The account and the environment."""
    number: int
    """Counts from 1 in each book, without gaps."""
    type: EventType
    at_us: int
    order: Order | None = None
    """The order as it was then."""
    detail: Mapping[str, Any] | None = None
    """For events that are not about an order."""

    @property
    def id(self) -> str:
        # With the time: after a restore from a backup, a number is given a second time to another event.
        named = f"{first_book_id(self.book_id)}/{self.number}/{self.at_us}".encode()
        return f"evt_{blake2b(named, digest_size=16).hexdigest()}"


class EventsGone(Exception):
    """The events after a number are not kept, or there never was an event with that number."""

    def __init__(self, oldest: int, newest: int) -> None:
        super().__init__(f"events {oldest} to {newest} are kept")
        self.oldest = oldest
        self.newest = newest


def as_it_was(order: Order, status: str) -> Order:
    """The order when it entered the status, from the order as it is now.

    Nothing else of an order changes: its price is fixed when it is recorded.
    """
    if status in (Status.CLOSED, Status.FILLED):
        return order
    deal_no = None if status in (Status.PENDING, Status.REJECTED) else order.deal_no
    return msgspec.structs.replace(
        order,
        status=str(status),
        deal_no=deal_no,
        close_price_paise=None,
        realized_pnl_paise=None,
        closed_at_us=None,
    )
