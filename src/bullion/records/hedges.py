"""Hedge requests, executions and exposure, for the desk."""

from dataclasses import dataclass

from bullion.booking.breaks import UnmatchedExecution
from bullion.booking.partial_fills import Rest
from bullion.hedge.venue import Fill

from .orders import AccountOrder

WAITING = "waiting"
ANSWERED = "answered"
BROKEN = "broken"
"""The venue's answer contradicts the state of the order, and the break is not resolved."""


@dataclass(frozen=True, slots=True)
class Cover:
    """What the desk noted about the cover of an order that it confirmed by hand. At least one of the two."""

    price_paise: int | None
    reference: str | None


@dataclass(frozen=True, slots=True)
class Hedge:
    """The hedge request of one order."""

    instrument: str
    venue: str
    """Who answers it: a venue, or the desk itself."""
    state: str
    tries: int
    """Failed attempts."""
    words: str | None
    """The venue's last message."""
    due_at_us: int
    """The time of the next attempt."""
    outcome: str | None
    execution_id: str | None
    answered_at_us: int | None
    resolved_by: str | None
    resolution: str | None
    rest: Rest | None = None
    """What the venue left unfilled."""
    partly_covered: bool = False
    """The rest is not sent: the desk decides."""
    fine_mg_taken: int = 0
    """The fine weight of the rest that was taken into the hedge book."""
    fineness_e4: int = 9_990
    """Of the order's symbol, in ten-thousandths."""


@dataclass(frozen=True, slots=True)
class OrderFill:
    """A fill of an order, with the id that was sent."""

    sent_id: str
    venue: str
    fill: Fill


@dataclass(frozen=True, slots=True)
class OrderHedge:
    hedge: Hedge
    account_order: AccountOrder


@dataclass(frozen=True, slots=True)
class UnmatchedBreak:
    """A break: an execution that no recorded order accounts for."""

    unmatched: UnmatchedExecution
    venue: str
    seen_at_us: int
    resolved_by: str | None
    resolution: str | None


@dataclass(frozen=True, slots=True)
class Execution:
    """The venue's final answer to an order, in the venue's own book."""

    order_id: str
    instrument: str
    trade_type: str
    quantity_e4: int
    outcome: str
    execution_id: str
    at_us: int


@dataclass(frozen=True, slots=True)
class Exposure:
    """One metal, over all clients of a broker. + = clients long."""

    net_e4: int = 0
    hedged_e4: int = 0
    """What the venue has executed, including breaks. Closed and deleted deals are left out: whether their
    hedge was unwound is not known here."""
    waiting: int = 0
    """Orders that wait for the venue's answer."""
    breaks: int = 0
