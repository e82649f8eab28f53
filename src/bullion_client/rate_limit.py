"""Keeps calls within the rate limits, by the RateLimit headers of earlier responses.

Each counted response says how many calls its tightest budget has left, and in how many seconds the next slot
becomes free. A pacer stores that for reads and for orders, and delays a call while there is no free slot.
Threads and tasks share it; other programs with the same key do not, so a 429 is still possible.
"""

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["reads", "orders"]

_LOOK_AGAIN_S = 0.05
"""How soon to ask again while other calls are in flight; their responses will tell the budget."""
_COUNT = re.compile("[0-9]{1,9}")


@dataclass(slots=True)
class _Budget:
    left: int | None = None
    """None until a response has told it."""
    free_at: float | None = None
    """When the next slot becomes free; None if another call has taken that slot."""
    in_flight: int = 0


class Pacer:
    """Says when a call may be sent. Each `ask` that returns 0 needs one `done`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._budgets: dict[Kind, _Budget] = {"reads": _Budget(), "orders": _Budget()}

    def ask(self, kind: Kind) -> float:
        """Take a slot and return 0, or return in how many seconds to ask again."""
        with self._lock:
            budget = self._budgets[kind]
            if budget.left == 0:
                wait = self._wait(budget, self._clock())
                if wait > 0:
                    return wait
            elif budget.left is not None:
                budget.left -= 1
            budget.in_flight += 1
            return 0.0

    def push(self, kind: Kind) -> None:
        """Take a slot that is not free: for a call that cannot wait any longer."""
        with self._lock:
            self._budgets[kind].in_flight += 1

    def done(self, kind: Kind, headers: Mapping[str, str] | None) -> None:
        """Record the end of a call, with the headers of its response if there was one."""
        with self._lock:
            budget = self._budgets[kind]
            budget.in_flight -= 1
            left, reset = (_count(headers, name) for name in ("RateLimit-Remaining", "RateLimit-Reset"))
            if left is not None and reset is not None:
                # Calls in flight may not have been counted when this was written.
                budget.left = max(left - budget.in_flight, 0)
                budget.free_at = self._clock() + reset

    @staticmethod
    def _wait(budget: _Budget, now: float) -> float:
        if budget.free_at is not None:
            if now < budget.free_at:
                return budget.free_at - now
            budget.free_at = None  # One slot is free, and it is taken now. The response tells the next.
            return 0.0
        return _LOOK_AGAIN_S if budget.in_flight else 0.0


def _count(headers: Mapping[str, str] | None, name: str) -> int | None:
    text = "" if headers is None else headers.get(name, "")
    return int(text) if _COUNT.fullmatch(text) else None
