"""PostgreSQL's own faults, each with a real server, folded into our words."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from bullion.faults import OutcomeUnknown, StoreBusy, StoreConflict, StoreFault, StoreUnavailable
from bullion.store import postgres as postgres_module
from bullion.store.engine import Transaction, one_row
from bullion.store.postgres import PostgresEngine
from tests.support.cutting_proxy import Line, proxy
from tests.support.servers import Postgres

pytestmark = pytest.mark.anyio


@pytest.fixture
async def address(postgres: Postgres, schema_template: str) -> str:
    return postgres.new_database(schema_template)


@pytest.fixture
async def engine(address: str) -> AsyncIterator[PostgresEngine]:
    engine = PostgresEngine(address)
    await engine.open()
    yield engine
    await engine.close()


async def put(transaction: Transaction) -> None:
    await transaction.run("keep_deployment_value", "a", "1")


async def there(engine: PostgresEngine) -> bool:
    row = await engine.read("there", lambda transaction: transaction.one("deployment_value", "a"))
    return row is not None


@asynccontextmanager
async def through_a_line(address: str) -> AsyncIterator[tuple[PostgresEngine, Line]]:
    """An engine whose connection can be cut."""
    host = address.rpartition("@")[2].partition("/")[0]
    async with proxy(int(host.rpartition(":")[2])) as line:
        engine = PostgresEngine(address.replace(host, f"127.0.0.1:{line.port}"))
        await engine.open()
        yield engine, line
        await engine.close()


async def test_a_commit_whose_answer_is_lost_is_an_unknown_outcome(
    engine: PostgresEngine, address: str
) -> None:
    async with through_a_line(address) as (cut, line):
        line.cut_after = lambda data: b"COMMIT" in data
        with pytest.raises(OutcomeUnknown):
            await cut.write("cut", put)
    assert await there(engine)


async def test_a_commit_that_never_arrives_is_an_unknown_outcome_too(
    engine: PostgresEngine, address: str
) -> None:
    async with through_a_line(address) as (cut, line):
        line.cut_before = lambda data: b"COMMIT" in data
        with pytest.raises(OutcomeUnknown):
            await cut.write("cut", put)
    assert not await there(engine)


async def test_a_server_that_became_read_only_cannot_write_until_it_is_writable_again(
    postgres: Postgres,
) -> None:
    assert postgres.sql("SELECT 1")  # There can be one.
    server = Postgres().make()
    engine = PostgresEngine(server.new_database())

    async def becomes(state: str) -> None:
        server.sql(f"ALTER SYSTEM SET default_transaction_read_only = {state}")
        server.sql("SELECT pg_reload_conf()")
        async with asyncio.timeout(5):
            while await engine.can_write() != (state == "off"):
                await asyncio.sleep(0.05)

    try:
        await engine.open()
        await engine.migrate()
        await becomes("on")
        with pytest.raises(StoreUnavailable, match="read-only"):
            await engine.write("refused", put)
        assert not await there(engine)
        await becomes("off")
        await engine.write("accepted", put)
    finally:
        await engine.close()
        server.remove()


async def test_a_line_cut_before_the_commit_wrote_nothing(engine: PostgresEngine, address: str) -> None:
    async with through_a_line(address) as (cut, line):
        line.cut_before = lambda data: b"INSERT INTO deployment" in data
        with pytest.raises(StoreUnavailable):
            await cut.write("cut", put)
        assert not await there(engine)
        line.cut_before = lambda _data: False
        await cut.write("again", put)
    assert await there(engine)


async def test_a_lock_held_elsewhere_is_busy(
    engine: PostgresEngine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgres_module._SERVER_SETTINGS, "lock_timeout", "200ms")
    hurried = PostgresEngine(address)
    await hurried.open()
    holder = await asyncpg.connect(address)
    async with holder.transaction():
        await holder.execute("SELECT * FROM catalogue FOR UPDATE")
        started = time.monotonic()
        with pytest.raises(StoreBusy):
            await hurried.write("waits", lambda transaction: transaction.one("move_version"))
        assert time.monotonic() - started < 5
    assert await hurried.write("waits", lambda transaction: transaction.one("move_version")) is not None
    await holder.close()
    await hurried.close()


async def test_a_deadlock_is_tried_again(engine: PostgresEngine) -> None:
    """Two transactions lock two rows in opposite order; PostgreSQL ends one, and it succeeds later."""

    async def two_rows(transaction: Transaction) -> None:
        await transaction.run("keep_deployment_value", "a", "0")
        await transaction.run("keep_deployment_value", "b", "0")

    await engine.write("put", two_rows)
    engine._queries["grab"] = "UPDATE deployment SET value = value || '+' WHERE name = $1 RETURNING value"
    both = asyncio.Barrier(2)
    tries = 0

    async def crossed(first: str, second: str) -> None:
        met = False

        async def body(transaction: Transaction) -> None:
            nonlocal met, tries
            tries += 1
            await transaction.one("grab", first)
            if not met:
                met = True
                await both.wait()
            await transaction.one("grab", second)

        await engine.write("crossed", body)

    await asyncio.gather(crossed("a", "b"), crossed("b", "a"))
    values = await engine.read("look", lambda transaction: transaction.all("deployment_value", "a"))
    assert [row["value"] for row in values] == ["0++"]
    assert tries >= 3


async def test_a_conflict_that_does_not_end_is_told(engine: PostgresEngine) -> None:
    engine._queries["fail"] = "DO $$ BEGIN RAISE serialization_failure; END $$"
    tries = 0

    async def body(transaction: Transaction) -> None:
        nonlocal tries
        tries += 1
        await transaction.run("fail")

    with pytest.raises(StoreConflict):
        await engine.write("conflict", body)
    assert tries == 5


async def test_a_session_ended_by_the_server_is_replaced(
    engine: PostgresEngine, postgres: Postgres, address: str
) -> None:
    database = address.rpartition("/")[2]
    await engine.write("put", put)
    postgres.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
    for _ in range(20):
        try:
            assert await there(engine)
            return
        except StoreFault:
            await asyncio.sleep(0.05)
    raise AssertionError("the engine did not recover")


async def test_a_statement_that_takes_too_long_is_ended(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgres_module._SERVER_SETTINGS, "statement_timeout", "100ms")
    engine = PostgresEngine(address)
    await engine.open()
    engine._queries["sleep"] = "SELECT pg_sleep(30)"
    with pytest.raises(StoreUnavailable):
        await engine.read("sleep", lambda transaction: transaction.all("sleep"))
    await engine.close()


async def test_a_host_that_is_down_is_passed_over(engine: PostgresEngine, address: str) -> None:
    await engine.write("put", put)
    host = address.rpartition("@")[2].partition("/")[0]
    several = PostgresEngine(address.replace(host, f"127.0.0.1:1,{host}"))
    await several.open()
    assert await there(several)
    await several.close()


async def test_a_host_that_takes_no_writes_is_not_used(
    engine: PostgresEngine, postgres: Postgres, address: str
) -> None:
    database = address.rpartition("/")[2]
    postgres.sql(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    standby = PostgresEngine(address)
    with pytest.raises(StoreUnavailable):
        await standby.open()
    await standby.close()


async def test_no_server_at_all_is_told(postgres: Postgres) -> None:
    engine = PostgresEngine("postgresql://bullion@127.0.0.1:1/nothing")
    with pytest.raises(StoreUnavailable):
        await engine.open()
    await engine.close()


async def test_a_transaction_is_named_for_who_looks_at_the_server(engine: PostgresEngine) -> None:
    engine._queries["who"] = "SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    row = await engine.read("catalogue", lambda transaction: one_row(transaction, "who"))
    assert row["application_name"] == "bullion catalogue"


async def test_a_hundred_writers_share_eight_connections(
    engine: PostgresEngine, postgres: Postgres, address: str
) -> None:
    async def move(transaction: Transaction) -> int:
        return int((await one_row(transaction, "move_version"))["version"])

    versions = await asyncio.gather(*(engine.write("move", move) for _ in range(100)))
    assert sorted(versions) == list(range(1, 101))
    database = address.rpartition("/")[2]
    clients = f"datname = '{database}' AND backend_type = 'client backend'"  # Not an autovacuum worker.
    count = postgres.sql(f"SELECT count(*) FROM pg_stat_activity WHERE {clients}")
    assert int(count) <= postgres_module.POOL_SIZE


async def test_the_server_looks_whether_a_nodes_machine_is_still_there(engine: PostgresEngine) -> None:
    """As its own socket has it: a session over TCP tells what the system took over."""
    names = ("idle", "interval", "count")

    async def body(transaction: Transaction) -> list[str]:
        connection: asyncpg.Connection = transaction._connection  # type: ignore[attr-defined]
        return [str(await connection.fetchval(f"SHOW tcp_keepalives_{name}")) for name in names]

    assert await engine.read("keepalives", body) == ["5", "2", "3"]
