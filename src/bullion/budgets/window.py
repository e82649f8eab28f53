"""One exact sliding window: the times of the calls counted in it, oldest first."""

from collections import deque

NS_PER_S = 1_000_000_000


class Window:
    """A call counted at `t` leaves at `t + window`; until then it takes up one place."""

    __slots__ = ("_stamps_ns", "_window_ns")

    def __init__(self, window_s: int) -> None:
        self._window_ns = window_s * NS_PER_S
        self._stamps_ns: deque[int] = deque()

    def forget(self, now_ns: int) -> int:
        """Drop the calls that have left the window; return how many are counted."""
        stamps = self._stamps_ns
        left_ns = now_ns - self._window_ns
        while stamps and stamps[0] <= left_ns:
            stamps.popleft()
        return len(stamps)

    def count(self, now_ns: int) -> None:
        self._stamps_ns.append(now_ns)

    def reset_s(self, now_ns: int) -> int:
        """Whole seconds, rounded up, until the oldest counted call leaves; 0 when none is counted."""
        return self._seconds_until_left(0, now_ns) if self._stamps_ns else 0

    def retry_after_s(self, limit: int, now_ns: int) -> int:
        """Whole seconds, at least 1, after which one more call fits if no other comes before it.

        If the limit was lowered below the current count, more than one call has to leave. A limit of 0 never
        has room; the result is then the whole window.
        """
        counted = len(self._stamps_ns)
        if limit <= 0 or not counted:
            return self._window_ns // NS_PER_S
        return max(1, self._seconds_until_left(counted - limit, now_ns))

    def _seconds_until_left(self, index: int, now_ns: int) -> int:
        return -((now_ns - self._stamps_ns[index] - self._window_ns) // NS_PER_S)
