"""Production on a service of its own that something is taken from: budgets, rates, schema, the switch."""

import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_order_outages import own_postgres, parked
from tests.support.node import running, until
from tests.support.orders import BASE as TEST_BASE
from tests.support.orders import REPLAYED, booked, refused, replayed
from tests.support.production import (
    ME,
    ORDERS,
    PATIENCE_S,
    POSITIONS,
    QUOTES,
    SYMBOLS,
    LiveMarket,
    closed_by,
    opened,
    pending,
    store_says,
)
from tests.support.servers import Postgres, Redis
from tests.support.stacks import STACKS, stack

pytestmark = pytest.mark.both_stacks

ON = {"BULLION_PRODUCTION": "on"}


@pytest.fixture(params=STACKS)
def settings(request: pytest.FixtureRequest) -> dict[str, str]:
    return stack(request.param, request)


def code_of(answer: Any) -> str:
    return f"{answer.status_code}" if answer.is_success else str(answer.json()["detail"]["code"])


def test_rate_limiter_unavailable(postgres: Postgres, redis: Redis, tmp_path: Path) -> None:
    """Where budgets are counted in a server of their own; in memory there is none to lose."""
    assert redis.command("PING") == "+PONG\r\n"
    own = Redis().start()
    settings = {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": own.url}
    try:
        with running(tmp_path, **settings, **ON) as node, LiveMarket.open(node) as market:
            trader = market.trader()
            order = opened(trader.place("before"))
            own.stop(signal.SIGKILL)
            for name in ("before", "during"):
                answer = trader.place(name)
                refused(answer, "rate_limiter_unavailable")
                assert int(answer.headers["retry-after"]) >= 1
            for path in (ME, ORDERS, POSITIONS, SYMBOLS, QUOTES, f"{ORDERS}/{order['id']}"):
                assert trader.http.get(path).status_code == 200, path
            own.start()
            until(lambda: trader.place("during").is_success, within_s=PATIENCE_S)
            assert replayed(trader.place("before")) == order
            assert trader.orders()["total"] == 2
    finally:
        own.remove()


def test_accounts_of_two_deployments_on_one_redis_are_counted_apart(
    postgres: Postgres, redis: Redis, tmp_path: Path
) -> None:
    """Each store numbers its accounts from 1."""
    with ExitStack() as started:
        traders = []
        for _ in range(2):
            settings = {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": redis.url}
            node = started.enter_context(running(tmp_path, **settings, **ON))
            market = started.enter_context(LiveMarket.open(node))
            market.switch(budgets={"account_orders_per_minute": 2})
            traders.append(market.trader())
        for trader in traders:
            opened(trader.place())
            opened(trader.place())
            refused(trader.place(), "rate_limited")


def test_rates_not_ready(settings: dict[str, str], tmp_path: Path) -> None:
    """The node cannot read its first set of rates: production's own word comes first, replays do anyway."""
    with running(tmp_path, **settings, **ON) as node, LiveMarket.open(node) as market:
        trader = market.trader()
        order = opened(trader.place("before"))
        store_says(node, "ALTER TABLE ticks RENAME TO ticks_elsewhere")
    issued = {"key": trader.key, "key_id": trader.key_id}
    with running(tmp_path, **settings, **ON) as node, market.at(node) as market:
        trader = market.at_work(trader.login_id, issued)
        until(lambda: code_of(trader.place("early")) == "rates_not_ready", within_s=PATIENCE_S)
        assert trader.quote()["reason"] == "rates_not_ready"
        assert replayed(trader.place("before")) == order
        refused(trader.place(symbol_code="NOWHERE"), "unknown_symbol")
        market.switch(paused=True)
        refused(trader.place("early"), "production_prerequisites_unmet")
        market.switch(paused=False)
        store_says(node, "ALTER TABLE ticks_elsewhere RENAME TO ticks")
        until(lambda: trader.place("early").status_code in (200, 201), within_s=PATIENCE_S)
        assert trader.orders()["total"] == 2


def test_the_deploy_switch_stands_above_all_others(settings: dict[str, str], tmp_path: Path) -> None:
    """The same store, served with production off: reads, replays and settling go on; nothing is placed."""
    with running(tmp_path, **settings, **ON) as node, LiveMarket.open(node) as market:
        trader = market.trader()
        order = opened(trader.place("before"))
        refused(trader.place("moved", expected_price=1), "price_moved")
        market.venue(mode="hold")
        waiting = pending(trader.place("waiting"))
    issued = {"key": trader.key, "key_id": trader.key_id}
    with running(tmp_path, **settings) as node, market.at(node) as market:
        trader = market.at_work(trader.login_id, issued)
        for production, paused, enabled in (
            (True, False, True),
            (False, False, True),
            (True, True, True),
            (True, False, False),
            (False, True, False),
        ):
            market.switch(production=production, paused=paused)
            market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"production_trading": enabled})
            assert closed_by(trader.place()) == "deploy"
            assert trader.get(ME)["production_trading_available"] is False
        tester = market.tester(trader.login_id)
        assert tester.get(f"{TEST_BASE}/me")["production_trading_available"] is False
        assert closed_by(trader.send(b"x")) == "deploy"
        assert closed_by(trader.place("before", quantity=2)) == "deploy"
        assert closed_by(trader.place("moved", expected_price=1)) == "deploy"
        assert replayed(trader.place("before")) == order
        assert replayed(trader.place("waiting")) == waiting
        assert trader.orders()["items"] == [waiting, order]
        assert trader.net() == "2.0000"
        assert trader.quote()["reason"] == "production_trading_disabled"
        booked(tester.place())
        # What was pending when the first service stopped is finished by this one.
        market.venue(mode="fill")
        now = trader.becomes(waiting["id"], "open")
        assert replayed(trader.place("waiting")) == now
        assert len(market.executions(order_id=waiting["id"])) == 1


def test_a_store_with_an_older_schema_takes_no_production_orders(
    settings: dict[str, str], tmp_path: Path
) -> None:
    with running(tmp_path, **settings, **ON) as node, LiveMarket.open(node) as market:
        trader = market.trader()
        order = opened(trader.place("before"))
        (number,), *_ = store_says(node, "SELECT max(number) FROM migrations")
        store_says(node, f"CREATE TABLE put_aside AS SELECT * FROM migrations WHERE number = {number}")
        store_says(node, f"DELETE FROM migrations WHERE number = {number}")
        until(lambda: code_of(trader.place()) == "production_prerequisites_unmet", within_s=PATIENCE_S)
        total = trader.orders()["total"]
        refused(trader.send(b"x"), "production_prerequisites_unmet")
        refused(trader.place("before", quantity=2), "production_prerequisites_unmet")
        market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"production_trading": False})
        assert closed_by(trader.place("late")) == "account"
        market.switch(production=False)
        assert closed_by(trader.place("late")) == "global"
        market.switch(production=True)
        market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"production_trading": True})
        assert replayed(trader.place("before")) == order
        assert trader.orders()["total"] == total
        assert trader.get(ME)["production_trading_available"] is True, "a hint that follows the switches"
        store_says(node, "INSERT INTO migrations SELECT * FROM put_aside")
        until(lambda: trader.place("late").status_code in (200, 201), within_s=PATIENCE_S)
        store_says(node, "DROP TABLE put_aside")


def test_booking_conflict(postgres: Postgres, redis: Redis, tmp_path: Path) -> None:
    """The same key in flight: while a commit hangs, whoever sends its key again waits, and is told to retry.

    On PostgreSQL, where a commit can be made to hang.
    """
    assert postgres.sql("SELECT 1") == "1"
    with own_postgres() as server, ThreadPoolExecutor(2) as pool:
        settings = {"BULLION_DATABASE_URL": server.new_database(), "BULLION_REDIS_URL": redis.url}
        with running(tmp_path, **settings, **ON) as node, LiveMarket.open(node) as market:
            trader = market.trader()
            other = market.trader(trader.login_id)
            opened(trader.place("before"))
            with parked(server):
                ahead = pool.submit(trader.place, "hangs")
                until(
                    lambda: (
                        server.sql(
                            "SELECT count(*) FROM pg_stat_activity "
                            "WHERE wait_event = 'SyncRep' AND query LIKE '%orders%'"
                        )
                        != "0"
                    ),
                    within_s=PATIENCE_S,
                )
                behind = other.place("hangs")
                first = ahead.result()
            refused(behind, "booking_conflict")
            assert code_of(first) in ("booking_outcome_unknown", "booking_not_completed")
            assert int(first.headers["retry-after"]) >= 1
            until(lambda: trader.place("hangs").is_success, within_s=PATIENCE_S)
            again = trader.place("hangs")
            assert again.headers[REPLAYED] == "true"
            assert trader.becomes(again.json()["id"], "open")
            assert trader.orders()["total"] == 2
            assert trader.net() == "2.0000"
            assert len(market.executions(order_id=again.json()["id"])) == 1
