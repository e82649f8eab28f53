"""Connections to PostgreSQL that go silent are told apart from statements that take long, and ended soon."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from bullion.faults import OutcomeUnknown, StoreUnavailable
from bullion.store import postgres as postgres_module
from bullion.store.engine import Transaction
from bullion.store.postgres import PostgresEngine
from tests.support.servers import Postgres
from tests.support.tcp_proxy import TcpProxy, tcp_proxy

pytestmark = pytest.mark.anyio

SOON_S = 5.0
SLEEP = "SELECT pg_sleep(3)"
HOLD = "SELECT * FROM catalogue FOR UPDATE"


@pytest.fixture
def line(postgres: Postgres) -> Iterator[TcpProxy]:
    with tcp_proxy(postgres.port) as laid:
        yield laid


@pytest.fixture
async def address(postgres: Postgres, schema_template: str) -> str:
    return postgres.new_database(schema_template)


def behind(line: TcpProxy, address: str) -> str:
    return address.replace(address.rpartition(":")[2].partition("/")[0], str(line.port))


@pytest.fixture
async def engine(
    address: str, line: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PostgresEngine]:
    """Behind the line; queries of the tests have names of their own. The server ends no session by itself."""
    monkeypatch.setitem(postgres_module._SERVER_SETTINGS, "idle_in_transaction_session_timeout", "60s")
    engine = PostgresEngine(behind(line, address))
    await engine.open()
    engine._queries |= {"sleep": SLEEP, "hold": HOLD}
    yield engine
    await engine.close()


async def test_a_start_waits_for_a_server_that_does_not_answer_yet(
    address: str, line: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_module, "_CONNECT_TIMEOUT_S", 0.3)
    line.swallow_new()
    engine = PostgresEngine(behind(line, address))
    opening = asyncio.create_task(engine.open())
    await asyncio.sleep(0.8)
    line.pass_new()
    await opening
    await engine.close()


async def test_a_start_waits_for_a_server_that_is_starting(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = PostgresEngine(address)
    connect, answers = engine._hosts.connect, [asyncpg.CannotConnectNowError("the system is starting up")]

    async def starting_up(**options: Any) -> Any:
        if answers:
            raise answers.pop()
        return await connect(**options)

    monkeypatch.setattr(engine._hosts, "connect", starting_up)
    await engine.open()
    assert answers == []
    await engine.close()


async def test_a_start_waits_for_a_server_that_ends_connections_as_it_starts(
    address: str, line: TcpProxy
) -> None:
    """As the servers of a cluster do while another one becomes the primary."""
    line.cut()
    engine = PostgresEngine(behind(line, address))
    opening = asyncio.create_task(engine.open())
    await asyncio.sleep(0.5)
    line.restore()
    await opening
    await engine.close()


async def test_a_report_does_not_wait_for_a_standby_that_does_not_answer(
    address: str, line: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read at the primary instead."""
    monkeypatch.setattr(postgres_module, "_CONNECT_TIMEOUT_S", 0.3)
    monkeypatch.setattr(postgres_module, "_FIRST_CONNECT_S", 3600)
    line.swallow_new()
    engine = PostgresEngine(behind(line, address), standby=True)
    with pytest.raises(StoreUnavailable):
        async with asyncio.timeout(30):
            await engine.open()
    await engine.close()


async def test_a_start_gives_up_at_last_and_says_why(
    address: str, line: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_module, "_CONNECT_TIMEOUT_S", 0.3)
    monkeypatch.setattr(postgres_module, "_FIRST_CONNECT_S", 0.5)
    line.swallow_new()
    engine = PostgresEngine(behind(line, address))
    with pytest.raises(StoreUnavailable, match="PostgreSQL did not respond in time"):
        await engine.open()
    await engine.close()


async def put(transaction: Transaction) -> None:
    await transaction.run("keep_deployment_value", "a", "1")


async def fails_within(engine: PostgresEngine, body: Callable[[Transaction], object]) -> float:
    started = time.monotonic()
    with pytest.raises((OutcomeUnknown, StoreUnavailable)):
        await engine.write("silent", body)  # type: ignore[arg-type]
    return time.monotonic() - started


async def test_a_silent_connection_is_given_up_and_the_next_works(
    engine: PostgresEngine, line: TcpProxy
) -> None:
    line.silence()
    with capture_logs() as logs:
        assert await fails_within(engine, put) < SOON_S
    assert [each["event"] for each in logs] == ["connections_stalled"]
    await engine.write("again", put)


async def test_all_idle_connections_are_renewed_with_the_first_that_is_found(
    engine: PostgresEngine, line: TcpProxy
) -> None:
    await asyncio.gather(*(engine.write("many", put) for _ in range(8)))
    line.silence()
    await fails_within(engine, put)
    with capture_logs() as logs:
        await asyncio.gather(*(engine.write("many", put) for _ in range(8)))
    assert not logs, "none of them met a silent one"


@pytest.mark.parametrize("place", ["at work", "waiting for a lock"])
async def test_a_statement_that_takes_long_is_left_alone(
    engine: PostgresEngine, address: str, place: str
) -> None:
    holder = await asyncpg.connect(address)
    transaction = holder.transaction()
    await transaction.start()
    await holder.execute(HOLD)
    with capture_logs() as logs:
        if place == "at work":
            await engine.write("slow", lambda open_: open_.all("sleep"))
        else:
            waiting = asyncio.create_task(engine.write("waits", lambda open_: open_.one("move_version")))
            await asyncio.sleep(3)
            assert not waiting.done()
            await transaction.rollback()
            assert await waiting is not None
    assert not [each for each in logs if each["event"] == "connections_stalled"]
    await holder.close()


async def test_a_transaction_of_many_statements_is_left_alone(engine: PostgresEngine) -> None:
    async def body(transaction: Transaction) -> int:
        started, number = time.monotonic(), 0
        while time.monotonic() - started < 3:
            await put(transaction)
            number += 1
        return number

    with capture_logs() as logs:
        assert await engine.write("many", body) > 10
    assert not [each for each in logs if each["event"] == "connections_stalled"]


async def test_what_a_silent_transaction_holds_is_free_again(
    engine: PostgresEngine, line: TcpProxy, address: str
) -> None:
    """The server itself would end it later: it is idle in a transaction, and its machine answers."""

    async def body(transaction: Transaction) -> None:
        await transaction.all("hold")
        line.silence()
        await put(transaction)

    other = await asyncpg.connect(address)
    await fails_within(engine, body)
    await other.execute(HOLD, timeout=SOON_S)
    assert await other.fetchval("SELECT count(*) FROM deployment WHERE name = 'a'") == 0
    await other.close()


async def test_a_commit_into_silence_is_an_unknown_outcome(engine: PostgresEngine, line: TcpProxy) -> None:
    async def body(transaction: Transaction) -> None:
        await put(transaction)
        line.silence()

    started = time.monotonic()
    with pytest.raises(OutcomeUnknown):
        await engine.write("commit", body)
    assert time.monotonic() - started < SOON_S


async def test_a_session_of_another_server_is_not_taken_for_ours(
    engine: PostgresEngine, line: TcpProxy
) -> None:
    """After a failover a process of the same number may be at work for somebody else."""

    async def body(transaction: Transaction) -> None:
        connection = transaction._connection  # type: ignore[attr-defined]
        connection.session = (connection.session[0], "another time")
        line.silence()
        await put(transaction)

    assert await fails_within(engine, body) < SOON_S


async def test_the_system_looks_whether_the_server_is_still_there(engine: PostgresEngine) -> None:
    """On connections that nobody waits on, the listener's above all."""
    assert await engine.register_node(exclusive=False)
    shared = engine._listener._transport.get_extra_info("socket")  # type: ignore[union-attr]
    assert shared.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    assert shared.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 5


async def test_who_follows_the_store_goes_on_while_the_listener_cannot_be_had(
    engine: PostgresEngine, line: TcpProxy, postgres: Postgres
) -> None:
    """New connections are swallowed; those that there are work."""
    assert await engine.register_node(exclusive=False)
    line.swallow_new()
    listener = engine._listener
    assert listener is not None
    postgres.sql(f"SELECT pg_terminate_backend({listener.get_server_pid()})")
    while not listener.is_closed():
        await asyncio.sleep(0.01)
    for _ in range(3):
        started = time.monotonic()
        await asyncio.gather(engine.wait_for_change(0.1), engine.wait_for_change(0.1, "rates"))
        await engine.read("look", lambda transaction: transaction.all("catalogue_state"))
        assert time.monotonic() - started < 4.0
    line.pass_new()
    async with asyncio.timeout(SOON_S):
        while engine._listener is None or engine._listener.is_closed():
            await engine.wait_for_change(0.1)
