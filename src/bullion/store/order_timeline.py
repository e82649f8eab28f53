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

The status of an order does change. So a list by status first looks for changes since the spans were counted:
the desk's own changes have an index by time, and orders that were pending when their span was counted are
looked up. Spans with such orders are counted again.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.orders.order_id import ids_since
from bullion.orders.status import Status

from .engine import Engine, Transaction, one_row

FIRST_ID, AFTER_ALL_IDS = "", "g"

_SPAN = 512
"""How many orders one span has. A page or a time that begins within a span reads at most this many."""
_SPANS_AT_ONCE = 16
"""How many spans one transaction reads: few, since SQLite has one reader for the lists of clients as well."""
_SETTLED_AFTER_US = 60_000_000
"""Far longer than any booking takes until its commit: see `_COMMAND_TIMEOUT_S` of the engine."""
_CHANGES_KEPT_US = 2 * _SETTLED_AFTER_US
"""A change may be committed so long after its time that the spans of another transaction do not have it."""
_RECOUNTED_MAX = 20
"""How many spans a list counts again itself. More are left to the background."""
_EVERY_S = 1.0
_CHECK_EVERY_S = 600.0
_KINDS_KEPT = 100

_log = structlog.get_logger("store")

Kind = tuple[str, str, str, str, str]
"""Broker, environment, channel, symbol and status of an order."""
WantedKind = tuple[str, str | None, str | None, str | None, str | None]
"""The same as a filter; None matches everything."""
Change = tuple[str, str]
"""The id of an order, and the status that the desk gave it."""


@dataclass(frozen=True, slots=True)
class IdRange:
    """A half-open range of ids: `high` is not included."""

    low: str
    high: str


@dataclass(slots=True)
class _Spans:
    """Consecutive spans from the first order on. Only appended to, and counted again one by one."""

    resets: str
    failovers: int
    """How often another server had taken over, which may lack orders and changes that were counted."""
    changes_from_us: int
    """Changes from this time on may be missing in the counts, except for those in `seen`."""
    seen: dict[Change, int] = field(default_factory=dict)
    """With the time of each."""
    counts: list[dict[Kind, int]] = field(default_factory=list)
    pending: dict[int, list[str]] = field(default_factory=dict)
    """By span, the ids of orders that were pending when it was counted."""
    ends: list[str] = field(default_factory=list)
    """For each span, the id at which the next one begins. Appended last: readers use its length."""
    kinds: dict[Kind, Kind] = field(default_factory=dict)
    """All kinds so far: spans share them."""
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
        if len(found) <= len(self.ends):
            kinds = {kind for kind in self.kinds if _matches(kind, wanted)}
            for counts in self.counts[len(found) - 1 : len(self.ends)]:
                found.append(found[-1] + sum(counts[kind] for kind in kinds & counts.keys()))
        return found

    async def count(self, transaction: Transaction, number: int, end: str) -> None:
        """Count the span of this number, which is the next one or is counted again."""
        ids = (self.ends[number - 1] if number else FIRST_ID, end)
        counts: dict[Kind, int] = {}
        pending: list[str] = []
        for row in await transaction.all("timeline_counts", *ids):
            kind = (row["broker"], row["environment"], row["source"], row["symbol_code"], row["status"])
            counts[self.kinds.setdefault(kind, kind)] = row["orders"]
        if any(status == Status.PENDING for *_, status in counts):
            pending = [row["id"] for row in await transaction.all("timeline_pending", *ids)]
        self.pending.pop(number, None)
        if pending:
            self.pending[number] = pending
        if number < len(self.counts):
            self.counts[number] = counts
            # New lists: others may be reading the old ones.
            self.sums = {
                wanted: sums if wanted[-1] is None else sums[: number + 1]
                for wanted, sums in self.sums.items()
            }
        else:
            self.counts.append(counts)
            self.ends.append(end)
            # Another transaction may have seen changes of these orders that this one did not.
            self.seen = {change: at_us for change, at_us in self.seen.items() if change[0] < ids[0]}

    async def recount(self, transaction: Transaction, now_us: int, limit: int) -> bool:
        """Count spans again whose orders have changed their status.

        False: the counts may differ from what this transaction sees. Either there are too many such spans, or
        the transaction began before another one that was here.
        """
        rows = await transaction.all("timeline_changes", self.changes_from_us)
        changes = {(row["id"], row["status"]): row["at_us"] for row in rows}
        if self.seen.keys() - changes.keys():
            return False
        changed = [order_id for order_id, _ in changes.keys() - self.seen.keys()]
        if self.pending:
            waiting = msgspec.json.encode([each for ids in self.pending.values() for each in ids]).decode()
            changed += [row["id"] for row in await transaction.all("timeline_resolved", waiting)]
        numbers = sorted({self._number(order_id) for order_id in changed if order_id < self.through})
        for number in numbers[:limit]:
            await self.count(transaction, number, self.ends[number])
        left = set(numbers[limit:])
        if not left:
            self.changes_from_us = max(self.changes_from_us, now_us - _CHANGES_KEPT_US)
        self.seen = {
            change: at_us
            for change, at_us in changes.items()
            if at_us >= self.changes_from_us and self._number(change[0]) not in left
        }
        return not left

    def _number(self, order_id: str) -> int:
        """The number of the span that an order is in."""
        return bisect_right(self.ends, order_id)


def _matches(kind: Kind, wanted: WantedKind) -> bool:
    return all(one is None or one == other for one, other in zip(wanted, kind, strict=True))


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
        self._one_at_a_time = asyncio.Lock()
        """For transactions that change the spans."""

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
        if spans is None or not spans.complete or self._is_outdated(spans, await _resets(transaction)):
            return None
        now_us = (await one_row(transaction, "catalogue_state"))["clock_us"]
        if ids_since(now_us) < spans.through:
            return None  # The clock was set back: new orders may get ids within counted spans.
        if wanted[-1] is not None:
            async with self._one_at_a_time:
                if not await spans.recount(transaction, now_us, _RECOUNTED_MAX):
                    return None
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
        """Append some spans. Returns True if there are no more, and the others are up to date."""
        async with self._one_at_a_time:
            resets = await _resets(transaction)
            now_us = (await one_row(transaction, "catalogue_state"))["clock_us"]
            settled = ids_since(now_us - _SETTLED_AFTER_US)
            spans = self._spans
            if spans is None or self._is_outdated(spans, resets) or settled < spans.through:
                spans = self._spans = _Spans(resets, self._engine.failovers, now_us - _CHANGES_KEPT_US)
            for _ in range(_SPANS_AT_ONCE):
                end = await transaction.one("timeline_span_end", spans.through, settled, _SPAN)
                if end is None:
                    spans.complete = True
                    return await spans.recount(transaction, now_us, _SPANS_AT_ONCE)
                await spans.count(transaction, len(spans.ends), end["id"])
            return False

    def _is_outdated(self, spans: _Spans, resets: str) -> bool:
        return spans.resets != resets or spans.failovers != self._engine.failovers

    async def _is_consistent(self, transaction: Transaction) -> bool:
        spans = self._spans
        if spans is None or self._is_outdated(spans, await _resets(transaction)):
            return True  # It is rebuilt anyway.
        counted = sum(sum(counts.values()) for counts in spans.counts)
        row = await one_row(transaction, "timeline_check", spans.through)
        return bool(row["listed"] == counted + row["newer"])


async def _resets(transaction: Transaction) -> str:
    row = await transaction.one("deployment_value", "test_book_resets")
    return "" if row is None else str(row["value"])
