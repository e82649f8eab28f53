"""A check: a function that calls the service and raises `CheckFailed` if a requirement is broken."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from bullion_conformance.context import Context


CheckFunction: TypeAlias = Callable[["Context"], object]


class Need(StrEnum):
    """What a check needs besides the service's address. The desk can issue both kinds of keys."""

    NOTHING = "nothing"
    KEY = "a test key"
    LIVE_KEY = "a live key"
    DESK = "the desk"
    PRODUCTION = "the desk, with production open and a simulated venue"


class Phase(IntEnum):
    """When a check runs, so that refused keys and used-up budgets do not disturb other checks."""

    BURNS_FIRST = 0
    """Uses up a budget of its own account on purpose; a later check waits until it is free again."""
    USUAL = 1
    REFUSED = 2
    """Sends keys that are refused, which count against this address."""
    BURNS = 3
    """Uses up a budget on purpose; only runs when asked for."""
    OVER_ALL = 4
    """Looks at every response of the run."""


@dataclass(frozen=True, slots=True)
class Check:
    id: str
    """The id of the requirement that it decides."""
    function: CheckFunction
    need: Need
    phase: Phase
    orders: int
    """The most orders that it sends. This and the next two are for the estimate of a run's duration."""
    refusals: int
    """The most calls that are answered 401."""
    waits_s: float
    """How long it waits."""


CHECKS: dict[str, Check] = {}


def check(
    *ids: str,
    need: Need = Need.KEY,
    phase: Phase | None = None,
    orders: int = 0,
    refusals: int = 0,
    waits_s: float = 0.0,
) -> Callable[[CheckFunction], CheckFunction]:
    """Register a function as the check of these requirements."""

    def register(function: CheckFunction) -> CheckFunction:
        when = phase if phase is not None else Phase.REFUSED if refusals else Phase.USUAL
        for number, id_ in enumerate(ids):
            if id_ in CHECKS:
                raise ValueError(f"two checks of {id_}")
            costs = (orders, refusals, waits_s) if number == 0 else (0, 0, 0.0)
            CHECKS[id_] = Check(id_, function, need, when, *costs)
        return function

    return register
