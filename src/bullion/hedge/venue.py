"""The port to a venue. `docs/venues.md` explains how to write an adapter.

An order is sent under its own id, and the venue executes an id at most once. If the outcome of an id is not
known, request its status. Send an id only if it is new, or if the venue answered that it does not know it.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

SIMULATED, BY_HAND = "simulated", "desk"
"""The venues, by their names in the settings."""


class HedgeRequest(msgspec.Struct, frozen=True):
    """A request to the venue to hedge one order."""

    order_id: str
    broker: str
    instrument: str
    trade_type: str
    """The client's side; the venue deals for the broker on the same side."""
    quantity_e4: int
    price_paise: int
    """The client's price, per quoted weight."""


class Confirmed(msgspec.Struct, frozen=True):
    execution_id: str


class Declined(msgspec.Struct, frozen=True):
    execution_id: str
    message: str


class Unconfirmed(msgspec.Struct, frozen=True):
    """The venue has the order, or may have it, and has not decided."""

    message: str


class Duplicate(msgspec.Struct, frozen=True):
    """The venue has received this id before. Request its status."""


class UnknownOrder(msgspec.Struct, frozen=True):
    """The venue has never received this id."""


FinalAnswer = Confirmed | Declined
SubmitAnswer = Confirmed | Declined | Unconfirmed | Duplicate
StatusAnswer = Confirmed | Declined | Unconfirmed | UnknownOrder


class ListedExecution(msgspec.Struct, frozen=True):
    """One deal that the venue made, in the venue's own list."""

    execution_id: str
    order_id: str
    """The id that the order was sent under. It may be unknown to Bullion."""
    instrument: str
    trade_type: str
    quantity_e4: int
    executed_at_us: int
    cursor: str
    """Its place in the list."""


class Tradeability(StrEnum):
    """Whether the venue trades an instrument now."""

    TRADABLE = "tradable"
    SUSPENDED = "suspended"
    UNKNOWN = "unknown"


class VenueUnreachable(Exception):
    """The outcome of the call is not known."""


def cancelled_by_adapter() -> bool:
    """After a CancelledError: whether the adapter raised it, and this task was not cancelled.

    An adapter may cancel its pending calls when its connection breaks. The node must not stop because of it.
    """
    task = asyncio.current_task()
    return task is not None and not task.cancelling()


class Venue(Protocol):
    """Every call may raise VenueUnreachable, and is cancelled if it takes too long."""

    async def submit(self, request: HedgeRequest) -> SubmitAnswer: ...

    async def order_status(self, request: HedgeRequest) -> StatusAnswer: ...

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        """Whether these instruments are traded. An instrument without an answer may be left out.

        Called about twice a second, which also shows whether the venue can be reached.
        """

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        """The broker's deals after that cursor, in the venue's order; an empty cursor is before the first.

        Every deal is listed, also for orders that are no longer pending. After a cursor was returned, no deal
        may appear at or before it, so that a reader that continues from the last cursor misses none.
        """
