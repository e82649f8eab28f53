"""The desk's reports are read at a real standby, and at the primary while that is not fit for it."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bullion.desk.actions import accounts, archive_export, audit, brokers, refusals, statement, traces
from bullion.desk.actions.archive import ArchiveSelection
from bullion.desk.actions.audit import AuditSearch
from bullion.desk.bodies import BrokerBody, StatementBody
from bullion.desk.desk import Desk
from bullion.records.page import FIRST_PAGE
from bullion.records.token import Actor, Role
from bullion.store import standby
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records
from bullion.store.standby import Reports, Standby
from tests.contract.desk_over import desk_over
from tests.support.command import bullion
from tests.support.node import running, until
from tests.support.orders import Market
from tests.support.servers import Postgres, Redis

from .standby import Pair, standby_of

ADMIN = Actor("an admin", Role.ADMIN, "main", first=True)


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    pair = Pair.make(synchronous=False)
    # At once: replay does not wait for reports.
    pair.standby.sql("ALTER SYSTEM SET max_standby_streaming_delay = 0")
    pair.standby.sql("SELECT pg_reload_conf()")
    yield pair
    pair.remove()


@pytest.fixture(scope="module")
def address(pair: Pair) -> str:
    """Of a store with its tables, at the primary."""
    address = pair.primary.new_database()

    async def migrate() -> None:
        engine = PostgresEngine(address)
        await engine.open()
        await engine.migrate()
        await engine.close()

    asyncio.run(migrate())
    return address


@pytest.fixture(scope="module")
def second(pair: Pair, address: str) -> Iterator[Postgres]:
    """Another standby."""
    second = standby_of(pair.primary)
    yield second
    second.remove()


def at(server: Postgres, address: str) -> str:
    """The same database on another server."""
    return f"postgresql://bullion@127.0.0.1:{server.port}/{address.rpartition('/')[2]}"


@asynccontextmanager
async def reading(address: str, standby_url: str) -> AsyncIterator[Desk]:
    engine = PostgresEngine(address)
    await engine.open()
    desk = desk_over(engine)
    reports = Reports(desk.store, Standby(standby_url, engine))
    try:
        yield Desk(desk.store, desk.chain, desk.key_issuer, desk.token_hasher, desk.refresh, reports=reports)
    finally:
        await reports.close()
        await engine.close()


def outcomes(desk: Desk) -> dict[str, int]:
    assert desk.reports is not None
    return dict(desk.reports.outcomes)


async def is_standby(records: Records) -> bool:
    return bool(await ask(records, "SELECT pg_is_in_recovery()"))


async def ask(records: Records, sql: str) -> Any:
    return await records._transaction._connection.fetchval(sql)  # type: ignore[attr-defined]


async def rename(desk: Desk, name: str) -> None:
    await brokers.put_broker(desk, ADMIN, "main", BrokerBody(name=name))


async def read_name(desk: Desk) -> tuple[str, bool]:
    """The name of the broker as a report sees it, and whether it was read at the standby."""

    async def work(records: Records) -> tuple[str, bool]:
        found = await records.broker("main")
        return "" if found is None else found.name, await is_standby(records)

    return await desk.report(ADMIN, "test", work)


@pytest.mark.anyio
async def test_a_report_has_what_was_just_changed_and_is_read_at_the_standby(
    pair: Pair, address: str
) -> None:
    several = f"postgresql://bullion@127.0.0.1:{pair.primary.port},127.0.0.1:{pair.standby.port}"
    several += f"/{address.rpartition('/')[2]}"
    for url in (at(pair.standby, address), several):
        async with reading(address, url) as desk:
            for number in range(20):
                await rename(desk, f"broker {number}")
                assert await read_name(desk) == (f"broker {number}", True)
            assert outcomes(desk) == {"standby": 20}


@pytest.mark.anyio
async def test_every_report_can_be_read_at_the_standby(pair: Pair, address: str) -> None:
    async with reading(address, at(pair.standby, address)) as desk:
        await rename(desk, "main")
        assert (await audit.list_audit(desk, ADMIN, FIRST_PAGE))[1] > 0
        assert (await audit.find_audit(desk, ADMIN, AuditSearch(), 10)).entries
        assert not (await audit.check_audit(desk, ADMIN)).breaks
        assert await traces.list_traces(desk, ADMIN) == []
        assert (await refusals.list_refusals(desk, ADMIN, {}))["items"] == []
        body = StatementBody(venue="mcx", day="2026-11-17", csv="execution_id,symbol,side,quantity,price\n")
        assert (await statement.compare_day(desk, ADMIN, body))["agrees"]
        exported = archive_export.exported_orders(desk, ADMIN, ArchiveSelection(2**60, None))
        assert [each async for each in exported] == []
        assert outcomes(desk).keys() == {"standby"}
        before = outcomes(desk)
        assert await accounts.list_accounts(desk, ADMIN, FIRST_PAGE) == ([], 0)
        assert outcomes(desk) == before


@pytest.mark.anyio
async def test_a_standby_that_is_behind_is_left_until_it_has_caught_up(
    pair: Pair, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "CATCH_UP_S", 0.1)
    async with reading(address, at(pair.standby, address)) as desk:
        await rename(desk, "before")
        assert await read_name(desk) == ("before", True)
        pair.standby.sql("SELECT pg_wal_replay_pause()")
        try:
            await rename(desk, "after")
            with capture_logs() as logs:
                for _ in range(3):
                    assert await read_name(desk) == ("after", False)
            told = [
                (each["report"], each["reason"]) for each in logs if each["event"] == "report_from_primary"
            ]
            assert told == [("test", "behind")]  # The next ones do not wait for it.
            assert outcomes(desk) == {"standby": 1, "behind": 3}
        finally:
            pair.standby.sql("SELECT pg_wal_replay_resume()")
        monkeypatch.setattr(desk.reports, "_avoided_until_s", 0)
        monkeypatch.setattr(standby, "CATCH_UP_S", 5)
        assert await read_name(desk) == ("after", True)


@pytest.mark.anyio
async def test_a_report_that_hinders_the_replay_is_read_once_more_at_the_primary(
    pair: Pair, address: str
) -> None:
    async with reading(address, at(pair.standby, address)) as desk:
        for number in range(50):
            await rename(desk, f"row {number}")
        database = address.rpartition("/")[2]
        servers = []

        async def work(records: Records) -> bool:
            there = await is_standby(records)
            servers.append(there)
            if there:
                sleeping = asyncio.create_task(ask(records, "SELECT pg_sleep(5)"))
                for sql in ("DELETE FROM changes", "VACUUM changes"):
                    await asyncio.to_thread(pair.primary.sql, sql, database)
                await sleeping
            return there

        assert await desk.report(ADMIN, "test", work) is False
        assert servers == [True, False]
        assert outcomes(desk) == {"conflict": 1}
        assert await read_name(desk) == ("row 49", True)


@pytest.mark.anyio
async def test_a_standby_that_is_away_or_slow(
    pair: Pair, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "READ_S", 0.5)
    async with reading(address, at(pair.standby, address)) as desk:
        await rename(desk, "main")
        assert await read_name(desk) == ("main", True)

        async def slow(records: Records) -> bool:
            there = await is_standby(records)
            await ask(records, f"SELECT pg_sleep({5 if there else 0})")
            return there

        assert await desk.report(ADMIN, "test", slow) is False
        monkeypatch.setattr(desk.reports, "_avoided_until_s", 0)
        pair.standby.stop(signal.SIGQUIT)
        try:
            assert await read_name(desk) == ("main", False)
        finally:
            await asyncio.to_thread(pair.standby.start)
        assert outcomes(desk) == {"standby": 1, "slow": 1, "away": 1}
        monkeypatch.setattr(desk.reports, "_avoided_until_s", 0)
        monkeypatch.setattr(standby, "READ_S", 20)
        monkeypatch.setattr(standby, "CATCH_UP_S", 15)
        assert await read_name(desk) == ("main", True)


@pytest.mark.anyio
async def test_of_several_standbys_another_is_tried_after_one_that_is_behind(
    pair: Pair, second: Postgres, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "CATCH_UP_S", 0.1)
    both = at(pair.standby, address).replace("/test", f",127.0.0.1:{second.port}/test")
    pair.standby.sql("SELECT pg_wal_replay_pause()")
    try:
        async with reading(address, both) as desk:
            await rename(desk, "several")
            assert await read_name(desk) == ("several", False)
            monkeypatch.setattr(desk.reports, "_avoided_until_s", 0)
            monkeypatch.setattr(standby, "CATCH_UP_S", 5)
            assert await read_name(desk) == ("several", True)
            assert outcomes(desk) == {"behind": 1, "standby": 1}
    finally:
        pair.standby.sql("SELECT pg_wal_replay_resume()")


@pytest.mark.anyio
async def test_what_is_no_standby_of_this_store_is_not_read(
    pair: Pair, second: Postgres, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "CATCH_UP_S", 15)
    other = pair.primary.new_database(address.rpartition("/")[2])
    pair.catch_up()  # Nobody can connect to a database that the standby does not have yet.
    wrong = {at(pair.primary, address): "away", at(pair.standby, other): "other_store"}
    for url, reason in wrong.items():
        async with reading(address, url) as desk:
            await rename(desk, "main")
            assert await read_name(desk) == ("main", False)
            assert outcomes(desk) == {reason: 1}
    # A copy that was promoted is the new primary; the standby still follows the old one.
    second.sql("SELECT pg_promote()")
    until(lambda: second.sql("SELECT pg_is_in_recovery()") == "f", within_s=20)
    for number in range(5):
        pair.primary.sql(f"SELECT pg_logical_emit_message(false, 'later', repeat('x', {number}000))")
    pair.primary.sql("SELECT pg_switch_wal()")
    async with reading(at(second, address), at(pair.standby, address)) as desk:
        assert (await read_name(desk))[1] is False
        assert outcomes(desk) == {"other_store": 1}


def sessions(server: Postgres) -> int:
    found = server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'bullion%'")
    return int(found)


def test_orders_never_meet_the_standby_and_reports_do(
    pair: Pair, address: str, redis: Redis, tmp_path: Path
) -> None:
    settings = {
        "BULLION_DATABASE_URL": address,
        "BULLION_REDIS_URL": redis.url,
        "BULLION_REPORTS_URL": at(pair.standby, address),
    }
    with running(tmp_path, **settings) as node, Market.open(node) as market:
        pair.standby.sql("SELECT pg_wal_replay_pause()")
        try:
            trader = market.trader()
            order = trader.buy(1)
            assert market.desk.do("GET", f"/orders/{order['id']}")["id"] == order["id"]
            assert sessions(pair.standby) == 0
        finally:
            pair.standby.sql("SELECT pg_wal_replay_resume()")
        pair.catch_up()  # On a busy machine, that can take longer than a report waits.
        answer = market.desk.get("/audit")
        assert answer.status_code == 200
        assert answer.json()["items"][0]["action"] == "issue_key"
        assert answer.headers["x-bullion-as-of"] > answer.json()["items"][0]["at"]
        assert sessions(pair.standby) > 0
        assert "x-bullion-as-of" not in market.desk.get("/accounts").headers
        with node.desk() as desk:
            measured = desk.get(f"{node.desk_url}/metrics").text
        assert 'bullion_reports_total{outcome="standby"} 1.0' in measured
        done = bullion(tmp_path, "doctor", **node.settings)
        assert "the standby has all that the primary has" in done.stdout
        away = {**node.settings, "BULLION_REPORTS_URL": at(pair.primary, address)}
        done = bullion(tmp_path, "doctor", **away)
        assert done.returncode == 1
        assert "the standby cannot be used" in done.stdout
