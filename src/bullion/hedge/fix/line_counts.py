"""What a line has done, in plain numbers. They are copied into the metrics in the background."""

from bisect import bisect_left
from collections import Counter

ANSWER_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0)


class MessageCounts:
    """Messages by their type."""

    def __init__(self) -> None:
        self.received: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()


class LineCounts:
    """Orders."""

    def __init__(self) -> None:
        self.answer_s = 0.0
        """All times together that the venue took to report an outcome."""
        self.answers = [0] * (len(ANSWER_BOUNDS_S) + 1)
        """How many there were, by the bounds of their time."""
        self.unknown = 0
        """Orders whose outcome was not known in time."""
        self._sent_at: dict[str, float] = {}

    def sent(self, client_order_id: str, now: float) -> None:
        self._sent_at[client_order_id] = now

    def forget(self, client_order_id: str) -> None:
        """The venue never got it."""
        self._sent_at.pop(client_order_id, None)

    def forget_all(self) -> None:
        """Another process had the line, and may have answered them."""
        self._sent_at.clear()

    def answered(self, client_order_id: str, now: float) -> None:
        """An outcome of an order. One that an earlier process sent is not measured."""
        sent_at = self._sent_at.pop(client_order_id, None)
        if sent_at is not None:
            self.answer_s += now - sent_at
            self.answers[bisect_left(ANSWER_BOUNDS_S, now - sent_at)] += 1
