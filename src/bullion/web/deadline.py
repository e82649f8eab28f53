"""A deadline that moves with every request and seldom needs a new timer."""

import asyncio
import math
from collections.abc import Callable

NEVER = math.inf


class Deadline:
    """The moment at which `on_missed` is called, unless it is moved before.

    A move to a later time, which is all that a busy connection does, does not touch the timer. The timer then
    fires too early, and is set again for the rest.
    """

    __slots__ = ("_loop", "_on_missed", "_timer", "_timer_due", "due")

    def __init__(self, loop: asyncio.AbstractEventLoop, on_missed: Callable[[], None]) -> None:
        self._loop = loop
        self._on_missed = on_missed
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = NEVER
        self.due = NEVER
        """In the time of the loop. `NEVER`: wait without limit."""

    def move(self, seconds: float) -> None:
        """Set it to this long from now."""
        self.due = self._loop.time() + seconds
        if self.due < self._timer_due:
            self.stop()
            self._start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def end(self) -> None:
        """Stop for good, and drop the reference to the owner: otherwise only the garbage collector would free
        them."""
        self.stop()
        self._timer_due = -math.inf
        self._on_missed = _nothing

    def _start(self) -> None:
        self._timer_due = self.due
        self._timer = self._loop.call_at(self.due, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._timer_due = NEVER
        if self._loop.time() >= self.due:
            self._on_missed()
        elif self.due != NEVER:
            self._start()


def _nothing() -> None:
    pass
