"""What a booking queue has done, in plain numbers. They are copied into the metrics in the background."""

from bisect import bisect_left
from enum import StrEnum

BATCH_BOUNDS = (1, 2, 4, 8, 16, 32, 64)


class RetryReason(StrEnum):
    """Why a batch, or a part of it, was tried again."""

    CONFLICT = "conflict"
    """Another node changed a book after its orders were decided."""
    LOCKED = "locked"
    """Another node had locked a book."""
    CATALOGUE = "catalogue"
    """The catalogue changed after the orders were checked."""
    FAILED = "failed"
    """The batch failed, and its orders are recorded one by one or verified."""


class BookingCounts:
    def __init__(self) -> None:
        self.orders = 0
        self.decisions = 0
        """As many as there were orders, if none had to be decided again."""
        self.batches = [0] * (len(BATCH_BOUNDS) + 1)
        """How many batches there were, by the bounds of their size."""
        self.retries = dict.fromkeys(RetryReason, 0)

    def add_batch(self, orders: int) -> None:
        self.orders += orders
        self.batches[bisect_left(BATCH_BOUNDS, orders)] += 1
