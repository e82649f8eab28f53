"""What every engine promises: durable all-or-nothing writes, snapshots, faults in our words."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing

import pytest

from bullion.faults import AlreadyExists, ConstraintViolation, StoreFault
from bullion.store import schema
from bullion.store.engine import Engine, Transaction, one_row
from bullion.store.records import RecordStore
from bullion.store.sqlite import SqliteConnection, SqliteEngine

pytestmark = pytest.mark.anyio


async def value_of(engine: Engine, name: str) -> str | None:
    async def body(transaction: Transaction) -> str | None:
        row = await transaction.one("deployment_value", name)
        return None if row is None else str(row["value"])

    return await engine.read("value", body)


async def put(engine: Engine, name: str, value: str) -> None:
    async def body(transaction: Transaction) -> None:
        await transaction.run("keep_deployment_value", name, value)

    await engine.write("put", body)


async def test_what_is_written_is_read_by_every_node(engine: Engine, other_engine: Engine) -> None:
    await put(engine, "a", "1")
    assert await value_of(engine, "a") == "1"
    assert await value_of(other_engine, "a") == "1"


async def test_what_is_written_is_there_after_closing(make_engine: Callable[[], Engine]) -> None:
    first = make_engine()
    await first.open()
    await first.migrate()
    await put(first, "a", "1")
    await first.close()
    again = make_engine()
    await again.open()
    assert await value_of(again, "a") == "1"
    await again.close()


async def test_a_body_that_raises_leaves_nothing(engine: Engine) -> None:
    async def body(transaction: Transaction) -> None:
        await transaction.run("keep_deployment_value", "a", "1")
        raise LookupError

    with pytest.raises(LookupError):
        await engine.write("raises", body)
    assert await value_of(engine, "a") is None
    await put(engine, "a", "2")
    assert await value_of(engine, "a") == "2"


async def test_a_cancelled_body_is_done_whole_or_not_at_all_and_the_store_goes_on(engine: Engine) -> None:
    inside = threading.Event()

    async def body(transaction: Transaction) -> None:
        await transaction.run("keep_deployment_value", "a", "1")
        inside.set()
        if isinstance(engine, SqliteEngine):
            time.sleep(0.2)  # noqa: ASYNC251 - on the writer's own thread, which cannot be stopped half-way
        else:
            await asyncio.sleep(60)
        await transaction.run("keep_deployment_value", "b", "1")

    task = asyncio.create_task(engine.write("cancelled", body))
    await asyncio.to_thread(inside.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await value_of(engine, "a") == await value_of(engine, "b")
    await put(engine, "c", "2")
    assert await value_of(engine, "c") == "2"


@pytest.mark.parametrize("engine_name", ["sqlite"])
async def test_a_body_waits_for_nothing_but_its_queries(engine: Engine) -> None:
    """On SQLite it runs on the connection's thread, where there is no loop that could wake it."""

    async def body(transaction: Transaction) -> None:
        await transaction.run("keep_deployment_value", "a", "1")
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="awaited something other"):
        await engine.write("waits", body)
    assert await value_of(engine, "a") is None


async def test_many_writers_at_once_lose_nothing(engine: Engine, other_engine: Engine) -> None:
    async def move(transaction: Transaction) -> int:
        return int((await one_row(transaction, "move_version"))["version"])

    versions = await asyncio.gather(
        *(node.write("move", move) for _ in range(25) for node in (engine, other_engine))
    )
    assert sorted(versions) == list(range(1, 51))


async def test_a_read_sees_one_snapshot(engine: Engine, other_engine: Engine) -> None:
    async def body(transaction: Transaction) -> tuple[object, object]:
        before = await transaction.one("deployment_value", "a")
        if isinstance(engine, SqliteEngine):
            with closing(sqlite3.connect(engine._path, isolation_level=None)) as other:
                other.execute("INSERT INTO deployment VALUES ('a', '1')")
        else:
            await put(other_engine, "a", "1")
        after = await transaction.one("deployment_value", "a")
        return before, after

    assert await engine.read("snapshot", body) == (None, None)
    assert await value_of(engine, "a") == "1"


async def test_a_second_row_of_the_same_identity_is_already_there(engine: Engine) -> None:
    async def body(transaction: Transaction) -> None:
        await transaction.run("put_broker", "main", "Main", 0)
        await transaction.run("insert_host", "a.example", "main")
        await transaction.run("insert_host", "a.example", "main")

    with pytest.raises(AlreadyExists):
        await engine.write("twice", body)


async def test_a_row_that_breaks_a_rule_is_refused(engine: Engine) -> None:
    async def no_such_broker(transaction: Transaction) -> None:
        await transaction.run("insert_host", "a.example", "nobody")

    async def negative_stock(transaction: Transaction) -> None:
        await transaction.run("put_stock", "main", "GOLD", -1)

    for body in (no_such_broker, negative_stock):
        with pytest.raises(ConstraintViolation) as caught:
            await engine.write("rule", body)
        assert any("in the transaction rule" in note for note in caught.value.__notes__)


async def test_text_is_not_a_number(engine: Engine) -> None:
    async def body(transaction: Transaction) -> None:
        await transaction.run("put_broker", "main", "Main", "yesterday")

    with pytest.raises(StoreFault):
        await engine.write("type", body)


async def test_hostile_text_is_only_text(engine: Engine) -> None:
    hostile = "'; DROP TABLE deployment; -- $1 %s {} \\ \u20b9 \U0001f947"
    await put(engine, hostile, hostile)
    assert await value_of(engine, hostile) == hostile


async def test_the_largest_amounts_are_kept_exactly(engine: Engine) -> None:
    async def body(transaction: Transaction) -> int:
        await transaction.run("put_broker", "main", "Main", 2**63 - 1)
        return int((await one_row(transaction, "one_broker", "main"))["created_at_us"])

    assert await engine.write("large", body) == 2**63 - 1


async def test_migrating_again_takes_no_step(engine: Engine, other_engine: Engine) -> None:
    assert not await engine.missing_steps()
    assert await engine.migrate() == 0
    assert await other_engine.migrate() == 0


async def test_nodes_that_migrate_at_once_take_each_step_once(
    empty_store: Callable[[], Engine], engine_name: str
) -> None:
    nodes = [empty_store() for _ in range(5)]
    for node in nodes:
        await node.open()
    taken = await asyncio.gather(*(node.migrate() for node in nodes))
    assert sorted(taken) == [0, 0, 0, 0, len(schema.steps(engine_name))]
    for node in nodes:
        assert not await node.missing_steps()
        await node.close()


async def test_an_empty_store_is_not_current(empty_store: Callable[[], Engine]) -> None:
    engine = empty_store()
    await engine.open()
    assert await engine.missing_steps()
    await engine.close()


def test_a_store_of_another_version_is_refused_in_words() -> None:
    step = schema.steps("sqlite")[0]
    first = schema.TakenStep(step.number, step.checksum)
    with pytest.raises(schema.SchemaMismatch, match="works with schema level 9999 or later"):
        schema.missing_steps("sqlite", [first, schema.TakenStep(9999, "x")])
    with pytest.raises(schema.SchemaMismatch, match="is not the one"):
        schema.missing_steps("sqlite", [schema.TakenStep(step.number, "another checksum")])
    assert schema.missing_steps("sqlite", []) == list(schema.steps("sqlite"))


async def test_a_change_by_another_node_is_noticed(engine: Engine, other_engine: Engine) -> None:
    await engine.wait_for_change(0)
    waiting = asyncio.create_task(engine.wait_for_change(30))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    await RecordStore(other_engine).write("change", lambda records: records.now_us())
    await asyncio.wait_for(waiting, 5)


async def test_waiting_for_a_change_ends_by_itself(engine: Engine) -> None:
    await engine.wait_for_change(0)
    await asyncio.wait_for(engine.wait_for_change(0.1), 5)


@pytest.mark.parametrize("engine_name", ["sqlite"])
async def test_a_write_ahead_log_that_was_removed_is_noticed(engine: Engine) -> None:
    """What is written to it from then on would be gone with the process."""
    assert isinstance(engine, SqliteEngine)
    await put(engine, "a", "1")
    assert await value_of(engine, "a") == "1"
    engine._path.with_name(f"{engine._path.name}-wal").unlink()
    for attempt in (put(engine, "a", "2"), value_of(engine, "a")):
        with pytest.raises(StoreFault, match="removed or replaced"):
            await attempt


async def kept_busy(engine: SqliteEngine) -> tuple["asyncio.Task[bool]", threading.Event]:
    """A transaction that has begun, and ends when it is told to."""
    begun, go_on = threading.Event(), threading.Event()

    def long(_: SqliteConnection) -> bool:
        begun.set()
        return go_on.wait(10)

    writing = asyncio.create_task(engine.run_in_writer("long", long))
    await asyncio.to_thread(begun.wait, 10)
    return writing, go_on


@pytest.mark.parametrize("engine_name", ["sqlite"])
async def test_what_waits_for_the_writer_is_not_done_when_nobody_wants_it_any_more(engine: Engine) -> None:
    assert isinstance(engine, SqliteEngine)
    writing, go_on = await kept_busy(engine)
    waiting = asyncio.create_task(put(engine, "a", "1"))
    await asyncio.sleep(0.05)
    waiting.cancel()
    done, _ = await asyncio.wait([waiting], timeout=5)
    assert done
    assert not writing.done()
    go_on.set()
    assert await writing
    assert await value_of(engine, "a") is None


@pytest.mark.parametrize("engine_name", ["sqlite"])
async def test_a_file_that_was_removed_while_others_wrote_takes_nothing_more(engine: Engine) -> None:
    assert isinstance(engine, SqliteEngine)
    writing, go_on = await kept_busy(engine)
    waiting = asyncio.create_task(put(engine, "a", "1"))
    await asyncio.sleep(0.05)
    elsewhere = engine._path.rename(engine._path.with_suffix(".elsewhere"))
    go_on.set()
    assert await writing
    with pytest.raises(StoreFault, match="removed or replaced"):
        await waiting
    elsewhere.rename(engine._path)
    assert await value_of(engine, "a") is None
