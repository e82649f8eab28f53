"""A node that is stopped does stop, whatever its duties are just being told."""

import asyncio
from unittest.mock import AsyncMock, patch

import pytest

from bullion.store.postgres import PostgresEngine


@pytest.mark.anyio
@pytest.mark.parametrize("turns", range(6))
async def test_who_is_told_of_a_change_and_cancelled_at_once_is_cancelled(turns: int) -> None:
    engine = PostgresEngine("postgresql://bullion@127.0.0.1/none")
    with patch.object(engine, "_listen", AsyncMock()):
        waiting = asyncio.create_task(engine.wait_for_change(20))
        for _ in range(5):
            await asyncio.sleep(0)
        engine._notify(None, 0, "", "")
        for _ in range(turns):
            await asyncio.sleep(0)
        cancelled = waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled() == cancelled
