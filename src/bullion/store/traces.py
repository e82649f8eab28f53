"""Stores decision traces: collected in memory, written many to a row; the oldest rows are deleted."""

import asyncio
from collections import deque
from functools import partial

import msgspec
import structlog

from bullion.faults import AlreadyExists, StoreFault
from bullion.last_success import note_start, note_success
from bullion.orders.trace import Trace

from . import prepared_queries
from .engine import Engine, Transaction
from .trace_reader import time_ms

_WRITE_EVERY_S = 0.5
_WAITING_MAX = 20_000
_ROW_MAX = 1_000
BYTES_KEPT = 64 * 1024 * 1024
ROWS_KEPT = 100_000

_log = structlog.get_logger("traces")
_encode = msgspec.json.Encoder().encode


class StoredTraces:
    def __init__(self, engine: Engine, *, bytes_kept: int = BYTES_KEPT, rows_kept: int = ROWS_KEPT) -> None:
        self._engine = engine
        self._bytes_kept = bytes_kept
        self._rows_kept = rows_kept
        self._waiting: deque[Trace] = deque()
        self._batch: list[Trace] = []
        """Being written. After a fault it is written again as it is: it may be stored already."""
        self._dropped = 0
        self._failing = False

    def add(self, trace: Trace) -> None:
        if len(self._waiting) >= _WAITING_MAX:
            self._dropped += 1
        else:
            self._waiting.append(trace)

    async def run(self) -> None:
        """Run for as long as the node does."""
        note_start("traces")
        while True:
            await asyncio.sleep(_WRITE_EVERY_S)
            await self.write()

    async def write(self) -> None:
        """Write the queued traces. A failed write is retried; traces beyond the queue's limit are dropped.

        Traces that arrive meanwhile wait for the next call: on a busy node, there are always some.
        """
        left = len(self._waiting)
        while left or self._batch:
            if not self._batch:
                self._batch = [self._waiting.popleft() for _ in range(min(_ROW_MAX, left))]
                left -= len(self._batch)
            put = partial(self._put, self._batch)
            try:
                await self._engine.write("traces", put, holding=prepared_queries.TRACE)
            except AlreadyExists:  # A node of an earlier version, which does not lock them, was first.
                continue
            except StoreFault as fault:
                if not self._failing:
                    count = len(self._batch) + len(self._waiting)
                    _log.warning("traces_delayed", count=count, fault=repr(fault))
                self._failing = True
                break
            self._batch = []
            self._failing = False
        if not self._failing:
            note_success("traces")
        if self._dropped:
            _log.warning("traces_dropped", count=self._dropped)
            self._dropped = 0

    async def _put(self, traces: list[Trace], transaction: Transaction) -> None:
        encoded = _encode(traces)
        ids = [trace.request_id for trace in traces]  # They begin with their times, all as long.
        first_ms, last_ms = time_ms(min(ids)), time_ms(max(ids))
        await transaction.run("lock_trace_batches")
        row = await transaction.one("insert_trace_batch", first_ms, last_ms, len(encoded), encoded.decode())
        if row is None:
            return
        await transaction.run(
            "delete_old_trace_batches",
            row["ordinal"] - self._rows_kept,
            row["bytes_through"] - self._bytes_kept,
        )
