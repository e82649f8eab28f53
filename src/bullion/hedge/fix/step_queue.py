"""Work that runs step by step in one task, in the order in which it came."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

Step = Callable[[], Awaitable[None]]


class StepQueue:
    """An `asyncio.Queue` for one reader, at half the cost."""

    def __init__(self) -> None:
        self._steps: deque[Step] = deque()
        self._woken: asyncio.Future[None] | None = None

    def put(self, step: Step) -> None:
        self._steps.append(step)
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def run(self) -> None:
        """Until cancelled, or until a step raises something."""
        loop = asyncio.get_running_loop()
        while True:
            while self._steps:
                await self._steps.popleft()()
            self._woken = loop.create_future()
            await self._woken
