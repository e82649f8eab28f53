"""The list of the simulated venue's executions on PostgreSQL: there transactions commit in any order."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from bullion.hedge.venue import HedgeRequest
from bullion.store import venue_book
from bullion.store.postgres import PostgresEngine
from bullion.store.venue_book import StoredVenueBook
from tests.support.servers import Postgres

pytestmark = pytest.mark.anyio


@pytest.fixture
def url(postgres: Postgres, schema_template: str) -> str:
    return postgres.new_database(schema_template)


@pytest.fixture
async def book(url: str) -> AsyncIterator[StoredVenueBook]:
    engine = PostgresEngine(url)
    await engine.open()
    yield StoredVenueBook(engine)
    await engine.close()


@pytest.fixture
async def stranger(url: str, book: StoredVenueBook) -> "AsyncIterator[asyncpg.Connection[Any]]":
    """Another writer of the venue's book, whose transaction stays open for as long as the test wants."""
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


def request(order_id: str) -> HedgeRequest:
    return HedgeRequest(order_id, "main", "GOLD", "buy", 10_000, 7_000_000, "gold", 999)


async def listed(book: StoredVenueBook, after_no: int = 0) -> list[str]:
    return [each.order_id for each in await book.executions("main", after_no, 100)]


INSERT = """INSERT INTO venue_orders VALUES (
    'late', 'main', 'GOLD', 'buy', 1, 1, 1, 'confirmed', 'E', 1, nextval('venue_execution_numbers')
)"""


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
async def test_a_transaction_that_is_longer_under_way_is_not_passed(
    book: StoredVenueBook,
    stranger: "asyncpg.Connection[Any]",
    monkeypatch: pytest.MonkeyPatch,
    end: str,
) -> None:
    """It took its number first and commits last: a cursor behind it would miss it for ever."""
    monkeypatch.setattr(venue_book, "_WRITERS_S_MAX", 0.2)
    await book.take(request("before"), 5, 9, "confirmed")
    (before,) = await book.executions("main", 0, 100)
    await stranger.execute("BEGIN")
    await stranger.execute(INSERT)
    await book.take(request("after"), 5, 9, "confirmed")
    for _ in range(2):
        assert await listed(book, int(before.cursor)) == []
    await stranger.execute(end)
    expected = ["late", "after"] if end == "COMMIT" else ["after"]
    assert await listed(book, int(before.cursor)) == expected


async def test_a_transaction_that_ends_soon_is_waited_for(
    book: StoredVenueBook, stranger: "asyncpg.Connection[Any]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(venue_book, "_WRITERS_S_MAX", 30.0)
    await stranger.execute("BEGIN")
    await stranger.execute(INSERT)
    await book.take(request("after"), 5, 9, "confirmed")
    listing = asyncio.ensure_future(listed(book))
    done, _ = await asyncio.wait([listing], timeout=0.1)
    assert not done
    await stranger.execute("COMMIT")
    assert await listing == ["late", "after"]


async def test_whoever_only_reads_the_book_is_not_waited_for(
    book: StoredVenueBook, stranger: "asyncpg.Connection[Any]"
) -> None:
    await stranger.execute("BEGIN")
    await stranger.fetch("SELECT * FROM venue_orders FOR SHARE")
    await book.take(request("after"), 5, 9, "confirmed")
    assert await listed(book) == ["after"]
