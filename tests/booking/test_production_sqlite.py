"""Production's bookings on SQLite when the file fails: before the commit, at it, and while it is locked."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bullion.booking import queue as queue_module
from bullion.store.engine import Transaction
from bullion.store.sqlite import SqliteConnection, SqliteEngine
from tests.model import invariants
from tests.support.migrated_store import copy_migrated

from .dealing_node import DealingNode, orders_of
from .fixtures import asked, create_books

pytestmark = pytest.mark.anyio


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[SqliteEngine]:
    copy_migrated(tmp_path / "bullion.db")
    engine = SqliteEngine(tmp_path / "bullion.db")
    await engine.open()
    yield engine
    await engine.close()


@pytest.fixture
async def book(engine: SqliteEngine) -> int:
    return (await create_books(engine, 1))[0] + 1


@pytest.fixture
async def node(engine: SqliteEngine, book: int) -> DealingNode:
    node = DealingNode(engine, locks_first=True)  # As production on SQLite has it.
    await node.start()
    return node


async def run_in_writer(engine: SqliteEngine, statement: str) -> Any:
    """On the writer's own connection and thread."""

    def work() -> Any:
        row = engine._writer._connection.execute(statement).fetchone()
        return row[0] if row else None

    return await engine._writer.call(work)


def error(name: str) -> sqlite3.OperationalError:
    """As the driver raises it."""
    made = sqlite3.OperationalError("as the test wants it")
    made.sqlite_errorname = name
    return made


async def booked_after(node: DealingNode, engine: SqliteEngine, book: int, key: str) -> None:
    assert await orders_of(engine, book, key) == []
    assert await node.told(book, key) == "booked"
    assert len(await orders_of(engine, book, key)) == 1
    await invariants.check(engine._path)


# --- Before the commit --------------------------------------------------------------------------------


async def test_a_file_that_is_read_only_is_unavailable(
    node: DealingNode, engine: SqliteEngine, book: int
) -> None:
    await run_in_writer(engine, "PRAGMA query_only = ON")
    assert await node.told(book, "k") == "StoreUnavailable"
    await run_in_writer(engine, "PRAGMA query_only = OFF")
    await booked_after(node, engine, book, "k")


async def test_a_store_that_is_full_before_the_commit_is_unavailable(
    node: DealingNode, engine: SqliteEngine, book: int
) -> None:
    """Whatever fits in is booked; the first that does not is not, and is told so."""
    pages = await run_in_writer(engine, "PRAGMA page_count")
    assert await run_in_writer(engine, f"PRAGMA max_page_count = {pages}") == pages
    for number in range(1000):
        told = await node.told(book, f"k{number}", asked(client_order_id="c" * 64))
        assert len(await orders_of(engine, book, f"k{number}")) == (told == "booked")
        if told != "booked":
            break
    assert told == "StoreUnavailable"
    await run_in_writer(engine, "PRAGMA max_page_count = 1000000")
    await booked_after(node, engine, book, f"k{number}")


@pytest.mark.parametrize("name", ["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_READONLY", "SQLITE_CANTOPEN"])
async def test_an_error_in_the_middle_of_the_booking_is_unavailable(
    node: DealingNode, engine: SqliteEngine, book: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = SqliteConnection.fetch_for

    def failing(self: SqliteConnection, query: str, rows: Any) -> Any:
        found = real(self, query, rows)
        if query == "insert_orders":
            raise error(name)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(SqliteConnection, "fetch_for", failing)
        assert await node.told(book, "k") == "StoreUnavailable"
    assert node.ledger.verified == 0
    await booked_after(node, engine, book, "k")


# --- At the commit ------------------------------------------------------------------------------------

Commit = Callable[[sqlite3.Connection], None]


@contextlib.contextmanager
def commits(monkeypatch: pytest.MonkeyPatch, *acts: Commit | None, rolls_back: bool = True) -> Iterator[None]:
    """What becomes of the next commits; None is one that is made."""
    left = list(acts)
    connect = sqlite3.connect

    class Failing(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if statement == "COMMIT" and left:
                act = left.pop(0)
                if act is not None:
                    act(self)
            if statement == "ROLLBACK" and not rolls_back:
                raise error("SQLITE_IOERR_WRITE")
            return super().execute(statement, *values)

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda *v, **o: connect(*v, factory=Failing, **o))
        yield


def not_made(connection: sqlite3.Connection) -> None:
    raise error("SQLITE_IOERR_FSYNC")


def made(connection: sqlite3.Connection) -> None:
    sqlite3.Connection.execute(connection, "COMMIT")
    raise error("SQLITE_IOERR_FSYNC")


async def reopened(engine: SqliteEngine) -> None:
    """With a writer that fails as the test wants."""
    await engine._writer.call(engine._writer.disconnect)
    await engine._writer.call(engine._writer.connect, engine._path, read_only=False)


async def test_a_commit_that_failed_and_was_not_made_is_not_completed(
    node: DealingNode, engine: SqliteEngine, book: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with commits(monkeypatch, not_made):
        await reopened(engine)
        assert await node.told(book, "k") == "NotCompleted"
    assert node.ledger.verified == 1
    await booked_after(node, engine, book, "k")


async def test_a_commit_that_failed_and_was_made_is_the_answer(
    node: DealingNode, engine: SqliteEngine, book: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with commits(monkeypatch, made):
        await reopened(engine)
        assert await node.told(book, "k") == "booked"
    assert node.ledger.verified == 1
    assert len(await orders_of(engine, book, "k")) == 1


@pytest.mark.parametrize("first", [made, not_made])
async def test_a_commit_that_cannot_be_verified_is_unknown(
    node: DealingNode, engine: SqliteEngine, book: int, monkeypatch: pytest.MonkeyPatch, first: Commit
) -> None:
    """The disk is still full when the fence is put up, or the store when it is read."""
    with commits(monkeypatch, first, not_made):
        await reopened(engine)
        assert await node.told(book, "k") == "OutcomeUnknown"
    assert await node.told(book, "k") == ("replayed" if first is made else "booked")
    assert len(await orders_of(engine, book, "k")) == 1
    await invariants.check(engine._path)


async def test_a_commit_that_failed_is_verified_also_when_it_cannot_be_rolled_back(
    node: DealingNode, engine: SqliteEngine, book: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That error is not the one that counts: nothing is known of the commit."""
    with commits(monkeypatch, not_made, rolls_back=False):
        await reopened(engine)
        assert await node.told(book, "k") == "NotCompleted"
        assert await orders_of(engine, book, "k") == []
        # And the writer goes on, over another connection.
        assert await node.told(book, "k") == "booked"
    await invariants.check(engine._path)


# --- Locked by another process ------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [0, 1, 3])
async def test_a_file_that_another_process_holds_past_the_deadline_is_busy_and_nothing_is_booked_later(
    node: DealingNode, engine: SqliteEngine, book: int, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    """However many other writes of this node wait before it for the same lock."""
    monkeypatch.setattr(queue_module, "DEADLINE_S", 1.0)
    monkeypatch.setattr(queue_module, "_DEADLINE_CHECK_S", 0.01)
    await run_in_writer(engine, "PRAGMA busy_timeout = 700")
    watch = asyncio.create_task(node.queue.run())
    with contextlib.closing(sqlite3.connect(engine._path, isolation_level=None)) as prompt:
        prompt.execute("BEGIN IMMEDIATE")
        others = [asyncio.create_task(engine.write("other", _nothing)) for _ in range(ahead)]
        await asyncio.sleep(0)
        told = await asyncio.gather(*(node.told(book, key) for key in ("k", "k2")))
        assert list(told) == ["StoreBusy", "StoreBusy"]
        prompt.execute("ROLLBACK")
    watch.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await node.quiet()
    assert node.ledger.verified == 0
    for key in ("k", "k2"):
        await booked_after(node, engine, book, key)


async def _nothing(transaction: Transaction) -> None:
    return
