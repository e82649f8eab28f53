"""Questions that arrive while earlier ones are being answered are put to the store together."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import islice
from typing import Generic, TypeVar

from bullion.booking.batch_slots import BatchSlots

K = TypeVar("K")
V = TypeVar("V")

_TOGETHER_MAX = 64


class Gathering(Generic[K, V]):
    """Nobody is answered from a question that was put before theirs: they see all that was written before."""

    def __init__(self, ask: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]], *, lanes: int) -> None:
        self._ask = ask
        self._lanes = BatchSlots(lanes, self._depart)
        self._waiting: dict[K, list[asyncio.Future[V | None]]] = {}
        self._departing = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self, key: K) -> V | None:
        """May raise StoreFault."""
        loop = asyncio.get_running_loop()
        # One for each who asks: who stops waiting takes nobody else's answer away.
        answer: asyncio.Future[V | None] = loop.create_future()
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting.append(answer)
        else:
            self._waiting[key] = [answer]
        if not self._departing:
            # Not at once: whoever else asks in this turn of the loop goes along.
            self._departing = True
            loop.call_soon(self._depart)
        return await answer

    def _depart(self) -> None:
        self._departing = False
        while self._waiting and self._lanes.free(full=len(self._waiting) >= _TOGETHER_MAX):
            batch = dict(islice(self._waiting.items(), _TOGETHER_MAX))
            for key in batch:
                del self._waiting[key]
            task = asyncio.get_running_loop().create_task(self._run(batch, self._lanes.take()))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, batch: "dict[K, list[asyncio.Future[V | None]]]", lane: float) -> None:
        found: Mapping[K, V] = {}
        fault: Exception | None = None
        try:
            found = await self._ask(list(batch))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told to everyone who asked
            fault = error
        finally:
            self._lanes.release(lane)
            self._depart()
        # Only now: while these go on with their answers, the store is busy with the next.
        for key, waiting in batch.items():
            for answer in waiting:
                if answer.done():
                    continue  # Cancelled: whoever asked has left.
                if fault is None:
                    answer.set_result(found.get(key))
                else:
                    answer.set_exception(fault)
                    answer.exception()  # Taken note of, also when whoever asked leaves before hearing it.
