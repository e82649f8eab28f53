"""The states of an order, and the table of transitions between them."""

from collections.abc import Mapping
from enum import StrEnum


class Status(StrEnum):
    FILLED = "filled"
    """The only state of a test order."""
    PENDING = "pending"
    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"
    REJECTED = "rejected"
    DELETED = "deleted"


class Event(StrEnum):
    """What can happen to an order after it was recorded."""

    CONFIRM = "confirm"
    REFUSE = "refuse"
    CLOSE = "close"
    COMPLETE = "complete"
    DELETE = "delete"


TRANSITIONS: Mapping[Event, Mapping[Status, Status]] = {
    Event.CONFIRM: {Status.PENDING: Status.OPEN},
    Event.REFUSE: {Status.PENDING: Status.REJECTED},
    Event.CLOSE: {Status.OPEN: Status.CLOSING},
    Event.COMPLETE: {Status.CLOSING: Status.CLOSED},
    Event.DELETE: dict.fromkeys((Status.PENDING, Status.OPEN, Status.CLOSING), Status.DELETED),
}

HOLDING = frozenset({Status.FILLED, Status.PENDING, Status.OPEN, Status.CLOSING})
"""In these an order counts toward the net position."""

FINAL = frozenset(status for status in Status if not any(status in froms for froms in TRANSITIONS.values()))
"""States that no transition leaves."""

DETAILS: Mapping[Status, str] = {
    Status.FILLED: "SIMULATED",
    Status.PENDING: "HEDGE_WAIT",
    Status.OPEN: "BOOKED",
    Status.CLOSING: "CLOSE_REQUESTED",
    Status.CLOSED: "SETTLED",
    Status.REJECTED: "HEDGE_REFUSED",
    Status.DELETED: "REMOVED",
}
"""The operator's own names, sent as `status_detail`."""
