"""A later version's schema steps: taken once, beside nodes that serve, and only by whom they do not harm."""

import asyncio

import pytest

from bullion.store import postgres_migration, schema
from bullion.store.engine import Engine, Transaction
from bullion.store.postgres import PostgresEngine
from tests.booking.fixtures import rows
from tests.support.held_lock import holding

from .conftest import MakeEngine

pytestmark = pytest.mark.anyio

LEVEL = schema.code_level("sqlite")
WINDOW = f"-- oldest level: {LEVEL}\n"
ADDED = schema.Step(9997, "added", "CREATE TABLE added (\n    one BIGINT NOT NULL\n);\n")
FAILING = schema.Step(9998, "failing", "INSERT INTO added (one) VALUES (1);\nDROP TABLE missing;\n")
EXPANDING = schema.Step(9997, "note", f"{WINDOW}ALTER TABLE deployment ADD COLUMN note TEXT;\n")
CONTRACTING = schema.Step(9998, "no_note", "ALTER TABLE deployment DROP COLUMN note;\n")
BACKFILLED = (
    f"{WINDOW}-- outside a transaction\n"
    "DROP INDEX{0} IF EXISTS deployment_notes;\n"
    "CREATE INDEX{0} deployment_notes ON deployment (note);\n"
    "-- Two rows at a time.\n"
    "UPDATE deployment SET note = 'x'\n"
    "WHERE name IN (SELECT name FROM deployment WHERE note IS NULL LIMIT 2);\n"
)
VALUES = 5


def release(monkeypatch: pytest.MonkeyPatch, *later: schema.Step) -> None:
    """From here on this process has a later version's steps."""
    released = schema.steps
    monkeypatch.setattr(schema, "steps", lambda engine: (*released(engine), *later))


def outside_transaction(engine_name: str) -> schema.Step:
    concurrently = " CONCURRENTLY" if engine_name == "postgres" else ""
    return schema.Step(9998, "filled", BACKFILLED.format(concurrently))


async def numbers_taken(engine: Engine) -> list[object]:
    return [row["number"] for row in await rows(engine, "SELECT number FROM migrations ORDER BY number")]


async def put_values(engine: Engine) -> None:
    async def body(transaction: Transaction) -> None:
        for number in range(VALUES):
            await transaction.run("put_deployment_value", f"value {number}", "x")

    await engine.write("values", body)


async def test_nodes_that_start_at_once_take_a_new_step_once(
    engine: Engine, other_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await numbers_taken(engine)
    release(monkeypatch, ADDED)
    assert len(await engine.missing_steps()) == len(await other_engine.missing_steps()) == 1
    taken = await asyncio.gather(engine.migrate(), other_engine.migrate())
    assert sorted(taken) == [0, 1]
    assert await numbers_taken(other_engine) == [*before, ADDED.number]
    await rows(other_engine, "INSERT INTO added (one) VALUES (1)")


async def test_a_step_that_fails_is_taken_back_and_those_before_it_stay(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step leaves a store that works, so it is a transaction of its own: its locks are held for less."""
    before = await numbers_taken(engine)
    with monkeypatch.context() as later:
        release(later, ADDED, FAILING)
        with pytest.raises(Exception, match="missing"):
            await engine.migrate()
        assert await engine.missing_steps() == [FAILING]
    release(monkeypatch, ADDED)
    assert await numbers_taken(engine) == [*before, ADDED.number]
    assert await engine.migrate() == 0
    assert len(await rows(engine, "SELECT one FROM added")) == 0


async def test_an_older_version_goes_on_inside_the_window_and_not_outside(
    engine: Engine, other_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        release(later, EXPANDING)
        assert await other_engine.migrate() == 1
    assert await engine.missing_steps() == []
    await put_values(engine)
    with monkeypatch.context() as later:
        release(later, EXPANDING, CONTRACTING)
        assert await other_engine.migrate() == 1
    with pytest.raises(schema.SchemaMismatch, match=f"level 9998 or later. This version .* level {LEVEL}"):
        await engine.missing_steps()
    with pytest.raises(schema.SchemaMismatch):
        await engine.migrate()


async def test_a_new_column_does_not_fail_queries_that_were_prepared_before(
    engine: Engine, other_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL refuses to run a prepared `SELECT *` after its table got a column."""

    async def read(transaction: Transaction) -> int:
        return len(await transaction.all("all_groups"))

    assert await engine.read("groups", read) == await engine.write("groups", read) == 0
    sql = f"{WINDOW}ALTER TABLE groups ADD COLUMN note TEXT;\n"
    release(monkeypatch, schema.Step(9997, "group_note", sql))
    await other_engine.migrate()
    assert await engine.read("groups", read) == await engine.write("groups", read) == 0


async def test_a_step_that_shuts_out_a_node_that_serves_is_refused(
    engine: Engine, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await engine.levels_in_use() == set()
    node = make_engine()
    await node.open()
    assert await node.register_node(exclusive=False)
    assert await engine.levels_in_use() == {LEVEL}
    release(monkeypatch, EXPANDING, CONTRACTING)
    before = await numbers_taken(engine)
    with pytest.raises(schema.StepRefused, match=rf"9998 \(no_note\) .* level {LEVEL} serves"):
        await engine.migrate()
    assert await numbers_taken(engine) == before
    assert await engine.migrate(force=True) == 2
    # Whoever has stopped is not counted.
    await node.close()
    assert await _nobody_serves(engine)


async def _nobody_serves(engine: Engine) -> bool:
    async with asyncio.timeout(5):
        while await engine.levels_in_use():
            await asyncio.sleep(0.02)
    return True


async def test_a_step_outside_a_transaction_changes_rows_until_none_is_left(
    engine: Engine, engine_name: str, other_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put_values(engine)
    release(monkeypatch, EXPANDING, outside_transaction(engine_name))
    assert sorted(await asyncio.gather(engine.migrate(), other_engine.migrate())) == [0, 2]
    noted = await rows(engine, "SELECT count(*) AS rows FROM deployment WHERE note = 'x'")
    assert noted[0]["rows"] == VALUES


async def test_a_new_store_is_made_with_such_a_step_in_one_transaction(
    empty_store: MakeEngine, engine_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(monkeypatch, EXPANDING, outside_transaction(engine_name))
    engine = empty_store()
    await engine.open()
    assert await engine.migrate() == len(schema.steps(engine_name))
    assert await engine.missing_steps() == []
    await engine.close()


@pytest.mark.parametrize("engine_name", ["postgres"], indirect=True)
async def test_a_step_does_not_wait_for_a_lock_and_is_tried_again(
    engine: Engine, other_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes after an ALTER that waits has to wait too."""
    assert isinstance(engine, PostgresEngine)
    release(monkeypatch, EXPANDING)
    with holding(engine._url, "LOCK TABLE deployment IN ACCESS SHARE MODE"):
        with monkeypatch.context() as impatient:
            impatient.setattr(postgres_migration, "TRY_LOCKS_S", 0.5)
            with pytest.raises(schema.StepRefused, match="did not get its locks"):
                await other_engine.migrate()
        assert await other_engine.missing_steps() == [EXPANDING]
        migrating = asyncio.create_task(other_engine.migrate())
        for _ in range(20):
            await put_values(engine)  # Behind a step that waits, this would fail after five seconds.
        assert not migrating.done()
    assert await migrating == 1


@pytest.mark.parametrize("engine_name", ["postgres"], indirect=True)
async def test_a_step_that_holds_its_locks_for_too_long_is_undone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = f"{EXPANDING.sql}-- locks at most: 1 s\nSELECT pg_sleep(30);\n"
    release(monkeypatch, schema.Step(9997, "slow", slow))
    with pytest.raises(schema.StepRefused, match=r"slow\) took longer than 1 s and was undone"):
        await engine.migrate()
    assert [step.name for step in await engine.missing_steps()] == ["slow"]


@pytest.mark.parametrize("engine_name", ["sqlite"], indirect=True)
async def test_an_sqlite_store_is_migrated_at_the_start_only_if_nobody_else_has_it_open(
    engine: Engine, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_engine()
    await other.open()
    monkeypatch.setattr("bullion.store.sqlite._BUSY_TIMEOUT_S", 0.2)
    release(monkeypatch, EXPANDING)
    with pytest.raises(schema.StepRefused, match="another process has the store open"):
        await engine.migrate(exclusive=True)
    await other.close()
    assert await engine.migrate(exclusive=True) == 1
    assert await engine.missing_steps() == []
    await put_values(engine)
