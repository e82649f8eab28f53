"""A stock that all accounts of a broker buy from: only what is recorded is missing for the others."""

import asyncio
from dataclasses import replace

import pytest

from bullion.store.engine import Engine
from bullion.store.records import RecordStore
from bullion.store.sqlite import SqliteEngine

from .dealing_node import DealingNode
from .fixtures import GOLD, asked, code, create_books, put, rows

pytestmark = pytest.mark.anyio

COIN = replace(GOLD, code="COIN", stock_kept=True)


async def test_an_order_that_is_sent_again_leaves_no_less_for_another_account(engine: Engine) -> None:
    """Both come in one batch. The first is already recorded, and takes nothing once more."""
    one, other = (book + 1 for book in await create_books(engine, 2))
    await put(engine, COIN)
    await RecordStore(engine).write("stock", lambda records: records.put_stock("main", COIN.code, 1_800_000))
    node = DealingNode(engine, locks_first=isinstance(engine, SqliteEngine))  # As production has it.
    await node.start()
    large, small = (asked("buy", e4, symbol_code=COIN.code) for e4 in (800_000, 500_000))
    assert await node.told(one, "k", large) == "booked"
    both = await asyncio.gather(node.place(one, "k", large), node.place(other, "new", small))
    assert [code(each) for each in both] == ["replayed", "booked"]
    (row,) = await rows(engine, "SELECT weight_e4 FROM stocks")
    assert row["weight_e4"] == 500_000
