"""An address that names several PostgreSQL servers: one hangs or dies, another takes over."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bullion.faults import StoreFault, StoreUnavailable
from bullion.store.postgres import PostgresEngine
from bullion.store.postgres_hosts import one_by_one
from tests.support.node import running
from tests.support.orders import Market
from tests.support.processes import children
from tests.support.servers import Postgres, Redis
from tests.support.tcp_proxy import tcp_proxy

from .crowd import Crowd, Rotation
from .ledger import Ledger
from .standby import Pair

End = Callable[[Postgres], None]
NORMAL_WITHIN_S = 5.0
MARGIN_S = 2.0
"""For the promotion, whose time is included, and for a busy machine."""


def test_an_address_for_each_host() -> None:
    assert one_by_one("postgresql://u:p%40@db1,db2:5433,[::1]:5434/d?sslmode=require") == [
        "postgresql://u:p%40@db1/d?sslmode=require",
        "postgresql://u:p%40@db2:5433/d?sslmode=require",
        "postgresql://u:p%40@[::1]:5434/d?sslmode=require",
    ]
    assert one_by_one("postgresql://u@/d?host=db1,db2&port=5433,5434&sslmode=require") == [
        "postgresql://u@/d?host=db1&port=5433&sslmode=require",
        "postgresql://u@/d?host=db2&port=5434&sslmode=require",
    ]
    assert [part.rpartition("?")[2] for part in one_by_one("postgresql://u@/d?host=db1,db2&port=5433")] == [
        "host=db1&port=5433",
        "host=db2&port=5433",
    ]
    for alone in ("postgresql://u@db1:5433/d", "postgresql://u@/d?host=/run/pg", "postgresql://u:[@db1/d"):
        assert one_by_one(alone) == [alone]


@contextmanager
def silent() -> Iterator[int]:
    """A server that takes connections and never says a word: its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.anyio
async def test_a_host_that_stays_silent_does_not_use_up_the_time_of_the_others(postgres: Postgres) -> None:
    database = postgres.new_database().rpartition("@")[2]
    with silent() as first, silent() as second:
        engine = PostgresEngine(f"postgresql://bullion@127.0.0.1:{first},127.0.0.1:{second},{database}")
        started = time.monotonic()
        await engine.open()
        assert time.monotonic() - started < 4, "each silent host delays the next by half a second"
        # From now on the one that takes writes is asked first.
        started = time.monotonic()
        assert await engine.register_node(exclusive=False)
        assert time.monotonic() - started < 0.5
        await engine.close()


@pytest.mark.anyio
async def test_a_host_that_takes_over_is_found_while_another_still_hangs(postgres: Postgres) -> None:
    """Without waiting for the timeout of the attempt at the one that hangs."""
    database = postgres.new_database().rpartition("/")[2]
    with silent() as hung, tcp_proxy(postgres.port) as line:
        line.cut()
        hosts = f"127.0.0.1:{hung},127.0.0.1:{line.port}"
        engine = PostgresEngine(f"postgresql://bullion@{hosts}/{database}")
        opening = asyncio.create_task(engine.open())
        await asyncio.sleep(0.7)  # Both have been tried.
        line.restore()
        await opening
        await engine.close()


@pytest.mark.anyio
async def test_a_host_that_answers_again_is_found_before_the_lost_attempt_times_out(
    postgres: Postgres,
) -> None:
    database = postgres.new_database().rpartition("/")[2]
    with tcp_proxy(postgres.port) as line:
        line.swallow_new()
        engine = PostgresEngine(f"postgresql://bullion@127.0.0.1:{line.port}/{database}")
        opening = asyncio.create_task(engine.open())
        await asyncio.sleep(0.7)
        line.pass_new()
        await opening
        await engine.close()


@pytest.mark.anyio
async def test_what_a_server_says_is_told_rather_than_that_another_is_away(postgres: Postgres) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        refusing = closed.getsockname()[1]
    engine = PostgresEngine(
        f"postgresql://bullion@127.0.0.1:{refusing},127.0.0.1:{postgres.port}/there_is_none"
    )
    with pytest.raises(StoreUnavailable, match="there_is_none"):
        await engine.open()


def _processes(server: Postgres) -> list[int]:
    assert server.process is not None
    return [server.process.pid, *children(server.process.pid)]


def _die(server: Postgres) -> None:
    server.stop(signal.SIGQUIT)


def _freeze(server: Postgres) -> None:
    """It takes connections as before, and says nothing on any."""
    for pid in _processes(server):
        os.kill(pid, signal.SIGSTOP)


@contextmanager
def _frozen(server: Postgres) -> Iterator[None]:
    _freeze(server)
    try:
        yield
    finally:
        for pid in _processes(server):
            os.kill(pid, signal.SIGCONT)


def _set_read_only(server: Postgres, switch: str) -> None:
    server.sql(f"ALTER SYSTEM SET default_transaction_read_only = {switch}")
    server.sql("SELECT pg_reload_conf()")
    server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'bullion%'"
    )


@pytest.mark.anyio
async def test_a_former_primary_that_wakes_up_is_not_used_again(postgres: Postgres) -> None:
    """It still accepts writes, and its commits wait for no standby: only the timeline gives it away."""
    assert postgres.sql("SELECT 1") == "1"
    pair = await asyncio.to_thread(Pair.make, synchronous=False)

    async def put(value: str) -> None:
        await engine.write("put", lambda open_: open_.run("keep_deployment_value", value, "1"))

    async def put_in_the_end(value: str) -> None:
        async with asyncio.timeout(30):
            while True:
                with suppress(StoreFault):
                    return await put(value)

    try:
        engine = PostgresEngine(await asyncio.to_thread(pair.new_database))
        await engine.open()
        await engine.migrate()
        await asyncio.gather(*(put("before") for _ in range(8)))
        with capture_logs() as logs:
            with _frozen(pair.primary):
                await asyncio.to_thread(pair.promote)
                await put_in_the_end("after")
            with _frozen(pair.standby), pytest.raises(StoreFault):
                await put("to the former primary")
            await put_in_the_end("in the end")
        # The new primary becomes read-only, and only the former one accepts writes: that is what is told.
        await asyncio.to_thread(_set_read_only, pair.standby, "on")
        with suppress(StoreFault):
            await put("on a connection that was closed")
        with pytest.raises(StoreFault, match="it is a former primary"):
            await put("to the former primary")
        await asyncio.to_thread(_set_read_only, pair.standby, "off")
        await put_in_the_end("once more")
        await engine.close()
        there = "SELECT string_agg(name, ', ' ORDER BY name) FROM deployment WHERE value = '1'"
        assert pair.standby.sql(there, "test1") == "after, before, in the end, once more"
        assert pair.primary.sql(there, "test1") == "before"
        assert [each["event"] for each in logs].count("primary_changed") == 1
        assert "former_primary_refused" in [each["event"] for each in logs]
    finally:
        pair.remove()


async def _place_through(pair: Pair, crowd: Crowd, end: End) -> float:
    """Place orders while the primary ends and the standby takes over; for how long was nothing booked?"""
    async with crowd.calling():
        while len(crowd.answers) < 50:
            await asyncio.sleep(0.02)
        await asyncio.to_thread(end, pair.primary)
        began, before = time.monotonic(), len(crowd.answers) + crowd.keeping * 2
        await asyncio.to_thread(pair.promote)
        while not any(answer.status == 201 for answer in crowd.answers[before:]):
            assert time.monotonic() - began < 40, crowd.said()
            await asyncio.sleep(0.02)
        refused_s = time.monotonic() - began
        await asyncio.sleep(0.5)
    return refused_s


@pytest.mark.parametrize("end", [_die, _freeze])
def test_orders_go_on_at_the_standby_and_none_that_was_answered_is_lost(
    postgres: Postgres, redis: Redis, tmp_path: Path, end: End
) -> None:
    assert postgres.sql("SELECT 1") == "1"
    pair = Pair.make(synchronous=True)
    url = pair.new_database()
    try:
        with running(tmp_path, BULLION_DATABASE_URL=url, BULLION_REDIS_URL=redis.url) as node:
            with Market.open(node) as market:
                crowd = Crowd(Rotation(node), [market.trader() for _ in range(4)], keeping=4, pause_s=0.05)
                refused_s = asyncio.run(_place_through(pair, crowd, end))
            print(f"\nnothing was booked for {refused_s:.2f} s: {dict(crowd.said())}")
            assert refused_s < NORMAL_WITHIN_S + MARGIN_S
            assert not crowd.failures
            assert set(crowd.said()) <= {"201", "service_unavailable"}
            ledger = Ledger(pair.standby, url)
            ledger.check()
            stored = {row.idempotency_key for rows in ledger.rows.values() for row in rows}
            answered = {each.idempotency_key for each in crowd.answers if each.status == 201}
            assert answered <= stored
            # What was not answered is one that its sender was told to ask for again.
            told = {each.idempotency_key for each in crowd.answers}
            assert stored <= told
    finally:
        if end is _freeze:
            for pid in reversed(_processes(pair.primary)):
                os.kill(pid, signal.SIGKILL)
        pair.remove()
