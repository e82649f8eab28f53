"""Many workers write decision traces to one PostgreSQL: each batch has an ordinal of its own from the start.

On PostgreSQL alone: an SQLite store has one writer.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bullion.orders.trace import Trace
from bullion.store.postgres import PostgresEngine
from bullion.store.trace_reader import newest_traces
from bullion.store.traces import StoredTraces
from tests.support.servers import Postgres

pytestmark = pytest.mark.anyio

WORKERS = 8
BATCHES = 30
ROWS_KEPT = 40
BYTES_KEPT = 6_000


def trace(worker: int, number: int) -> Trace:
    request_id = f"{1_800_000_000_000 + number:012x}{worker:04x}{number:016x}"
    return Trace(request_id, number, "main", 7, "test", "k", "filled")


@pytest.fixture
async def engines(postgres: Postgres) -> AsyncIterator[list[PostgresEngine]]:
    """One for each worker, on one store."""
    address = postgres.new_database()
    engines = [PostgresEngine(address, pool_size=2) for _ in range(WORKERS)]
    for engine in engines:
        await engine.open()
    await engines[0].migrate()
    yield engines
    for engine in engines:
        await engine.close()


async def write_all(workers: list[StoredTraces]) -> None:
    async def work(number: int, traces: StoredTraces) -> None:
        for batch in range(BATCHES):
            traces.add(trace(number, batch))
            await traces.write()

    await asyncio.gather(*(work(number, traces) for number, traces in enumerate(workers)))


async def test_workers_at_once_never_take_the_same_ordinal(
    postgres: Postgres, engines: list[PostgresEngine]
) -> None:
    log = postgres.folder / "log"
    logged_before = log.stat().st_size
    await write_all([StoredTraces(engine) for engine in engines])
    found = await engines[0].read(
        "traces", lambda transaction: newest_traces(transaction, "main", 7, None, WORKERS * BATCHES + 1)
    )
    assert {each.request_id for each in found} == {
        trace(worker, number).request_id for worker in range(WORKERS) for number in range(BATCHES)
    }
    assert len(found) == WORKERS * BATCHES
    logged = log.read_bytes()[logged_before:].decode()
    assert "ERROR" not in logged, logged[:500]


@pytest.mark.parametrize("bound", ["rows", "bytes"])
async def test_workers_at_once_forget_from_the_old_end(
    postgres: Postgres, engines: list[PostgresEngine], bound: str
) -> None:
    kept = {"rows": {"rows_kept": ROWS_KEPT}, "bytes": {"bytes_kept": BYTES_KEPT}}[bound]
    await write_all([StoredTraces(engine, **kept) for engine in engines])
    engines[0]._queries["kept"] = "SELECT ordinal, traces FROM trace_batches ORDER BY ordinal"
    rows = await engines[0].read("kept", lambda transaction: transaction.all("kept"))
    ordinals = [row["ordinal"] for row in rows]
    assert ordinals == list(range(ordinals[0], WORKERS * BATCHES + 1)), "the newest, and none between"
    if bound == "rows":
        assert len(rows) == ROWS_KEPT
    else:
        assert sum(len(row["traces"]) for row in rows[1:]) < BYTES_KEPT, "a row is forgotten as a whole"
