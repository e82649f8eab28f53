"""Keeping within the budgets before they are used up, by what the service tells of them.

Each counted answer says how many calls its tightest budget has left, and in how many seconds the next place
becomes free. A pacer remembers that for reads and for orders, and holds a call back while there is no place
left. Threads and tasks share it; other programs with the same key do not, so a 429 is still possible.
"""

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["reads", "orders"]

_LOOK_AGAIN_S = 0.05
"""While others are on their way whose answers will tell how the budget stands."""
_COUNT = re.compile("[0-9]{1,9}")


@dataclass(slots=True)
class _Budget:
    left: int | None = None
    """None until an answer has told."""
    free_at: float | None = None
    """When the next place becomes free; None if somebody has taken that place already."""
    under_way: int = 0


class Pacer:
    """Says when a call may be sent. Each `ask` that is answered with 0 needs one `done`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._budgets: dict[Kind, _Budget] = {"reads": _Budget(), "orders": _Budget()}

    def ask(self, kind: Kind) -> float:
        """Take a place and return 0, or return how many seconds later to ask again."""
        with self._lock:
            budget = self._budgets[kind]
            if budget.left == 0:
                wait = self._wait(budget, self._clock())
                if wait > 0:
                    return wait
            elif budget.left is not None:
                budget.left -= 1
            budget.under_way += 1
            return 0.0

    def push(self, kind: Kind) -> None:
        """Take a place that is not there: for a call that cannot wait any longer."""
        with self._lock:
            self._budgets[kind].under_way += 1

    def done(self, kind: Kind, headers: Mapping[str, str] | None) -> None:
        """Give word of a call that has ended, with the headers of its answer if it had one."""
        with self._lock:
            budget = self._budgets[kind]
            budget.under_way -= 1
            left, reset = (_count(headers, name) for name in ("RateLimit-Remaining", "RateLimit-Reset"))
            if left is not None and reset is not None:
                # Those under way may not have been counted when this was written.
                budget.left = max(left - budget.under_way, 0)
                budget.free_at = self._clock() + reset

    @staticmethod
    def _wait(budget: _Budget, now: float) -> float:
        if budget.free_at is not None:
            if now < budget.free_at:
                return budget.free_at - now
            budget.free_at = None  # One place is free, and it is taken now. The answer will tell of the next.
            return 0.0
        return _LOOK_AGAIN_S if budget.under_way else 0.0


def _count(headers: Mapping[str, str] | None, name: str) -> int | None:
    text = "" if headers is None else headers.get(name, "")
    return int(text) if _COUNT.fullmatch(text) else None
