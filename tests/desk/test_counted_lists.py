"""A process that serves the desk, node or console, counts orders by time once a list was asked for."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from bullion.desk.actions import orders
from bullion.desk.desk import Desk
from bullion.records.page import Page
from bullion.records.token import Actor, Role
from bullion.settings import Settings
from bullion.store.records import RecordStore
from bullion.wiring.console import open_console
from bullion.wiring.node import open_node

pytestmark = pytest.mark.anyio

ACTOR = Actor("Asha (1)", Role.VIEWER, "main")
WAIT_S = 30.0


@asynccontextmanager
async def node(settings: Settings) -> AsyncIterator[Desk]:
    async with open_node(settings) as opened:
        yield opened.desk


@asynccontextmanager
async def console(settings: Settings) -> AsyncIterator[Desk]:
    async with open_node(settings):
        pass
    async with open_console(settings) as opened:
        yield opened.desk


@pytest.mark.parametrize("served", [node, console])
async def test_orders_are_counted_once_a_list_was_asked_for(
    served: Callable[[Settings], AbstractAsyncContextManager[Desk]], tmp_path: Path
) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/bullion.db")
    async with served(settings) as desk:
        assert isinstance(desk.store, RecordStore)
        timeline = desk.store._cache.timeline
        assert not timeline.ready
        for _ in range(2):
            assert await orders.list_orders(desk, ACTOR, {"source": "phone"}, Page(50, 0)) == ([], 0)
            async with asyncio.timeout(WAIT_S):
                while not timeline.ready:
                    await asyncio.sleep(0.05)
