"""How many batches may run at once, and when another one may start."""

import asyncio
from collections.abc import Callable

SLOW_S = 0.05


class BatchSlots:
    """While a batch runs, another starts only if it is full, or if the running one is slow.

    A batch costs the store nearly the same whatever its size: two half batches cost more than a full one.
    """

    def __init__(self, number: int, start_batches: Callable[[], None]) -> None:
        """`start_batches` is called when a batch that had to wait may start."""
        self._number = number
        self._start_batches = start_batches
        self._started_s: list[float] = []
        """When each running batch was started, the newest last."""
        self._timer: asyncio.TimerHandle | None = None

    def free(self, *, full: bool) -> bool:
        """Whether a batch may start now."""
        if not self._started_s:
            return True
        if len(self._started_s) >= self._number:
            return False
        if full:
            return True
        loop = asyncio.get_running_loop()
        wait_s = self._started_s[-1] + SLOW_S - loop.time()
        if wait_s <= 0:
            return True
        if self._timer is None:
            self._timer = loop.call_later(wait_s, self._time_out)
        return False

    def take(self) -> float:
        """Take a slot for a batch that starts now. The result is for `release`."""
        started_s = asyncio.get_running_loop().time()
        self._started_s.append(started_s)
        return started_s

    def release(self, started_s: float) -> None:
        self._started_s.remove(started_s)

    def _time_out(self) -> None:
        self._timer = None
        self._start_batches()
