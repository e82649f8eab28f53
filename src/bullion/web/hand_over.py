"""Whether a connection belongs to another worker, by its first request, and the hand-over of it.

The worker that owns an account has its book in memory, up to date. Another worker decides its orders as
well, but often twice: its own copy of the book may be old. So nothing depends on a hand-over, and whenever
one is not possible the connection stays where it is.
"""

import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol

_END_OF_HEAD = b"\r\n\r\n"
_KEY_ID = re.compile(rb"key_(?:test|live)\.[a-z0-9-]+\.([0-9a-f]{16})\.")

AccountOf = Callable[[str], int | None]
"""The account of the key with this id, if it is in memory."""


class Outcome(StrEnum):
    HANDED_OVER = "handed_over"
    OWNER_AWAY = "owner_away"
    """The owner is starting, leaving or hanging."""
    QUEUE_FULL = "queue_full"
    """The owner does not keep up, or its end of the queue is closed."""
    TOO_LARGE = "too_large"
    """So much of the body had arrived that it is quicker to serve it here."""
    RETURNED = "returned"
    """At the owner, its address has as many connections as it may have. It came back, and stays."""
    LOST = "lost"
    """The owner had no descriptor for it."""
    TOO_LATE = "too_late"
    """It waited so long for the owner that it was closed."""


class HandedOver(NamedTuple):
    """A connection that another worker accepted."""

    descriptor: int
    received: bytes
    """What was read from it and not yet answered."""
    sender: int
    """The place of the worker that sent it."""
    stays: bool
    """Whether it was sent back, and must not be sent again."""


class Place(Protocol):
    """This worker's place among the workers of this machine."""

    @property
    def alone(self) -> bool:
        """Whether there is no other place."""

    def owner(self, account_id: int) -> int | None:
        """The place of the worker that owns the account; None for this one."""

    def send(self, place: int, descriptor: int, received: bytes) -> Outcome: ...
    def send_back(self, handed_over: HandedOver) -> Outcome:
        """`OWNER_AWAY`: the sender is away, or this worker leaves."""

    def open(self, accept: Callable[[HandedOver], None], dropped: Callable[[Outcome], None]) -> None:
        """Say that this place is served, and give `accept` what is sent to it. No-op after `leave`.

        `dropped` is told of connections that came, and were closed unanswered.
        """

    def leave(self) -> None:
        """Send no more, and say that this place is not served."""

    def close(self) -> None:
        """Give `accept` what was sent before `leave`, unless another worker has this place now."""


class HandOver:
    def __init__(self, place: Place, account_of: AccountOf, outcomes: Counter[Outcome]) -> None:
        self._place = place
        self._account_of = account_of
        self._outcomes = outcomes

    def owner(self, head: bytes) -> int | None:
        """The place of another worker that should serve the request which begins with `head`.

        None if this one should, or if the head is not complete.
        """
        end = head.find(_END_OF_HEAD)
        if end < 0:
            return None
        # Only searched: if this is not the key, a worker that is not the owner serves the request.
        found = _KEY_ID.search(head, 0, end)
        if found is None:
            return None
        account_id = self._account_of(found[1].decode("ascii"))
        return None if account_id is None else self._place.owner(account_id)

    def send(self, place: int, descriptor: int, received: bytes) -> bool:
        """Whether the connection now belongs to that place. If not, it stays here."""
        outcome = self._place.send(place, descriptor, received)
        self._outcomes[outcome] += 1
        return outcome is Outcome.HANDED_OVER
