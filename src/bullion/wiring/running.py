"""The duties of a node, kept up together."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def running(*duties: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Keep the node's duties going. One that fails ends the node: it would be blind or mute without it."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(duty) for duty in duties]
            yield
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as failed:
        if len(failed.exceptions) == 1:
            raise failed.exceptions[0] from None  # As it would be told without the duties beside it.
        raise
