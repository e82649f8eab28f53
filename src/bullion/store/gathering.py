"""Questions that arrive while earlier ones are being answered are put to the store together."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import islice
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_TOGETHER_MAX = 64
_SLOW_S = 0.05


class Gathering(Generic[K, V]):
    """Nobody is answered from a question that was put before theirs: they see all that was written before."""

    def __init__(self, ask: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]], *, lanes: int) -> None:
        self._ask = ask
        self._lanes = self._lanes_free = lanes
        self._waiting: dict[K, list[asyncio.Future[V | None]]] = {}
        self._departing = False
        self._departed_s = 0.0
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
            if not self._departing and self._may_depart():
                self._departing = True
                loop.call_soon(self._depart)
        return await answer

    def _may_depart(self) -> bool:
        """Beside a question that is under way only the largest goes, or any if that one is slow.

        A question costs the store much the same whatever its size: two half ones are dearer than one.
        """
        if self._lanes_free == self._lanes:
            return True
        return self._lanes_free > 0 and (
            len(self._waiting) >= _TOGETHER_MAX
            or asyncio.get_running_loop().time() - self._departed_s > _SLOW_S
        )

    def _depart(self) -> None:
        self._departing = False
        while self._waiting and self._may_depart():
            batch = dict(islice(self._waiting.items(), _TOGETHER_MAX))
            for key in batch:
                del self._waiting[key]
            self._lanes_free -= 1
            self._departed_s = asyncio.get_running_loop().time()
            task = asyncio.get_running_loop().create_task(self._run(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, batch: "dict[K, list[asyncio.Future[V | None]]]") -> None:
        found: Mapping[K, V] = {}
        fault: Exception | None = None
        try:
            found = await self._ask(list(batch))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told to everyone who asked
            fault = error
        finally:
            self._lanes_free += 1
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
