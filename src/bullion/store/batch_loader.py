"""Loads rows in batches: keys that are asked for while a batch is loading go together into the next one."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import islice
from typing import Generic, TypeVar

from bullion.booking.batch_slots import BatchSlots
from bullion.request_ids import CURRENT, RequestIds

K = TypeVar("K")
V = TypeVar("V")

_Waiting = tuple[asyncio.Future[V | None], RequestIds]
"""Who waits for a row, and the call that this is for."""

_BATCH_MAX = 64


class BatchLoader(Generic[K, V]):
    """Each `get` waits for a batch that starts after it, so it sees everything committed before it."""

    def __init__(self, load: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]], *, slots: int) -> None:
        self._load = load
        self._slots = BatchSlots(slots, self._start_batches)
        self._waiting: dict[K, list[_Waiting[V]]] = {}
        self._scheduled = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self, key: K) -> V | None:
        """May raise StoreFault."""
        loop = asyncio.get_running_loop()
        # One future for each caller: a caller that is cancelled leaves those of the others alone.
        answer: asyncio.Future[V | None] = loop.create_future()
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting.append((answer, CURRENT.get()))
        else:
            self._waiting[key] = [(answer, CURRENT.get())]
        if not self._scheduled:
            # Not at once: other callers in this turn of the loop join the batch.
            self._scheduled = True
            loop.call_soon(self._start_batches)
        return await answer

    def _start_batches(self) -> None:
        self._scheduled = False
        while self._waiting and self._slots.free(full=len(self._waiting) >= _BATCH_MAX):
            batch = dict(islice(self._waiting.items(), _BATCH_MAX))
            for key in batch:
                del self._waiting[key]
            task = asyncio.get_running_loop().create_task(self._run(batch, self._slots.take()))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, batch: dict[K, list[_Waiting[V]]], slot: float) -> None:
        CURRENT.set(tuple([ids for waiting in batch.values() for _, ids in waiting]))
        found: Mapping[K, V] = {}
        fault: Exception | None = None
        try:
            found = await self._load(list(batch))
        except Exception as error:  # noqa: BLE001 - whatever it is, every caller gets it
            fault = error
        finally:
            self._slots.release(slot)
            self._start_batches()
        # Only now: while these callers continue, the store is busy with the next batch.
        for key, waiting in batch.items():
            for answer, _ in waiting:
                if answer.done():
                    continue  # The caller was cancelled.
                if fault is None:
                    answer.set_result(found.get(key))
                else:
                    answer.set_exception(fault)
                    answer.exception()  # Mark it as retrieved: the caller may be cancelled before.
