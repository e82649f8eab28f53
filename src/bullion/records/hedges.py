"""What the desk sees of the hedge: what is asked of the venue for each order, and what the venue did."""

from dataclasses import dataclass

from bullion.booking.breaks import UnmatchedExecution

from .orders import FoundOrder

WAITING = "waiting"
ANSWERED = "answered"
BROKEN = "broken"
"""The venue contradicted what had become of the order, and nobody has dealt with that yet."""


@dataclass(frozen=True, slots=True)
class Hedge:
    """What is asked of the venue for one order."""

    instrument: str
    venue: str
    """Who was asked: the desk itself, or a venue."""
    state: str
    tries: int
    """How often the venue was asked in vain."""
    words: str | None
    """What the venue said last."""
    due_at_us: int
    """From then on it is asked again."""
    outcome: str | None
    execution_id: str | None
    answered_at_us: int | None
    resolved_by: str | None
    resolution: str | None


@dataclass(frozen=True, slots=True)
class FoundHedge:
    hedge: Hedge
    found: FoundOrder


@dataclass(frozen=True, slots=True)
class FoundUnmatched:
    """An execution that no order of ours accounts for: a break of its own."""

    unmatched: UnmatchedExecution
    venue: str
    seen_at_us: int
    resolved_by: str | None
    resolution: str | None


@dataclass(frozen=True, slots=True)
class Execution:
    """The venue's final word on an order, in the venue's own book."""

    order_id: str
    instrument: str
    trade_type: str
    quantity_e4: int
    outcome: str
    execution_id: str
    at_us: int


@dataclass(frozen=True, slots=True)
class Exposure:
    """Of one metal, over all clients of a broker. Above zero: clients have bought more than sold."""

    net_e4: int = 0
    hedged_e4: int = 0
    """What the venue has covered of it, and in contradiction to us. Deals that were closed or deleted are
    taken out: whether their cover was sold again, nobody here knows."""
    waiting: int = 0
    """Orders that wait for the venue's word."""
    breaks: int = 0
