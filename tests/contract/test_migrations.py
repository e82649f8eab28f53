"""A later version's schema step: taken once, and not at all when it fails."""

import asyncio

import pytest

from bullion.store import schema
from bullion.store.engine import Engine
from tests.booking.fixtures import rows

pytestmark = pytest.mark.anyio

ADDED = schema.Step(9998, "added", "CREATE TABLE added (\n    one BIGINT NOT NULL\n);\n")
FAILING = schema.Step(9999, "failing", "INSERT INTO added (one) VALUES (1);\nDROP TABLE missing;\n")


def release(monkeypatch: pytest.MonkeyPatch, *later: schema.Step) -> None:
    """From here on this process has a later version's steps."""
    released = schema.steps
    monkeypatch.setattr(schema, "steps", lambda engine: (*released(engine), *later))


async def numbers_taken(engine: Engine) -> list[object]:
    return [row["number"] for row in await rows(engine, "SELECT number FROM migrations ORDER BY number")]


async def test_nodes_that_start_at_once_take_a_new_step_once(
    engine: Engine, other_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await numbers_taken(engine)
    release(monkeypatch, ADDED)
    assert await engine.steps_missing() == await other_engine.steps_missing() == 1
    taken = await asyncio.gather(engine.migrate(), other_engine.migrate())
    assert sorted(taken) == [0, 1]
    assert await numbers_taken(other_engine) == [*before, ADDED.number]
    await rows(other_engine, "INSERT INTO added (one) VALUES (1)")


async def test_a_step_that_fails_takes_back_all_steps_of_its_run(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await numbers_taken(engine)
    with monkeypatch.context() as later:
        release(later, ADDED, FAILING)
        with pytest.raises(Exception, match="missing"):
            await engine.migrate()
        assert await engine.steps_missing() == 2
    assert await numbers_taken(engine) == before
    release(monkeypatch, ADDED)
    assert await engine.migrate() == 1
    assert len(await rows(engine, "SELECT one FROM added")) == 0
