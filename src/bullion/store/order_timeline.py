"""Counts of all orders by time, kept in memory for the desk's lists over all accounts of a broker.

Neither engine counts a range of an index without reading it, and counts per book do not help a list over
100,000 books. So a process that serves such lists reads all orders once, in the order of their ids, which
begin with the time. For each span of orders it keeps how many there are of each kind. Then a total is a
subtraction, and a page at any offset begins in a known span.

The counts stay right because an order's id, account, environment, channel and symbol never change. There are
two exceptions. A reset takes orders out of the lists: it moves a number in the store, and all counts are made
again. A booking that is committed long after its time may be missed: so only orders older than
`_SETTLED_AFTER_US` are counted here and newer ones by each read, and every few minutes the sum is compared
with the books. Until the counts are complete, lists are read without them.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

import structlog

from bullion.faults import StoreFault
from bullion.orders.order_id import ids_since

from .engine import Engine, Transaction, one_row

FIRST_ID, AFTER_ALL_IDS = "", "g"

_SPAN = 512
"""How many orders one span has. A page or a time that begins within a span reads at most this many."""
_SPANS_AT_ONCE = 16
"""How many spans one transaction reads: few, since SQLite has one reader for the lists of clients as well."""
_SETTLED_AFTER_US = 60_000_000
"""Far longer than any booking takes until its commit: see `_COMMAND_TIMEOUT_S` of the engine."""
_EVERY_S = 1.0
_CHECK_EVERY_S = 600.0
_KINDS_KEPT = 100

_log = structlog.get_logger("store")

Kind = tuple[str, str, str, str]
"""Broker, environment, channel and symbol of an order."""
WantedKind = tuple[str, str | None, str | None, str | None]
"""The same as a filter; None matches everything."""


@dataclass(frozen=True, slots=True)
class IdRange:
    """A half-open range of ids: `high` is not included."""

    low: str
    high: str


@dataclass(slots=True)
class _Spans:
    """Consecutive spans from the first order on. Append-only."""

    resets: str
    counts: list[dict[Kind, int]] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    """For each span, the id at which the next one begins. Appended last: readers use its length."""
    sums: dict[WantedKind, list[int]] = field(default_factory=dict)
    """Prefix sums per kind: how many orders the first 0, 1, 2 … spans have."""
    complete: bool = False

    @property
    def through(self) -> str:
        return self.ends[-1] if self.ends else FIRST_ID

    def sums_of(self, wanted: WantedKind) -> Sequence[int]:
        found = self.sums.get(wanted)
        if found is None:
            if len(self.sums) >= _KINDS_KEPT:
                self.sums.clear()
            found = self.sums[wanted] = [0]
        for counts in self.counts[len(found) - 1 : len(self.ends)]:
            found.append(found[-1] + _matching(counts, wanted))
        return found


def _matching(counts: dict[Kind, int], wanted: WantedKind) -> int:
    return sum(
        orders
        for kind, orders in counts.items()
        if all(one is None or one == other for one, other in zip(wanted, kind, strict=True))
    )


class CountedList:
    """One list of the desk: counted spans, and an uncounted range before and after them."""

    def __init__(self, spans: _Spans, wanted: WantedKind, since_us: int) -> None:
        self._sums = spans.sums_of(wanted)
        self._ends = spans.ends
        self._number = number = len(self._sums) - 1
        first_id, whole_id, first = FIRST_ID, FIRST_ID, 0
        if since_us > 0:
            # Ids have milliseconds: the orders of the first millisecond may be before or after the time.
            first_id, whole_id = ids_since(since_us), ids_since(since_us + 999)
            first = bisect_left(self._ends, whole_id, 0, number) + 1
        self._first = min(first, number)
        self.counted = self._sums[number] - self._sums[self._first]
        """How many orders the whole spans have."""
        self.newer = IdRange(first_id, AFTER_ALL_IDS)
        self.older: IdRange | None = None
        if first <= number:
            self.newer = IdRange(self._ends[number - 1] if number else FIRST_ID, AFTER_ALL_IDS)
            self.older = IdRange(first_id, self._ends[first - 1]) if first else None

    def range_at(self, offset: int) -> tuple[IdRange, int]:
        """The span of the order with `offset` counted orders before it, and its offset in that span."""
        left = self._sums[self._number] - offset
        span = bisect_left(self._sums, left, self._first, self._number + 1) - 1
        low = self._ends[span - 1] if span else FIRST_ID
        return IdRange(low, self._ends[span]), self._sums[span + 1] - left


class OrderTimeline:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._spans: _Spans | None = None
        self._asked = False
        self._checked_at = 0.0

    @property
    def ready(self) -> bool:
        """Whether all orders that are old enough are counted."""
        return self._spans is not None and self._spans.complete

    async def counted(
        self, transaction: Transaction, wanted: WantedKind, since_us: int
    ) -> CountedList | None:
        """The list of a kind since a time. None: the counts are not available."""
        self._asked = True
        spans = self._spans
        if spans is None or not spans.complete or await _resets(transaction) != spans.resets:
            return None
        now_us = (await one_row(transaction, "catalogue_state"))["clock_us"]
        if ids_since(now_us) < spans.through:
            return None  # The clock was set back: new orders may get ids within counted spans.
        return CountedList(spans, wanted, since_us)

    async def run(self) -> None:
        """Update the counts in the background, until cancelled. Starts with the first list."""
        while True:
            await asyncio.sleep(_EVERY_S)
            if self._asked:
                self._asked = False
                try:
                    await self.update()
                except StoreFault as fault:
                    _log.warning("order_counts_failed", fault=repr(fault))

    async def update(self) -> None:
        """Count the orders that are old enough, and check the counts every few minutes."""
        while True:
            began_at = monotonic()
            if await self._engine.read("order_timeline", self._append_spans, custom_plans=True):
                break
            await asyncio.sleep(monotonic() - began_at)  # Use at most half of the time.
        if monotonic() - self._checked_at > _CHECK_EVERY_S:
            await self.check()

    async def check(self) -> None:
        self._checked_at = monotonic()
        if not await self._engine.read("order_timeline_check", self._is_consistent, custom_plans=True):
            _log.warning("order_counts_rebuilt")
            self._spans = None
            self._asked = True

    async def _append_spans(self, transaction: Transaction) -> bool:
        """Append some spans. Returns True if there are no more."""
        resets = await _resets(transaction)
        settled = ids_since((await one_row(transaction, "catalogue_state"))["clock_us"] - _SETTLED_AFTER_US)
        spans = self._spans
        if spans is None or spans.resets != resets or settled < spans.through:
            spans = self._spans = _Spans(resets)
        for _ in range(_SPANS_AT_ONCE):
            low = spans.through
            end = await transaction.one("timeline_span_end", low, settled, _SPAN)
            if end is None:
                spans.complete = True
                return True
            rows = await transaction.all("timeline_counts", low, end["id"])
            spans.counts.append(
                {
                    (row["broker"], row["environment"], row["source"], row["symbol_code"]): row["orders"]
                    for row in rows
                }
            )
            spans.ends.append(end["id"])
        return False

    async def _is_consistent(self, transaction: Transaction) -> bool:
        spans = self._spans
        if spans is None or await _resets(transaction) != spans.resets:
            return True  # It is rebuilt anyway.
        counted = sum(sum(counts.values()) for counts in spans.counts)
        row = await one_row(transaction, "timeline_check", spans.through)
        return bool(row["listed"] == counted + row["newer"])


async def _resets(transaction: Transaction) -> str:
    row = await transaction.one("deployment_value", "test_book_resets")
    return "" if row is None else str(row["value"])
