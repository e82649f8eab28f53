"""Writes that wait for SQLite's one writer share its commit, and nothing else."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Self

import pytest

from bullion.faults import AlreadyExists, OutcomeUnknown, StoreBusy, StoreUnavailable
from bullion.store.engine import Transaction
from bullion.store.sqlite import SqliteConnection, SqliteEngine
from tests.booking.dealing_node import DealingNode, orders_of
from tests.booking.fixtures import create_books
from tests.model import invariants
from tests.support.migrated_store import copy_migrated

pytestmark = pytest.mark.anyio

Act = Callable[[sqlite3.Connection], None]


class Statements(list[str]):
    """Those of the writer so far, and what becomes of its next commits; None is one that is made.

    `failing`: statements that fail once.
    """

    commits: list[Act | None]
    failing: list[str]


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Statements:
    seen = Statements()
    seen.commits = []
    seen.failing = []
    connect = sqlite3.connect

    class Seen(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if threading.current_thread().name.startswith("bullion-writer"):
                seen.append(statement)
                act = seen.commits.pop(0) if statement == "COMMIT" and seen.commits else None
                if act is not None:
                    act(self)
                if statement in seen.failing:
                    seen.failing.remove(statement)
                    raise error("SQLITE_BUSY")
            return super().execute(statement, *values)

    monkeypatch.setattr(sqlite3, "connect", lambda *v, **o: connect(*v, factory=Seen, **o))
    return seen


@pytest.fixture
async def engine(tmp_path: Path, statements: Statements) -> AsyncIterator[SqliteEngine]:
    copy_migrated(tmp_path / "bullion.db")
    engine = SqliteEngine(tmp_path / "bullion.db")
    await engine.open()
    yield engine
    await engine.close()


class Held:
    """Keeps the writer's thread until it is let go."""

    def __init__(self, engine: SqliteEngine) -> None:
        self._engine = engine
        self._go_on = threading.Event()

    async def __aenter__(self) -> Self:
        self._waiting = self._engine._writer.submit(self._go_on.wait, 10)
        return self

    async def __aexit__(self, *_: object) -> None:
        # Until all that the tasks of a test submit is there.
        for _turn in range(20):
            await asyncio.sleep(0)
        self._go_on.set()
        await asyncio.wrap_future(self._waiting)


def error(name: str) -> sqlite3.OperationalError:
    made = sqlite3.OperationalError("as the test wants it")
    made.sqlite_errorname = name
    return made


def raises(name: str) -> Act:
    def act(_: sqlite3.Connection) -> None:
        raise error(name)

    return act


def made_and_lost(connection: sqlite3.Connection) -> None:
    sqlite3.Connection.execute(connection, "COMMIT")
    raise error("SQLITE_IOERR_FSYNC")


def writing(engine: SqliteEngine, name: str, after: Exception | None = None) -> "asyncio.Task[str]":
    """Writes a value, and then raises if told to."""

    async def body(transaction: Transaction) -> str:
        await transaction.run("insert_shared", name)
        if after is not None:
            raise after
        return name

    return asyncio.create_task(engine.write(name, body))


@pytest.fixture(autouse=True)
def own_query(engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """An insert that fails where there is one already."""
    insert = "INSERT INTO deployment (name, value) VALUES ('shared ' || $1, '')"
    monkeypatch.setitem(engine._queries, "insert_shared", insert)


async def written(engine: SqliteEngine) -> list[str]:
    def work(connection: SqliteConnection) -> list[str]:
        found = connection._connection.execute("SELECT name FROM deployment WHERE name LIKE 'shared %'")
        return sorted(row["name"].removeprefix("shared ") for row in found)

    return await engine.run_in_reader("written", work)


async def outcomes(*tasks: "asyncio.Task[str]") -> list[object]:
    found = await asyncio.gather(*tasks, return_exceptions=True)
    return [type(each) if isinstance(each, Exception) else each for each in found]


async def test_writes_that_wait_share_one_commit(engine: SqliteEngine, statements: Statements) -> None:
    async with Held(engine):
        tasks = [writing(engine, name) for name in "abc"]
        statements.clear()
    assert await outcomes(*tasks) == ["a", "b", "c"]
    assert statements.count("COMMIT") == statements.count("BEGIN IMMEDIATE") == 1
    assert await written(engine) == ["a", "b", "c"]


async def test_a_write_alone_has_no_savepoint(engine: SqliteEngine, statements: Statements) -> None:
    statements.clear()
    assert await writing(engine, "a") == "a"
    assert [each.split()[0] for each in statements] == ["BEGIN", "INSERT", "COMMIT"]


def put(engine: SqliteEngine, name: str, *, durable: bool = True) -> "asyncio.Task[Any]":
    """Writes a value patiently."""

    def work(connection: SqliteConnection) -> None:
        connection.fetch("insert_shared", (name,))

    return asyncio.create_task(engine.run_in_writer(name, work, patient=True, durable=durable))


async def test_patient_writes_of_one_turn_share_a_commit_without_a_wait(
    engine: SqliteEngine, statements: Statements
) -> None:
    statements.clear()
    await asyncio.gather(*(put(engine, name) for name in "abc"))
    assert statements.count("COMMIT") == 1
    async with Held(engine):
        # One that does not wait takes the patient ones with it.
        tasks = [put(engine, "d"), writing(engine, "e"), put(engine, "f")]
        statements.clear()
    await asyncio.gather(*tasks)
    assert statements.count("COMMIT") == 1
    assert await written(engine) == list("abcdef")


async def test_writes_that_need_not_be_durable_share_a_commit_that_does_not_wait_for_the_disk(
    engine: SqliteEngine, statements: Statements
) -> None:
    async with Held(engine):
        tasks = [writing(engine, "a"), put(engine, "b", durable=False), put(engine, "c", durable=False)]
        statements.clear()
    await asyncio.gather(*tasks)
    marks = [each for each in statements if each.startswith(("PRAGMA", "BEGIN", "COMMIT"))]
    shared = ["BEGIN IMMEDIATE", "COMMIT"]
    assert marks == ["PRAGMA synchronous=NORMAL", *shared, "PRAGMA synchronous=FULL", *shared]
    assert statements.count("SAVEPOINT job") == 2
    assert await written(engine) == list("abc")


async def test_a_new_connection_is_durable_again(engine: SqliteEngine, statements: Statements) -> None:
    await put(engine, "a", durable=False)
    await engine._writer.call(engine._writer.disconnect)
    statements.clear()
    await writing(engine, "b")
    assert "PRAGMA synchronous=FULL" in statements
    statements.clear()
    await put(engine, "c", durable=False)
    assert statements[0] == "PRAGMA synchronous=NORMAL"


async def test_nobody_is_answered_before_the_commit(engine: SqliteEngine, statements: Statements) -> None:
    tasks: list[asyncio.Task[str]] = []
    answered: list[int] = []
    statements.commits = [lambda _: answered.append(sum(task.done() for task in tasks))]
    async with Held(engine):
        tasks += [writing(engine, name) for name in "ab"]
    assert await outcomes(*tasks) == ["a", "b"]
    assert answered == [0]


@pytest.mark.parametrize("bad", [0, 1, 2])
async def test_one_that_fails_leaves_nothing_and_fails_no_other(
    engine: SqliteEngine, statements: Statements, bad: int
) -> None:
    async with Held(engine):
        tasks = [
            writing(engine, name, LookupError() if place == bad else None) for place, name in enumerate("abc")
        ]
        statements.clear()
    expected = [LookupError if place == bad else name for place, name in enumerate("abc")]
    assert await outcomes(*tasks) == expected
    assert statements.count("COMMIT") == 1
    assert await written(engine) == [each for each in expected if isinstance(each, str)]


async def test_a_row_that_is_there_already_fails_only_the_second(engine: SqliteEngine) -> None:
    async with Held(engine):
        tasks = [writing(engine, name) for name in "aab"]
    assert await outcomes(*tasks) == ["a", AlreadyExists, "b"]
    assert await written(engine) == ["a", "b"]


@pytest.mark.parametrize("name", ["SQLITE_FULL", "SQLITE_IOERR_WRITE"])
@pytest.mark.parametrize("rolled_back", [False, True])
async def test_an_error_of_the_disk_in_one_makes_the_others_run_again_alone(
    engine: SqliteEngine, statements: Statements, name: str, *, rolled_back: bool
) -> None:
    """Whether SQLite has ended the transaction by itself or not."""

    def work(connection: SqliteConnection) -> str:
        connection.fetch("insert_shared", ("b",))
        if rolled_back:
            connection.execute("ROLLBACK")
        raise error(name)

    async with Held(engine):
        first = writing(engine, "a")
        await asyncio.sleep(0)
        bad = asyncio.create_task(engine.run_in_writer("bad", work))
        await asyncio.sleep(0)
        tasks = [first, bad, writing(engine, "c")]
        statements.clear()
    assert await outcomes(*tasks) == ["a", StoreUnavailable, "c"]
    assert statements.count("COMMIT") == 2
    assert await written(engine) == ["a", "c"]


@pytest.mark.parametrize("statement", ["ROLLBACK TO job", "RELEASE job"])
async def test_if_one_that_failed_cannot_be_undone_the_others_run_again_alone(
    engine: SqliteEngine, statements: Statements, statement: str
) -> None:
    async with Held(engine):
        tasks = [writing(engine, "a", LookupError()), writing(engine, "b"), writing(engine, "c")]
        statements.clear()
        statements.failing = [statement]
    assert await outcomes(*tasks) == [LookupError, "b", "c"]
    assert statements.count("COMMIT") == 2
    assert await written(engine) == ["b", "c"]
    async with Held(engine):
        tasks = [writing(engine, name) for name in "de"]
        statements.clear()
    assert await outcomes(*tasks) == ["d", "e"]
    assert statements.count("COMMIT") == 1


async def test_after_a_commit_that_was_refused_each_runs_alone(
    engine: SqliteEngine, statements: Statements
) -> None:
    statements.commits = [raises("SQLITE_BUSY"), None, raises("SQLITE_BUSY")]
    async with Held(engine):
        tasks = [writing(engine, name) for name in "abc"]
    assert await outcomes(*tasks) == ["a", StoreBusy, "c"]
    assert await written(engine) == ["a", "c"]


@pytest.mark.parametrize(("act", "there"), [(raises("SQLITE_IOERR_FSYNC"), []), (made_and_lost, ["a", "c"])])
async def test_after_a_commit_that_may_have_been_made_nobody_runs_again(
    engine: SqliteEngine, statements: Statements, act: Act, there: list[str]
) -> None:
    statements.commits = [act]
    async with Held(engine):
        tasks = [writing(engine, "a"), writing(engine, "b", LookupError()), writing(engine, "c")]
    assert await outcomes(*tasks) == [OutcomeUnknown, LookupError, OutcomeUnknown]
    assert await written(engine) == there
    assert await writing(engine, "d") == "d"


async def test_if_the_file_is_locked_all_are_told_so(engine: SqliteEngine) -> None:
    await engine._writer.call(engine._writer.execute, "PRAGMA busy_timeout = 50")
    other = sqlite3.connect(engine._path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    async with Held(engine):
        tasks = [writing(engine, name) for name in "ab"]
    assert await outcomes(*tasks) == [StoreBusy, StoreBusy]
    other.execute("ROLLBACK")
    other.close()
    assert await written(engine) == []
    assert await writing(engine, "a") == "a"


async def test_what_comes_after_the_end_of_the_writer_fails(engine: SqliteEngine) -> None:
    closed = SqliteEngine(engine._path)
    await closed.open()
    await closed.close()
    tasks = [writing(closed, name) for name in "ab"]
    assert await asyncio.wait_for(outcomes(*tasks), 5) == [RuntimeError, RuntimeError]


async def test_one_that_nobody_wants_any_more_is_left_out(engine: SqliteEngine) -> None:
    async with Held(engine):
        tasks = [writing(engine, name) for name in "abc"]
        for _turn in range(5):
            await asyncio.sleep(0)
        tasks[1].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[1]
    assert await outcomes(tasks[0], tasks[2]) == ["a", "c"]
    assert await written(engine) == ["a", "c"]


@pytest.mark.parametrize(
    ("act", "told"), [(raises("SQLITE_IOERR_FSYNC"), "NotCompleted"), (made_and_lost, "booked")]
)
async def test_a_production_order_beside_another_write_is_verified_when_their_commit_is_lost(
    engine: SqliteEngine, statements: Statements, act: Act, told: str
) -> None:
    book = (await create_books(engine, 1))[0] + 1
    node = DealingNode(engine, locks_first=True)
    await node.start()
    statements.commits = [act]
    async with Held(engine):
        other, order = writing(engine, "a"), asyncio.create_task(node.told(book, "k"))
    assert await outcomes(other) == [OutcomeUnknown]
    assert await order == told
    assert node.ledger.verified == 1
    assert len(await orders_of(engine, book, "k")) == (told == "booked")
    assert await node.told(book, "k") == ("replayed" if told == "booked" else "booked")
    assert len(await orders_of(engine, book, "k")) == 1
    await invariants.check(engine._path)
