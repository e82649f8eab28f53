"""The port to a venue. `docs/venues.md` explains how to write an adapter.

An order is sent under its own id, and the venue executes an id at most once. If the outcome of an id is not
known, request its status. Send an id only if it is new, or if the venue answered that it does not know it.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from .contract import Contract


class VenueAbilities(msgspec.Struct, frozen=True):
    """What a venue can do. Code outside of the adapters asks this, and not which venue it is."""

    name: str
    by_hand: bool = False
    """The desk answers each order itself."""
    behaviour: bool = False
    """The desk sets how it behaves."""
    partial: bool = False
    """It may fill a part of an order."""
    covers: bool = False
    """Its deals are real: metal is bought or sold for them."""


class CoverTerms(msgspec.Struct, frozen=True):
    """What a cover deals."""

    contract: Contract
    """As it was when the cover was made."""
    quantity_e8: int
    """In the measure of the contract: exactly this is dealt."""
    reference_e6: int
    """The market's price when the cover was sent, in the currency of the contract."""


class HedgeRequest(msgspec.Struct, frozen=True):
    """A request to the venue to hedge one order, the rest of one, or a part of the hedge book."""

    order_id: str
    """The id to send it under: the order's own, or a child's id for the rest of a partly filled order."""
    broker: str
    instrument: str
    trade_type: str
    """The client's side; the venue deals for the broker on the same side."""
    quantity_e4: int
    price_paise: int
    """The client's price, per quoted weight."""
    metal: str
    fine_mg: int
    """The fine weight to deal, in milligrams. `quantity_e4` is the same weight gross, in the metal's unit."""
    contract: str = ""
    """The code of the contract to deal in; only for covers of the hedge book."""
    cover: CoverTerms | None = None
    """Only for covers of the hedge book."""


class Fill(msgspec.Struct, frozen=True):
    """One deal of the venue for an order. An order may have several."""

    execution_id: str
    """Unique at the venue, on its trading day."""
    quantity_e8: int
    """In the measure of the contract, such as ounces or lots."""
    price_e6: int
    """In the currency of the contract."""
    at_us: int


TOTAL = "total:"
"""How the execution id of a fill begins if the venue told a total with its average price."""


def given_again(execution_id: str, sent_id: str) -> str:
    """How we keep an execution whose id the venue had given before, to another order.

    Many venues, as FIX asks, promise ids that are unique within a trading day only.
    """
    return f"{execution_id}~{sent_id}"


def as_given(execution_id: str, sent_id: str) -> str:
    """The venue's own id of an execution that we keep."""
    return execution_id.removesuffix(given_again("", sent_id))


def is_total(fill: Fill) -> bool:
    return fill.execution_id.startswith(TOTAL)


class Confirmed(msgspec.Struct, frozen=True):
    """All of it was filled."""

    execution_id: str
    """Stays the same for ever. It need not be the id of a fill."""
    fills: tuple[Fill, ...] = ()


class PartiallyFilled(msgspec.Struct, frozen=True):
    """A part was filled. This is final: nothing more will be executed under this id."""

    execution_id: str
    fills: tuple[Fill, ...]
    fine_mg_left: int
    """The fine weight that was not filled: above 0, and below the weight of the request."""
    message: str
    below_step: bool = False
    """The rest is smaller than the smallest weight that the venue deals in."""


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


FinalAnswer = Confirmed | Declined | PartiallyFilled
SubmitAnswer = FinalAnswer | Unconfirmed | Duplicate
StatusAnswer = FinalAnswer | Unconfirmed | UnknownOrder


class OutcomeReport(msgspec.Struct, frozen=True):
    """A final answer that the venue sent by itself."""

    order_id: str
    """The id that the order was sent under."""
    answer: FinalAnswer


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


async def no_reports() -> AsyncIterator[OutcomeReport]:
    """For a venue that answers only when it is asked."""
    none: tuple[OutcomeReport, ...] = ()
    for each in none:
        yield each


class Venue(Protocol):
    """Every call may raise VenueUnreachable, and is cancelled if it takes too long."""

    @property
    def abilities(self) -> VenueAbilities: ...

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

    def reports(self) -> AsyncIterator[OutcomeReport]:
        """Final answers that arrive while no call waits for them. It may end at once: then there are none.

        A report may be lost or come twice: `order_status` and `executions` must tell the same.
        """
