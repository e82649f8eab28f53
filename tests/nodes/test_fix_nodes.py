"""Two nodes share a FIX line: one holds it, and the other takes it over when the holder dies or freezes.

The venue executes a doubled id, so an order that is sent twice is seen. `TEST_SCALE` above 1, as in
a campaign, does it several times under more load, and freezes the holder for 30 seconds.
"""

import itertools
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, Self
from uuid import uuid4

import httpx
import pytest

from bullion.hedge.fix.lease import LEASE_S
from tests.support.fix_node import Acceptor, fix_market, fix_settings, market_file
from tests.support.node import Node, start, until
from tests.support.orders import refused
from tests.support.production import LiveMarket, LiveTrader, opened, store_says
from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis

CAMPAIGN = SCALE > 1
TIMES = range(3 if CAMPAIGN else 1)
FROZEN_S = 30 if CAMPAIGN else 0
"""How long a process stays stopped, at least: in any case until another one has the line."""
PROGRAMS, PAUSE_S = (4, 0.02) if CAMPAIGN else (2, 0.2)
"""At each node, and how long each waits after an answer."""
PATIENCE_S = 60.0


class Placed(NamedTuple):
    key: str
    at: float
    """When it was answered, or failed."""
    answer: httpx.Response | None


class Load:
    """Programs that place orders at each node, one after the other, until the end of the block."""

    def __init__(self, *traders: LiveTrader) -> None:
        self._ended = threading.Event()
        self.placed: list[list[Placed]] = [[] for _ in traders]
        """By node."""
        self._threads = [
            threading.Thread(target=self._place, args=(trader, placed))
            for trader, placed in zip(traders, self.placed, strict=True)
            for _ in range(PROGRAMS)
        ]

    def __enter__(self) -> Self:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for each in self._threads:
            each.join()

    def _place(self, trader: LiveTrader, placed: list[Placed]) -> None:
        while not self._ended.is_set():
            self._ended.wait(PAUSE_S)
            key, answer = str(uuid4()), None
            try:
                answer = trader.place(key)
            except httpx.ConnectError:
                continue  # Nothing was sent.
            except httpx.TransportError:
                pass
            placed.append(Placed(key, time.monotonic(), answer))

    def opened_at(self, node: int) -> list[float]:
        return sorted(each.at for each in self.placed[node] if said(each) == 201)

    def becomes_steady(self, node: int) -> None:
        """Until that node has opened some more orders."""
        before = len(self.opened_at(node))
        until(lambda: len(self.opened_at(node)) > before + 3, within_s=PATIENCE_S)

    def gap_s(self, node: int) -> float:
        """The longest time in which that node opened no order."""
        return max(later - earlier for earlier, later in itertools.pairwise(self.opened_at(node)))

    def all(self) -> list[Placed]:
        return [each for placed in self.placed for each in placed]


def said(placed: Placed) -> int | None:
    return None if placed.answer is None else placed.answer.status_code


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

    def require_each_executed_as_confirmed(self, load: Load, what: str) -> None:
        """Wait until every order is final. Each open one was executed once, and no other one was.

        What an answer said holds: an order that it opened is open, and one that it took is known. A call
        without an answer is repeated: its order is one of those, or is placed now.
        """
        began = time.monotonic()
        answers = [each.answer for each in load.all() if each.answer is not None]
        trader = self.trader(self.holder)
        unanswered = [each.key for each in load.all() if each.answer is None]
        answers += [trader.place(key) for key in unanswered]
        until(lambda: "pending" not in self.orders().values(), within_s=PATIENCE_S)
        final_s = time.monotonic() - began
        orders = self.orders()
        assert {answer.status_code for answer in answers} <= {200, 201, 202, 503}
        taken = {answer.json()["id"]: answer for answer in answers if answer.status_code != 503}
        assert taken.keys() <= orders.keys(), "an order is lost"
        opened = {orders[each] for each, answer in taken.items() if answer.json()["status"] == "open"}
        assert opened <= {"open"}
        assert set(orders.values()) <= {"open", "rejected"}
        assert self.venue.counts() == {order_id: 1 for order_id, status in orders.items() if status == "open"}
        counts = Counter(answer.status_code for answer in answers)
        print(
            f"{what}: answers {dict(counts)}, {len(unanswered)} calls repeated, final after {final_s:.1f} s"
        )

    def held_by(self) -> Any:
        """Who holds the line, as the desk is told."""
        (line,) = self.desk_call(self.other, "GET", "/hedge/lines")["items"]
        return line["held_by"]


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


def test_an_order_goes_by_way_of_the_holder(stage: Stage) -> None:
    order = opened(stage.trader(stage.other).place())
    assert stage.venue.counts()[order["id"]] == 1
    assert stage.holder.entries("line_taken")
    assert not stage.other.entries("line_taken")


@pytest.mark.parametrize("turn", TIMES)
def test_the_other_node_takes_the_line_of_a_killed_one(stage: Stage, turn: int) -> None:
    holder, other = stage.holder, stage.other
    with Load(stage.trader(holder), stage.trader(other)) as load:
        load.becomes_steady(1)
        holder.process.kill()
        until(lambda: other.entries("line_taken"), within_s=PATIENCE_S)
        load.becomes_steady(1)
    stage.holder, stage.other = other, stage.start()
    assert LEASE_S / 2 < load.gap_s(1) < PATIENCE_S
    what = f"killed, time {turn + 1}: no order was opened for {load.gap_s(1):.1f} s"
    stage.require_each_executed_as_confirmed(load, what)


@pytest.mark.parametrize("turn", TIMES)
def test_the_other_node_takes_the_line_of_a_frozen_one(stage: Stage, turn: int) -> None:
    holder, other = stage.holder, stage.other
    taken = len(other.entries("line_taken"))
    with Load(stage.trader(holder), stage.trader(other)) as load:
        load.becomes_steady(1)
        holder.process.send_signal(signal.SIGSTOP)
        frozen_at = time.monotonic()
        try:
            until(lambda: len(other.entries("line_taken")) > taken, within_s=PATIENCE_S + LEASE_S)
            load.becomes_steady(1)
            assert stage.held_by().endswith(f":{other.settings['BULLION_PORT']}")
            until(lambda: time.monotonic() - frozen_at >= FROZEN_S, within_s=FROZEN_S + PATIENCE_S)
        finally:
            holder.process.send_signal(signal.SIGCONT)
        thawed_s = time.monotonic() - frozen_at
        load.becomes_steady(0)
        load.becomes_steady(1)
    assert len(other.entries("line_taken")) == taken + 1, "the first node did not take the line back"
    stage.holder, stage.other = other, holder
    what = f"frozen for {thawed_s:.1f} s, time {turn + 1}: no order was opened for {load.gap_s(1):.1f} s"
    stage.require_each_executed_as_confirmed(load, what)


def test_the_other_node_takes_the_line_of_one_that_stops_at_once(stage: Stage) -> None:
    """It waits for no lease: the holder logs out, gives the lease back and hangs up."""
    holder, other = stage.holder, stage.other
    taken = len(other.entries("line_taken"))
    with Load(stage.trader(other)) as load:
        load.becomes_steady(0)
        assert holder.stop() == 0
        until(lambda: len(other.entries("line_taken")) > taken, within_s=PATIENCE_S)
        load.becomes_steady(0)
    assert load.gap_s(0) < LEASE_S / 2, "the lease was not waited for"
    stage.holder = other
    stage.require_each_executed_as_confirmed(load, f"stopped: none was opened for {load.gap_s(0):.1f} s")
