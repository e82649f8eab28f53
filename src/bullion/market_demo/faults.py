"""What can go wrong at a venue and on the line to it, each by chance or at a given message."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from random import Random

import msgspec


class Fault(StrEnum):
    # The line: counted by messages that are written.
    LOST = "lost"
    """A report takes its number and is not written."""
    DOUBLED = "doubled"
    """The same bytes twice."""
    SWAPPED = "swapped"
    """A report is written after the next one."""
    HALF = "half"
    """Half of a report, then the line is cut."""
    CUT_BEFORE = "cut_before"
    CUT_AFTER = "cut_after"
    GARBLED = "garbled"
    """Its checksum is wrong."""
    # The application: counted by orders or questions.
    LATE = "late"
    TWICE = "twice"
    """The same report again, with a number of its own."""
    REORDERED = "reordered"
    """The last report is sent first."""
    UNREPORTED = "unreported"
    SWALLOWED = "swallowed"
    """The order is never seen by the engine."""
    LAG = "lag"
    """The engine takes the order later than questions are answered."""
    QUESTION_SWALLOWED = "question_swallowed"
    PARTIAL = "partial"
    """Partly filled, then cancelled."""
    SPLIT = "split"
    """Filled in several parts."""
    REFUSED = "refused"
    HUNG_UP = "hung_up"
    """A logon is answered by silence and a closed line."""
    RATE_LOGOUT = "rate_logout"
    TRADE_CANCELLED = "trade_cancelled"
    FOREIGN_ID = "foreign_id"
    NUMBERS_FORGOTTEN = "numbers_forgotten"
    """At a logon the venue has lost both numbers."""


class Faults:
    """Deterministic by its seed. Counts what happened."""

    def __init__(
        self,
        seed: int = 0,
        chances: Mapping[Fault, float] | None = None,
        at: Mapping[Fault, Sequence[int]] | None = None,
        note: Callable[[Fault], object] = lambda _: None,
    ) -> None:
        """`at`: at which of the occasions of a fault, counted from 1, it happens for certain.

        `note` is called with each fault that happens.
        """
        self.chances = dict(chances or {})
        self._at = {fault: frozenset(places) for fault, places in (at or {}).items()}
        self._chance = Random(seed)  # noqa: S311 - faults on purpose, no secret
        self._occasions: dict[Fault, int] = {}
        self.happened: dict[Fault, int] = {}
        self._note = note

    def happens(self, fault: Fault) -> bool:
        occasion = self._occasions[fault] = self._occasions.get(fault, 0) + 1
        chance = self.chances.get(fault, 0.0)
        found = occasion in self._at.get(fault, ()) or (chance > 0 and self._chance.random() < chance)
        if found:
            self.happened[fault] = self.happened.get(fault, 0) + 1
            self._note(fault)
        return found

    def between(self, low: int, high: int) -> int:
        return self._chance.randint(low, high)


class FaultPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """As it is given to the process, in JSON."""

    seed: int = 0
    chances: dict[Fault, float] = {}
    at: dict[Fault, tuple[int, ...]] = {}
