"""Each account stays with one worker of a machine, whatever becomes of the workers."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from typing import NamedTuple

import pytest

from bullion.workers.place import ENVIRON, owner
from tests.support.metrics import metrics_of
from tests.support.node import Node, running, until
from tests.support.orders import Market, Trader
from tests.support.processes import children, environment_of
from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis

from .crowd import Crowd, Rotation
from .ledger import Ledger

PLACED = 150 if SCALE == 1 else 3_000
WAITING = 8
JSON = b"Content-Type: application/json"
BODY = b'{"symbol_code":"GOLD","trade_type":"buy","quantity":1}'
COUNTS = (2, 3, 1) if SCALE == 1 else (2, 4, 1, 3, 2, 5, 1, 2)
_PAUSE_S = 0.25 if SCALE == 1 else 0.05
"""Between the calls of each of twelve clients."""
_CALLS_MIN = 10
"""During each reload."""


class Pool(NamedTuple):
    node: Node
    market: Market
    traders: list[Trader]
    postgres: Postgres
    database_url: str

    def place(self, trader: Trader) -> int:
        database = self.database_url.rpartition("/")[2]
        query = f"SELECT id FROM accounts WHERE login_id = '{trader.login_id}'"
        return owner(int(self.postgres.sql(query, database)), 2)

    def worker(self, place: int) -> int:
        return next(pid for pid in children(self.node.process.pid) if place_of(pid) == place)

    def ledger(self) -> Ledger:
        return Ledger(self.postgres, self.database_url)


def place_of(pid: int) -> int:
    place = json.loads(environment_of(pid)[ENVIRON])["place"]
    assert isinstance(place, int)
    return place


def total(node: Node, beginning: str) -> float:
    return sum(value for name, value in metrics_of(node).items() if name.startswith(beginning))


@pytest.fixture(scope="module")
def pool(
    postgres: Postgres, redis: Redis, schema_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pool]:
    """It begins as a node alone. How many workers there are is in the file, so that it can be changed."""
    folder = tmp_path_factory.mktemp("affinity")
    url = postgres.new_database(schema_template)
    settings = {"BULLION_DATABASE_URL": url, "BULLION_REDIS_URL": redis.url}
    with ExitStack() as opened:
        node = opened.enter_context(running(folder, **settings))
        market = opened.enter_context(Market.open(node))
        yield Pool(node, market, [market.trader() for _ in range(6)], postgres, url)


def reload(node: Node, workers: str) -> None:
    (node.folder / ".env").write_text(f"BULLION_WORKERS={workers}\n", "utf-8")
    node.process.send_signal(signal.SIGHUP)


async def _reload_under_load(pool: Pool, crowd: Crowd) -> None:
    node = pool.node
    async with crowd.calling():
        for done, workers in enumerate(COUNTS, 1):
            before = len(crowd.answers)
            reload(node, str(workers))
            await asyncio.to_thread(until, lambda done=done: len(node.entries("restarted")) == done, 90)
            assert len(crowd.answers) - before >= _CALLS_MIN
            assert node.entries("restarted")[-1]["workers"] == workers
            found = await asyncio.to_thread(children, node.process.pid)
            assert sorted(place_of(pid) for pid in found) == list(range(workers))


def test_a_reload_that_changes_the_number_of_workers_fails_no_call(pool: Pool) -> None:
    crowd = Crowd(Rotation(pool.node), pool.traders, pause_s=_PAUSE_S)
    asyncio.run(_reload_under_load(pool, crowd))
    print(f"\n{len(crowd.answers)} orders while the number of workers went to {COUNTS}")
    assert crowd.failures == []
    assert crowd.said() == {"201": len(crowd.answers)}
    assert not pool.node.entries("calls_aborted")
    ledger = pool.ledger()
    ledger.check()
    ledger.check_answers(crowd.answers)


def test_a_wrong_number_changes_nothing(pool: Pool) -> None:
    before = children(pool.node.process.pid)
    failed = len(pool.node.entries("restart_failed"))
    reload(pool.node, "many")
    until(lambda: len(pool.node.entries("restart_failed")) == failed + 1, within_s=60)
    assert any("bullion: BULLION_WORKERS is 'many'" in line for line in pool.node.log)
    until(lambda: children(pool.node.process.pid) == before, within_s=60)
    # A worker that is killed by the next tests is replaced with the settings of the file.
    (pool.node.folder / ".env").write_text(f"BULLION_WORKERS={len(before)}\n", "utf-8")


@pytest.fixture
def two_workers(pool: Pool) -> Pool:
    if len(children(pool.node.process.pid)) != 2:
        done = len(pool.node.entries("restarted"))
        reload(pool.node, "2")
        until(lambda: len(pool.node.entries("restarted")) > done, within_s=60)
    for trader in pool.traders:
        trader.buy(1)
    return pool


async def _call_until(crowd: Crowd, number: int) -> None:
    async with crowd.calling():
        while len(crowd.answers) < number:
            await asyncio.sleep(0.02)


def test_orders_of_an_account_do_not_meet(two_workers: Pool) -> None:
    node, traders = two_workers.node, two_workers.traders
    assert {two_workers.place(trader) for trader in traders} == {0, 1}
    retries = "bullion_booking_retries_total"
    before, moved = total(node, retries), total(node, "bullion_connections_handed_over_total")
    crowd = Crowd(Rotation(node), traders, pause_s=0, _numbers=count(1_000_000))
    asyncio.run(_call_until(crowd, PLACED))
    assert crowd.failures == []
    assert crowd.said() == {"201": len(crowd.answers)}
    assert total(node, retries) - before <= 0.02 * len(crowd.answers), metrics_of(node)
    assert total(node, "bullion_connections_handed_over_total") - moved > WAITING


def test_what_waits_for_an_owner_that_is_killed_is_answered_by_the_next(two_workers: Pool) -> None:
    pool = two_workers
    trader = next(each for each in pool.traders if pool.place(each) == 1)

    def handed_over() -> float:
        return total(pool.node, 'bullion_connections_handed_over_total{outcome="handed_over"}')

    before = handed_over()
    owning = pool.worker(1)
    os.kill(owning, signal.SIGSTOP)
    with ExitStack() as opened:
        waiting = [
            opened.enter_context(socket.create_connection(trader.server, timeout=60)) for _ in range(WAITING)
        ]
        for number, each in enumerate(waiting):
            each.sendall(trader.request(BODY, JSON, b"Idempotency-Key: waits %d" % number))
        # Not all of them: after two seconds the owner counts as away.
        until(lambda: handed_over() > before, within_s=60)
        os.kill(owning, signal.SIGKILL)
        for each in waiting:
            answer = each.makefile("rb").read()
            assert answer.startswith(b"HTTP/1.1 201 "), answer
    until(lambda: pool.worker(1) != owning, within_s=60)
    pool.ledger().check()
