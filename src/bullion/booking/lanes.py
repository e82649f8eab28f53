"""How many batches may be under way at once, and when another one sets off."""

import asyncio
from collections.abc import Callable

SLOW_S = 0.05


class Lanes:
    """Beside a batch that is under way only a full one sets off, or any if that one is slow.

    A batch costs the store much the same whatever its size: two half ones are dearer than one.
    """

    def __init__(self, number: int, depart: Callable[[], None]) -> None:
        """`depart` is called when what was told to wait may go."""
        self._number = number
        self._depart = depart
        self._departed_s: list[float] = []
        """Of those under way, the newest last."""
        self._timer: asyncio.TimerHandle | None = None

    def free(self, *, full: bool) -> bool:
        """Whether a batch may set off now."""
        if not self._departed_s:
            return True
        if len(self._departed_s) >= self._number:
            return False
        if full:
            return True
        loop = asyncio.get_running_loop()
        wait_s = self._departed_s[-1] + SLOW_S - loop.time()
        if wait_s <= 0:
            return True
        if self._timer is None:
            self._timer = loop.call_later(wait_s, self._ring)
        return False

    def take(self) -> float:
        """A batch sets off; what is returned is to be given back."""
        departed_s = asyncio.get_running_loop().time()
        self._departed_s.append(departed_s)
        return departed_s

    def give_back(self, departed_s: float) -> None:
        self._departed_s.remove(departed_s)

    def _ring(self) -> None:
        self._timer = None
        self._depart()
