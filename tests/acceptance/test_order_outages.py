"""Refusals that need something to break: the limiter, the rates, the store. Each on a service of its own."""

import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.held_lock import holding
from tests.support.node import Node, running, until
from tests.support.orders import (
    ORDERS,
    POSITIONS,
    QUOTES,
    SYMBOLS,
    Market,
    Trader,
    booked,
    refused,
    replayed,
)
from tests.support.servers import Postgres, Redis
from tests.support.stacks import STACKS

pytestmark = pytest.mark.both_stacks

ME = "/api/trading/test/v1/me"
BUY: dict[str, Any] = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}


@dataclass
class Deployment:
    """A store that can be cut off and altered behind the service's back."""

    folder: Path
    settings: dict[str, str]
    cut: Callable[[], object]
    mend: Callable[[], object]
    sql: Callable[[str], object]


@pytest.fixture(params=STACKS)
def deployment(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Deployment]:
    if request.param == "sqlite":
        yield _sqlite(tmp_path)
        return
    redis: Redis = request.getfixturevalue("redis")
    request.getfixturevalue("postgres")  # Skipped, or failed, where there is none.
    with own_postgres() as server:
        url = server.new_database()
        yield Deployment(
            tmp_path,
            {"BULLION_DATABASE_URL": url, "BULLION_REDIS_URL": redis.url},
            server.stop,
            server.start,
            lambda statement: server.sql(statement, url.rpartition("/")[2]),
        )


def _sqlite(folder: Path) -> Deployment:
    path, away = folder / "var" / "bullion.db", folder / "away.db"

    def sql(statement: str) -> None:
        with closing(sqlite3.connect(path, timeout=10)) as connection, connection:
            connection.execute(statement)

    return Deployment(folder, {}, lambda: path.rename(away), lambda: away.rename(path), sql)


@contextmanager
def own_postgres() -> Iterator[Postgres]:
    server = Postgres()
    try:
        yield server.make()
    finally:
        server.remove()


@contextmanager
def trading(folder: Path, settings: dict[str, str]) -> Iterator[tuple[Node, Market]]:
    with running(folder, **settings) as node, Market.open(node) as market:
        yield node, market


def again(trader: Trader, name: str) -> bool:
    """Whether the same key is at last answered by an order."""
    answer = trader.place(name)
    assert answer.status_code in (200, 201, 503), answer.text
    return answer.status_code != 503


def test_rate_limiter_unavailable(postgres: Postgres, redis: Redis, tmp_path: Path) -> None:
    """Where budgets are counted in a server of their own; in memory there is none to lose."""
    assert redis.command("PING") == "+PONG\r\n"
    own = Redis().start()
    settings = {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": own.url}
    try:
        with trading(tmp_path, settings) as (_, market):
            trader = market.trader()
            order = booked(trader.place("before"))
            own.stop(signal.SIGKILL)
            for name in ("before", "during"):
                answer = trader.place(name)
                refused(answer, "rate_limiter_unavailable")
                assert int(answer.headers["retry-after"]) >= 1
            for path in (ME, ORDERS, POSITIONS, SYMBOLS, QUOTES, f"{ORDERS}/{order['id']}"):
                assert trader.http.get(path).status_code == 200, path
            assert trader.orders()["items"] == [order]
            own.start()
            until(lambda: again(trader, "during"), within_s=5)
            assert replayed(trader.place("before")) == order
            assert trader.orders()["total"] == 2
    finally:
        own.remove()


def test_rates_not_ready(deployment: Deployment) -> None:
    """The node cannot read its first set of rates, while its bookings can be read and written."""
    with trading(deployment.folder, deployment.settings) as (_, market):
        trader = market.trader()
        order = booked(trader.place("before"))
    deployment.sql("ALTER TABLE ticks RENAME TO ticks_elsewhere")
    with running(deployment.folder, **deployment.settings) as node:
        market.node = node
        issued = {"key": trader.key, "key_id": trader.key_id}
        with market.visit() as now_there:
            trader = now_there.at_work(trader.login_id, issued)
            for _ in range(3):
                refused(trader.place("early"), "rates_not_ready")
            assert trader.quote()["reason"] == "rates_not_ready"
            assert replayed(trader.place("before")) == order
            refused(trader.place(symbol_code="NOWHERE"), "unknown_symbol")
            assert trader.orders()["total"] == 1
            deployment.sql("ALTER TABLE ticks_elsewhere RENAME TO ticks")
            until(lambda: again(trader, "early"), within_s=5)
            assert trader.quote()["reason"] is None
            assert trader.orders()["total"] == 2


def test_service_unavailable(deployment: Deployment) -> None:
    """The store is cut off: orders and reads of the book answer 503; afterwards the same key books."""
    with trading(deployment.folder, deployment.settings) as (_, market):
        trader = market.trader()
        order = booked(trader.place("before"))
        deployment.cut()
        for name in ("before", "during", "during"):
            answer = trader.place(name)
            refused(answer, "service_unavailable")
            assert int(answer.headers["retry-after"]) >= 1
        for path in (ORDERS, f"{ORDERS}?symbol_code=GOLD", f"{ORDERS}/{order['id']}", POSITIONS):
            answer = trader.http.get(path)
            refused(answer, "service_unavailable")
            assert int(answer.headers["retry-after"]) >= 1
        # Prices are not told by a node that has lost its store; whose key it is, is.
        for path in (QUOTES, SYMBOLS):
            until(lambda path=path: trader.http.get(path).status_code == 503, within_s=5)
        assert trader.http.get(ME).status_code == 200
        deployment.mend()
        until(lambda: again(trader, "during"), within_s=5)
        until(lambda: trader.http.get(POSITIONS).status_code == 200, within_s=5)
        until(lambda: trader.http.get(QUOTES).status_code == 200, within_s=5)
        assert replayed(trader.place("before")) == order
        assert trader.orders()["total"] == 2
        assert trader.net() == "2.0000"


def test_an_order_that_waits_for_a_locked_store_is_told_so_in_time(deployment: Deployment) -> None:
    """Somebody holds the book: the order is refused after the deadline, and books when sent again."""
    with trading(deployment.folder, deployment.settings) as (_, market):
        trader = market.trader()
        booked(trader.place())
        with _holding_books(deployment):
            started = time.monotonic()
            answer = trader.place("waits")
            took_s = time.monotonic() - started
            refused(answer, "service_unavailable")
            assert took_s < 15
            assert trader.orders()["total"] == 1, "reads do not wait"
        until(lambda: again(trader, "waits"), within_s=5)
        assert trader.orders()["total"] == 2


def test_redis_that_forgets_makes_no_second_order(postgres: Postgres, redis: Redis, tmp_path: Path) -> None:
    assert redis.command("PING") == "+PONG\r\n"
    own = Redis().start()
    settings = {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": own.url}
    try:
        with trading(tmp_path, settings) as (_, market):
            market.switch(budgets={"orders_per_10_seconds": 2})
            trader = market.trader()
            order = booked(trader.place("one"))
            assert replayed(trader.place("one")) == order
            refused(trader.place("one"), "rate_limited")
            own.command("FLUSHALL")
            assert replayed(trader.place("one")) == order
            assert trader.orders()["total"] == 1
    finally:
        own.remove()


@pytest.mark.parametrize("poison", [("SET", "1"), ("RPUSH", "rubbish"), ("RPUSH", "9000000000000000")])
def test_a_poisoned_budget_refuses_no_order_and_is_told(
    postgres: Postgres, redis: Redis, tmp_path: Path, poison: tuple[str, str]
) -> None:
    """Somebody wrote to a budget's key in Redis, where it would stay: it has no expiry."""
    settings = {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": redis.url}
    with trading(tmp_path, settings) as (node, market):
        market.switch(budgets={"orders_per_10_seconds": 2})
        trader = market.trader()
        verb, value = poison
        for window_s, subject in ((60, "orders"), (10, "orders10")):
            redis.command(verb, f"bullion:{subject} {trader.key_id}:{window_s}", value)
        order = booked(trader.place("one"))
        assert replayed(trader.place("one")) == order
        refused(trader.place("one"), "rate_limited")
        until(lambda: node.entries("budget_repaired"), within_s=5)
        assert len(node.entries("budget_repaired")) == 1
        assert not node.entries("rate_limiter_failed")


def test_what_was_answered_survives_a_kill(deployment: Deployment) -> None:
    """The node is killed while orders rain: each key has one order, which is the one that was answered."""
    placed = [(f"key {number}", BUY) for number in range(200)]
    answered: dict[str, dict[str, Any]] = {}
    with trading(deployment.folder, deployment.settings) as (node, market):
        trader = market.trader()
        with ThreadPoolExecutor(8) as pool:

            def place(key: str) -> None:
                with suppress(httpx.TransportError):
                    answered[key] = booked(trader.place(key))

            raining = [pool.submit(place, key) for key, _ in placed]
            until(lambda: len(answered) >= 20, within_s=20)
            node.process.send_signal(signal.SIGKILL)
            for each in raining:
                each.result()
        node.process.wait(timeout=10)
        assert 20 <= len(answered) < len(placed)
        with running(deployment.folder, **deployment.settings) as again_there:
            market.node = again_there
            with market.visit() as visited:
                trader = visited.at_work(trader.login_id, {"key": trader.key, "key_id": trader.key_id})
                for key, body in placed:
                    answer = trader.place(key, **body)
                    assert answer.status_code == 200 if key in answered else answer.is_success
                    assert answered.setdefault(key, answer.json()) == answer.json()
                assert trader.net() == "200.0000"
                listed = trader.orders(limit=200)
                assert listed["total"] == 200
                assert {order["id"] for order in listed["items"]} == {
                    order["id"] for order in answered.values()
                }


# --- Commits that PostgreSQL does not answer ----------------------------------------------------------------


@contextmanager
def parked(server: Postgres) -> Iterator[None]:
    """Every commit waits for a standby that there is not. It is written, but nobody is told."""
    server.sql("ALTER SYSTEM SET synchronous_standby_names = 'ghost'")
    server.sql("SELECT pg_reload_conf()")
    until(lambda: server.sql("SHOW synchronous_standby_names") == "ghost", within_s=5)
    try:
        yield
    finally:
        server.sql("ALTER SYSTEM RESET synchronous_standby_names")
        server.sql("SELECT pg_reload_conf()")


WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%orders%'"


def test_a_commit_that_hangs_is_told_in_time_and_found_by_its_key(
    postgres: Postgres, redis: Redis, tmp_path: Path
) -> None:
    assert postgres.sql("SELECT 1") == "1"
    with own_postgres() as server:
        settings = {"BULLION_DATABASE_URL": server.new_database(), "BULLION_REDIS_URL": redis.url}
        with trading(tmp_path, settings) as (_, market):
            trader = market.trader()
            booked(trader.place("before"))
            with parked(server):
                answer = trader.place("parked")
                refused(answer, "service_unavailable")
                assert int(answer.headers["retry-after"]) >= 1
            until(lambda: again(trader, "parked"), within_s=10)
            order = replayed(trader.place("parked"))
            assert order["deal_label"] == "T-2"
            assert trader.orders()["total"] == 2
            assert trader.net() == "2.0000"


def test_a_connection_lost_at_the_commit_books_once(postgres: Postgres, redis: Redis, tmp_path: Path) -> None:
    """The backend is ended while its commit hangs: the row is there, though the answer never came."""
    assert postgres.sql("SELECT 1") == "1"
    with own_postgres() as server:
        settings = {"BULLION_DATABASE_URL": server.new_database(), "BULLION_REDIS_URL": redis.url}
        with trading(tmp_path, settings) as (_, market), ThreadPoolExecutor(1) as pool:
            trader = market.trader()
            booked(trader.place("before"))
            with parked(server):
                placing = pool.submit(trader.place, "cut")
                until(lambda: server.sql(WAITING) != "0", within_s=5)
                server.sql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE wait_event = 'SyncRep' AND query LIKE '%orders%'"
                )
                answer = placing.result()
                assert answer.status_code in (201, 503), answer.text
            until(lambda: again(trader, "cut"), within_s=10)
            order = replayed(trader.place("cut"))
            if answer.status_code == 201:
                assert answer.json() == order
            assert order["deal_label"] == "T-2"
            assert trader.orders()["total"] == 2
            assert trader.net() == "2.0000"


@contextmanager
def _holding_books(deployment: Deployment) -> Iterator[None]:
    """As a backup or a person at the database's prompt would."""
    if not deployment.settings:
        path = deployment.folder / "var" / "bullion.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield
            connection.execute("ROLLBACK")
        return
    with holding(deployment.settings["BULLION_DATABASE_URL"], "SELECT * FROM books FOR UPDATE"):
        yield
