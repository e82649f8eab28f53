"""Runs the background tasks of a node together."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def running(*duties: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run the tasks while the context is open. If one fails, the node ends: it cannot work without it."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(duty) for duty in duties]
            yield
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as failed:
        if len(failed.exceptions) == 1:
            raise failed.exceptions[0] from None  # Without the group around it.
        raise
