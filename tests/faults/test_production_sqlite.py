"""Production orders on SQLite while its file is locked, taken away or cannot grow. Over HTTP, on a node."""

import contextlib
import resource
import sqlite3
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.node import Node, running, until
from tests.support.production import LiveMarket, LiveTrader

from .production_deployment import PATIENCE_S, true_words


@dataclass
class Deployment:
    path: Path
    node: Node
    market: LiveMarket

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=10)) as store:
            return store.execute(statement).fetchall()

    def orders(self, key: str) -> list[tuple[Any, ...]]:
        return self.rows(f"SELECT id, status FROM orders WHERE idempotency_key = '{key}'")

    def told(self, answer: httpx.Response, key: str) -> str:
        return true_words(answer, [row[0] for row in self.orders(key)])

    def same_key_tells(self, trader: LiveTrader, key: str) -> dict[str, Any]:
        """Once the fault is over: the definitive outcome, one order, executed once."""
        answers: list[httpx.Response] = []

        def definitive() -> bool:
            answers.append(trader.place(key))
            return self.told(answers[-1], key) in ("order", "replayed")

        until(definitive, within_s=PATIENCE_S)
        order = trader.becomes(answers[-1].json()["id"], "open")
        executions = self.rows(f"SELECT outcome FROM venue_orders WHERE order_id = '{order['id']}'")
        assert executions == [("confirmed",)]
        assert self.rows("SELECT * FROM venue_orders WHERE order_id NOT IN (SELECT id FROM orders)") == []
        return order


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("sqlite")
    with running(folder, BULLION_PRODUCTION="on") as node, LiveMarket.open(node) as market:
        yield Deployment(folder / "var" / "bullion.db", node, market)


@pytest.fixture
def trader(deployment: Deployment) -> LiveTrader:
    return deployment.market.trader()


@pytest.fixture
def key() -> str:
    return f"key-{uuid4().hex}"


@contextlib.contextmanager
def locked(deployment: Deployment) -> Iterator[None]:
    """Somebody at the prompt has begun to write, and has left for lunch."""
    with contextlib.closing(sqlite3.connect(deployment.path, isolation_level=None, timeout=10)) as prompt:
        prompt.execute("BEGIN IMMEDIATE")
        yield
        prompt.execute("ROLLBACK")


def calls(trader: LiveTrader, *keys: str) -> list[httpx.Response]:
    """All at once, each over a connection of its own."""

    def one(key: str) -> httpx.Response:
        with httpx.Client(base_url=trader.http.base_url, headers=trader.http.headers, timeout=60) as http:
            return LiveTrader(http, trader.login_id, {"key_id": trader.key_id, "key": trader.key}).place(key)

    with ThreadPoolExecutor(len(keys)) as callers:
        return list(callers.map(one, keys))


def test_a_store_that_stays_locked_is_busy_and_one_key_sent_thrice_conflicts(
    deployment: Deployment, trader: LiveTrader
) -> None:
    other = deployment.market.trader()
    with locked(deployment), ThreadPoolExecutor(3) as both:
        # Another write of the node waits before them.
        both.submit(deployment.market.desk.post, "/accounts", json={"login_id": "late", "group": "retail"})
        alone = both.submit(calls, trader, "alone")
        thrice = both.submit(calls, other, *["thrice"] * 3)
        told = deployment.told(alone.result()[0], "alone")
        codes = Counter(deployment.told(each, "thrice") for each in thrice.result())
    assert told == "booking_busy"
    assert codes["booking_conflict"] >= 1
    assert codes.keys() <= {"booking_conflict", "booking_busy"}
    # Nobody booked them when the lock was let go.
    until(lambda: trader.place("new").status_code == 201, within_s=PATIENCE_S)
    assert deployment.orders("alone") == deployment.orders("thrice") == []
    deployment.same_key_tells(trader, "alone")
    deployment.same_key_tells(other, "thrice")


def test_a_file_that_was_taken_away_is_unavailable(
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    order = deployment.same_key_tells(trader, "before")
    away = deployment.path.with_name("away.db")
    deployment.path.rename(away)
    try:
        answers = [trader.place(key) for _ in range(3)]
    finally:
        away.rename(deployment.path)
    assert {deployment.told(each, key) for each in answers} == {"booking_unavailable"}
    deployment.same_key_tells(trader, key)
    assert deployment.same_key_tells(trader, "before") == order


def test_a_node_that_cannot_write_is_not_ready(deployment: Deployment, trader: LiveTrader, key: str) -> None:
    node = deployment.node
    before = resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE)
    deployment.same_key_tells(trader, "before the fault")
    with node.api() as api:
        assert api.get("/health/ready").status_code == 200
        resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            assert trader.place(key).status_code == 503
            # A transaction that changes no row succeeds, and must not look like a recovery.
            assert trader.place("before the fault").status_code == 200
            answer = api.get("/health/ready")
            assert (answer.status_code, answer.json()["store"]) == (503, False)
        finally:
            resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, before)
        until(lambda: api.get("/health/ready").status_code == 200, within_s=10)


def test_a_file_that_cannot_grow_has_no_orders_that_were_not_told(
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    """As on a full disk, every write of the node's process fails: the commit, and that of who verifies."""
    before = resource.prlimit(deployment.node.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(deployment.node.process.pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        answers = [trader.place(key) for _ in range(3)]
    finally:
        resource.prlimit(deployment.node.process.pid, resource.RLIMIT_FSIZE, before)
    told = {deployment.told(each, key) for each in answers}
    assert told <= {"booking_outcome_unknown", "booking_unavailable", "booking_not_completed"}
    assert "order" not in told
    assert deployment.orders(key) == []
    deployment.same_key_tells(trader, key)
