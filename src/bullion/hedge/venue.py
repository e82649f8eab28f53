"""The port to a venue. `docs/venues.md` says how another one is written.

An order goes to the venue under its own id, and the venue executes an id once at the most. Whoever does not
know what became of an id asks; only an id that the venue does not know is sent, again or for the first time.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

SIMULATED, BY_HAND = "simulated", "desk"
"""The venues there are, by the names that the settings use."""


class HedgeRequest(msgspec.Struct, frozen=True):
    """What is asked of the venue: to cover one order."""

    order_id: str
    broker: str
    instrument: str
    trade_type: str
    """The client's side; the venue deals for the broker on the same side."""
    quantity_e4: int
    price_paise: int
    """What the client was promised, per quoted weight."""


class Confirmed(msgspec.Struct, frozen=True):
    execution_id: str


class Declined(msgspec.Struct, frozen=True):
    execution_id: str
    words: str


class Unconfirmed(msgspec.Struct, frozen=True):
    """The venue has it, or may have it, and has not decided."""

    words: str


class Duplicate(msgspec.Struct, frozen=True):
    """The venue has had this id before. It says nothing about what became of it: ask."""


class NotKnown(msgspec.Struct, frozen=True):
    """The venue has never had this id."""


Final = Confirmed | Declined
Submitted = Confirmed | Declined | Unconfirmed | Duplicate
Asked = Confirmed | Declined | Unconfirmed | NotKnown


class ListedExecution(msgspec.Struct, frozen=True):
    """One deal that the venue made, in the venue's own list."""

    execution_id: str
    order_id: str
    """The id under which the venue took the order. It may be none of ours."""
    instrument: str
    trade_type: str
    quantity_e4: int
    executed_at_us: int
    cursor: str
    """Its place in the list."""


class Tradeability(StrEnum):
    """The venue's word on an instrument."""

    TRADABLE = "tradable"
    SUSPENDED = "suspended"
    UNKNOWN = "unknown"


class VenueUnreachable(Exception):
    """Nothing is known of what the call did."""


def cancelled_from_within() -> bool:
    """Of a call that ended in CancelledError: whether nobody asked for that.

    An adapter whose line breaks may well cancel what waits for an answer: that must not look as if we stop.
    """
    task = asyncio.current_task()
    return task is not None and not task.cancelling()


class Venue(Protocol):
    """Every call may raise VenueUnreachable, and may be cancelled when it takes too long."""

    async def submit(self, request: HedgeRequest) -> Submitted: ...

    async def ask(self, request: HedgeRequest) -> Asked: ...

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        """The venue's word on these instruments; one that it has none on may be left out.

        Asked about twice a second, and thereby whether the venue can be reached at all.
        """

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        """The broker's deals behind that cursor, in the venue's order; an empty cursor is before the first.

        Every deal is listed, also one of an id that nobody asks about any more. Once a cursor was handed out,
        no deal appears at or before it: whoever reads on from the last cursor misses none.
        """
