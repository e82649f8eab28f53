"""Somebody holds a book's row in PostgreSQL: nobody else waits for it, and the desk's word still holds."""

import asyncio
from contextlib import ExitStack
from dataclasses import replace

import msgspec
import pytest

from bullion.booking import queue as queue_module
from bullion.booking.attempt import Booked
from bullion.booking.booking_counts import RetryReason
from bullion.orders.verdict import Priced
from bullion.store.postgres import PostgresEngine
from bullion.store.postgres_pool import Connection
from tests.model import invariants
from tests.support.held_lock import holding

from .fixtures import SWITCHES, Node, create_books, put, store_of

pytestmark = pytest.mark.anyio

_HOLD = "SELECT 1 FROM books WHERE id = {} FOR UPDATE"


async def test_a_halt_that_comes_while_a_book_is_held_holds(postgres_engine: PostgresEngine) -> None:
    """The holder changes nothing, so nothing but the catalogue's version tells that time has passed."""
    (book,) = await create_books(postgres_engine, 1)
    node = await Node(postgres_engine).start()
    assert await node.told(book, "before") == "booked"
    with holding(postgres_engine._url, _HOLD.format(book)):
        answer = asyncio.create_task(node.told(book, "k"))
        await asyncio.wait([answer], timeout=0.3)
        assert not answer.done()
        await put(postgres_engine, replace(SWITCHES, halted=True))
    assert await answer == "trading_halted"
    tables = await invariants.check(store_of(postgres_engine), other_changes={})
    assert len(tables["orders"]) == 1


async def test_one_held_book_stalls_no_other(postgres_engine: PostgresEngine) -> None:
    books = await create_books(postgres_engine, 6)
    node = await Node(postgres_engine).start()
    with holding(postgres_engine._url, _HOLD.format(books[0])):
        held = asyncio.create_task(node.told(books[0], "held"))
        # In the same batch as the held one, and in those after it.
        for turn in range(5):
            told = await asyncio.gather(*(node.told(book, f"{turn}") for book in books[1:]))
            assert told == ["booked"] * 5
        assert not held.done()
    assert await held == "booked"
    await invariants.check(store_of(postgres_engine), other_changes={})


async def test_a_book_that_is_locked_for_a_moment_goes_with_the_next_batch(
    postgres_engine: PostgresEngine,
) -> None:
    first, second = await create_books(postgres_engine, 2)
    node = await Node(postgres_engine).start()
    with ExitStack() as lock:
        lock.enter_context(holding(postgres_engine._url, _HOLD.format(first)))

        async def release() -> None:
            lock.close()

        node.ledger.before += [_nothing, release]
        told = await asyncio.gather(node.told(first, "a"), node.told(second, "b"), node.told(first, "c"))
    assert list(told) == ["booked"] * 3
    assert node.queue.counts.retries[RetryReason.LOCKED] == 1
    assert node.ledger.locked == 0
    tables = await invariants.check(store_of(postgres_engine), other_changes={})
    assert [row["idempotency_key"] for row in tables["orders"] if row["book_id"] == first] == ["a", "c"]


async def _nothing() -> None:
    return


async def test_an_order_that_waited_for_its_book_is_booked_at_the_price_of_now(
    postgres_engine: PostgresEngine,
) -> None:
    """The price changes while the node waits for the lock, and not before."""
    (book,) = await create_books(postgres_engine, 1)
    node = await Node(postgres_engine).start()
    then = node.check(node.attempt(book, "of no order"))
    assert isinstance(then, Priced)
    live = [then]
    with holding(postgres_engine._url, _HOLD.format(book)):
        placing = asyncio.create_task(node.place(book, "a", verdict=lambda: live[0]))
        async with asyncio.timeout(5):
            while not node.ledger.locked:
                await asyncio.sleep(0.01)
        await asyncio.sleep(2 * queue_module._VERDICT_S)
        live[0] = msgspec.structs.replace(then, price_paise=then.price_paise + 100)
    booked = await placing
    assert isinstance(booked, Booked)
    assert booked.order.price_paise == then.price_paise + 100


async def test_an_order_that_waited_for_a_connection_is_booked_at_the_price_of_now(
    postgres_engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (book,) = await create_books(postgres_engine, 1)
    node = await Node(postgres_engine).start()
    assert await node.told(book, "before") == "booked"
    then = node.check(node.attempt(book, "of no order"))
    assert isinstance(then, Priced)
    live = [then]
    pool = postgres_engine._pool
    assert pool is not None
    acquire = pool.acquire

    async def wait_long() -> Connection:
        monkeypatch.undo()
        await asyncio.sleep(2 * queue_module._VERDICT_S)
        live[0] = msgspec.structs.replace(then, price_paise=then.price_paise + 100)
        return await acquire()

    monkeypatch.setattr(pool, "acquire", wait_long)
    booked = await node.place(book, "a", verdict=lambda: live[0])
    assert isinstance(booked, Booked)
    assert booked.order.price_paise == then.price_paise + 100
    await invariants.check(store_of(postgres_engine), other_changes={})
