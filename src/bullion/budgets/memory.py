"""Rate limits counted in the memory of one process."""

import time
from collections.abc import Callable, Sequence

from .limiter import Allowed, BudgetState, Charge, Exceeded, Throttled
from .window import NS_PER_S, Window

_SWEEP_EVERY_S = 30


class MemoryLimiter:
    """Exact for one node. Several nodes need a shared limiter."""

    def __init__(self, now_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._now_ns = now_ns
        self._windows: dict[tuple[str, int], Window] = {}
        self._sweep_at_ns = 0

    def throttled(self, failures: Charge) -> Throttled | None:
        window = self._windows.get((failures.subject, failures.window_s))
        if window is None:
            return None
        now_ns = self._now_ns()
        if window.forget(now_ns) < failures.limit:
            return None
        return Throttled(_full(failures, window, now_ns), window.retry_after_s(failures.limit, now_ns))

    async def take(
        self, failures: Charge, *, failed: bool, charges: Sequence[Charge] = ()
    ) -> Allowed | Throttled | Exceeded:
        throttled = self.throttled(failures)
        if throttled is not None:
            return throttled
        now_ns = self._now_ns()
        if now_ns >= self._sweep_at_ns:
            self._sweep(now_ns)
        windows: list[Window] = []
        tightest: tuple[Charge, Window] | None = None
        room = 0
        for charge in charges:
            window = self._window(charge)
            left = charge.limit - window.forget(now_ns)
            windows.append(window)
            if tightest is None or left < room:
                tightest, room = (charge, window), left
        if tightest is not None and room <= 0:
            return _exceeded(charges, windows, now_ns)
        if failed:
            self._window(failures).count(now_ns)
        for window in windows:
            window.count(now_ns)
        if tightest is None:
            return Allowed(None)
        charge, window = tightest
        return Allowed(BudgetState(charge.limit, room - 1, window.reset_s(now_ns)))

    def _window(self, charge: Charge) -> Window:
        # Not `setdefault`: that would make a new window on every call.
        name = (charge.subject, charge.window_s)
        window = self._windows.get(name)
        if window is None:
            window = self._windows[name] = Window(charge.window_s)
        return window

    def _sweep(self, now_ns: int) -> None:
        """Drop idle windows, or an attacker with many addresses would fill the memory."""
        self._sweep_at_ns = now_ns + _SWEEP_EVERY_S * NS_PER_S
        for name in [name for name, window in self._windows.items() if not window.forget(now_ns)]:
            del self._windows[name]


def _exceeded(charges: Sequence[Charge], windows: Sequence[Window], now_ns: int) -> Exceeded:
    """Of the budgets without calls left, the one that frees up last, so that a retry after it is accepted."""
    full = [
        Exceeded(_full(charge, window, now_ns), window.retry_after_s(charge.limit, now_ns))
        for charge, window in zip(charges, windows, strict=True)
        if window.forget(now_ns) >= charge.limit
    ]
    return max(full, key=lambda exceeded: exceeded.retry_after_s)


def _full(charge: Charge, window: Window, now_ns: int) -> BudgetState:
    return BudgetState(charge.limit, 0, max(1, window.reset_s(now_ns)))
