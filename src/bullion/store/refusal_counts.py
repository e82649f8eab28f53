"""Counts of refusals in the last hour and day, kept in memory by the process that serves the desk.

Rows of traces never change until they are deleted, so each is counted once. A first read counts the newest
rows; every later read adds what was written since, and goes further back until a day is counted.
"""

import asyncio
from collections import Counter

from bullion.records.refusals import CountedRefusals, RefusalCount
from bullion.refusals.desk import ORDER_REFUSALS

from .engine import Transaction
from .trace_reader import decode_heads
from .trace_search import Window, windows

_BYTES_AT_ONCE = 4 * 1024 * 1024
_US_PER_MINUTE = 60_000_000
_HOUR_MINUTES, _DAY_MINUTES = 60, 24 * 60
"""Before the current one: the console links each count to the list that begins with that minute."""

Kind = tuple[str, str, str]
"""Broker, environment and code."""


class RefusalCounts:
    def __init__(self) -> None:
        self._by_minute: dict[int, Counter[Kind]] = {}
        self._first: int | None = None
        self._end = 0
        """The counted rows: from this ordinal up to but not including that one. None: not read yet."""
        self._since_us: int | None = None
        """The oldest decision in the oldest row that is counted."""
        self._complete = False
        self._lock = asyncio.Lock()

    async def read(self, transaction: Transaction, broker: str, now_us: int) -> CountedRefusals:
        this_minute = now_us // _US_PER_MINUTE
        async with self._lock:
            await self._update(transaction, this_minute)
        hour: Counter[tuple[str, str]] = Counter()
        day: Counter[tuple[str, str]] = Counter()
        for minute, counts in self._by_minute.items():
            for (tag, environment, code), number in counts.items():
                if tag == broker:
                    day[code, environment] += number
                    if minute >= this_minute - _HOUR_MINUTES:
                        hour[code, environment] += number
        found = [RefusalCount(*kind, hour[kind], number) for kind, number in day.most_common()]
        day_ago_us = (this_minute - _DAY_MINUTES) * _US_PER_MINUTE
        since_us = day_ago_us if self._complete else max(day_ago_us, self._since_us or now_us)
        return CountedRefusals(found, since_us, self._complete)

    async def _update(self, transaction: Transaction, this_minute: int) -> None:
        oldest = this_minute - _DAY_MINUTES
        self._by_minute = {minute: each for minute, each in self._by_minute.items() if minute >= oldest}
        # Each window is noted once it is counted: if the store fails in between, nothing is counted twice.
        if self._first is not None:
            newer = [each async for each in windows(transaction, self._end, None, 2**62)]
            for window in reversed(newer):
                await self._count(transaction, window, oldest)
                self._end = window.high
        if self._complete:
            return
        async for window in windows(transaction, 0, self._first, _BYTES_AT_ONCE):
            recent = await self._count(transaction, window, oldest)
            self._first, self._end = window.low, max(self._end, window.high)
            self._complete = not recent
            if not recent:
                return
        self._first = self._first or 0
        self._complete = await transaction.one("trace_row_before", self._first) is None

    async def _count(self, transaction: Transaction, window: Window, oldest: int) -> bool:
        """Count a window. Returns whether it has a decision, of any broker, of the last day."""
        recent = False
        for row in await transaction.all("trace_rows", window.low, window.high, "", ""):
            for head in decode_heads(row["traces"]):
                minute = head.at_us // _US_PER_MINUTE
                if minute >= oldest:
                    recent = True
                    self._since_us = min(self._since_us or head.at_us, head.at_us)
                    if head.outcome in ORDER_REFUSALS:
                        kind = (head.broker, head.environment, head.outcome)
                        self._by_minute.setdefault(minute, Counter())[kind] += 1
        return recent
