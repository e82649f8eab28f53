"""Two nodes share a FIX line: one holds it, and the other takes it over when the holder dies or freezes.

The venue executes a doubled id, so an order that is sent twice is seen. `BULLION_TEST_SCALE` multiplies the
number of orders.
"""

import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from bullion.hedge.fix.lease import LEASE_S
from tests.support.fix_node import Acceptor, fix_market, fix_settings, market_file
from tests.support.node import Node, start, until
from tests.support.orders import refused
from tests.support.production import LiveMarket, LiveTrader, opened, store_says
from tests.support.servers import Postgres, Redis

SCALE = int(os.environ.get("BULLION_TEST_SCALE", "1"))
ORDERS = 24 * SCALE
STOPPED_S = 30 if SCALE > 1 else 0
"""How long a process stays stopped, at least: in any case until another one has the line."""
AT_ONCE = 6
PATIENCE_S = 60.0


class Stage:
    def __init__(self, folder: Path, settings: dict[str, str], venue: Acceptor, ends: ExitStack) -> None:
        self._folder = folder
        self._settings = settings
        self._ends = ends
        self.venue = venue
        self.holder = self.start()
        self.market: LiveMarket = ends.enter_context(fix_market(self.holder))
        self.other = self.start()
        self._client = self.market.trader()

    def start(self) -> Node:
        node = start(self._folder, **self._settings)
        self._ends.callback(node.stop, signal.SIGKILL)
        return node

    def trader(self, node: Node) -> LiveTrader:
        """A program of the one client, at that node, once it trades."""
        issued = {"key_id": self._client.key_id, "key": self._client.key}
        trader = self.market.at_work(self._client.login_id, issued, node=node)
        until(lambda: trader.http.get("/api/trading/v1/me").status_code == 200, within_s=PATIENCE_S)
        until(lambda: trader.quote()["reason"] is None, within_s=PATIENCE_S)
        return trader

    def desk_call(self, node: Node, method: str, path: str, body: object = None) -> Any:
        """By the broker's admin, at that node."""
        token = self.market.desk.headers["Authorization"].removeprefix("Bearer ")
        with node.desk(token) as desk:
            return desk.do(method, path, body)

    def orders(self) -> dict[str, str]:
        """The status of every order in the store."""
        return dict(store_says(self.holder, "SELECT id, status FROM orders"))  # type: ignore[arg-type]

    def require_each_executed_as_confirmed(self, answers: Sequence[httpx.Response]) -> None:
        """Wait until every order is final. Each open one was executed once, and no other one was.

        What an answer said holds: an order that it opened is open, and one that it took is known.
        """
        until(lambda: "pending" not in self.orders().values(), within_s=PATIENCE_S)
        orders = self.orders()
        assert {answer.status_code for answer in answers} <= {201, 202, 503}
        assert {orders[answer.json()["id"]] for answer in answers if answer.status_code == 201} == {"open"}
        assert all(answer.json()["id"] in orders for answer in answers if answer.status_code == 202)
        assert set(orders.values()) <= {"open", "rejected"}
        assert self.venue.counts() == {order_id: 1 for order_id, status in orders.items() if status == "open"}


@pytest.fixture(scope="module")
def stage(
    tmp_path_factory: pytest.TempPathFactory, postgres: Postgres, redis: Redis, schema_template: str
) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("fix")
    address = postgres.new_database(schema_template)
    with Acceptor(folder) as venue, ExitStack() as ends:
        ends.callback(postgres.drop, address)
        venue.start("--accept-doubles")
        market = market_file(
            folder, venue.port, refuses_doubles="false", rate="{ count = 500 }", unknown_after_s="2.5"
        )
        settings = fix_settings(market) | {"BULLION_DATABASE_URL": address, "BULLION_REDIS_URL": redis.url}
        yield Stage(folder, settings, venue, ends)


def load(pool: ThreadPoolExecutor, traders: Sequence[LiveTrader]) -> list[Future[httpx.Response]]:
    """Orders at all traders in turn. Some calls may fail."""
    return [pool.submit(traders[number % len(traders)].place, str(uuid4())) for number in range(ORDERS)]


def answers_of(calls: Sequence[Future[httpx.Response]]) -> list[httpx.Response]:
    return [each.result() for each in calls if each.exception() is None]


def answered(calls: Sequence[Future[httpx.Response]]) -> int:
    return sum(1 for each in calls if each.done() and each.exception() is None)


def test_a_wish_reaches_the_holder_from_any_node(stage: Stage) -> None:
    """And a node that does not hold the line counts the venue as unreachable, too."""

    def state() -> str:
        (line,) = stage.desk_call(stage.other, "GET", "/hedge/lines")["items"]
        return str(line["state"])

    trader = stage.trader(stage.other)
    stage.desk_call(stage.other, "POST", "/hedge/lines/spot/disconnect", {"reason": "a trial"})
    until(lambda: state() == "disconnected", within_s=PATIENCE_S)
    until(lambda: trader.quote()["reason"] == "production_prerequisites_unmet", within_s=PATIENCE_S)
    refused(trader.place(), "production_prerequisites_unmet")
    logons = len(stage.holder.entries("line_logged_on"))
    stage.desk_call(stage.other, "POST", "/hedge/lines/spot/connect", {"reason": "the end of it"})
    until(lambda: state() == "up", within_s=PATIENCE_S)
    until(lambda: trader.quote()["reason"] is None, within_s=PATIENCE_S)
    opened(trader.place())
    until(lambda: len(stage.holder.entries("line_logged_on")) > logons, within_s=PATIENCE_S)
    assert not stage.other.entries("line_taken")


def test_the_other_node_takes_the_line_of_a_killed_one(stage: Stage) -> None:
    holder, other = stage.holder, stage.other
    traders = [stage.trader(holder), stage.trader(other)]
    order = opened(traders[1].place())
    assert stage.venue.counts()[order["id"]] == 1
    assert holder.entries("line_taken")
    assert not other.entries("line_taken"), "the order went by way of the holder"
    with ThreadPoolExecutor(AT_ONCE) as pool:
        calls = load(pool, traders)
        until(lambda: answered(calls) >= ORDERS // 4, within_s=PATIENCE_S)
        holder.process.kill()
        wait(calls)
    until(lambda: other.entries("line_taken"), within_s=PATIENCE_S)
    stage.holder, stage.other = other, stage.start()
    opened(stage.trader(stage.holder).place())
    stage.require_each_executed_as_confirmed(answers_of(calls))


def test_the_other_node_takes_the_line_of_a_frozen_one(stage: Stage) -> None:
    holder, other = stage.holder, stage.other
    traders = [stage.trader(holder), stage.trader(other)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        calls = load(pool, traders)
        until(lambda: answered(calls) >= ORDERS // 4, within_s=PATIENCE_S)
        holder.process.send_signal(signal.SIGSTOP)
        stopped_at = time.monotonic()
        try:
            until(lambda: other.entries("line_taken"), within_s=PATIENCE_S + LEASE_S)
            opened(stage.trader(other).place())
            until(lambda: time.monotonic() - stopped_at >= STOPPED_S, within_s=STOPPED_S + PATIENCE_S)
        finally:
            holder.process.send_signal(signal.SIGCONT)
        wait(calls)
    opened(stage.trader(holder).place())
    assert len(other.entries("line_taken")) == 1
    stage.holder, stage.other = other, holder
    stage.require_each_executed_as_confirmed(answers_of(calls))


def test_the_other_node_takes_the_line_of_one_that_stops_at_once(stage: Stage) -> None:
    """It waits for no lease: the holder logs out, gives the lease back and hangs up."""
    holder, other = stage.holder, stage.other
    trader = stage.trader(other)
    answers: list[tuple[float, httpx.Response]] = []
    ended = threading.Event()

    def trade() -> None:
        while not ended.is_set():
            answer = trader.place(str(uuid4()))
            answers.append((time.monotonic(), answer))

    def opened_at() -> list[float]:
        return [at for at, answer in answers if answer.status_code == 201]

    thread = threading.Thread(target=trade)
    taken = len(other.entries("line_taken"))
    thread.start()
    try:
        until(lambda: len(opened_at()) > 3, within_s=PATIENCE_S)
        assert holder.stop() == 0
        until(lambda: len(other.entries("line_taken")) > taken, within_s=PATIENCE_S)
        before = len(opened_at())
        until(lambda: len(opened_at()) > before + 3, within_s=PATIENCE_S)
    finally:
        ended.set()
        thread.join()
    gap_s = max(later - earlier for earlier, later in itertools.pairwise(opened_at()))
    assert gap_s < LEASE_S / 2, "the lease was not waited for"
    stage.require_each_executed_as_confirmed([answer for _, answer in answers])
