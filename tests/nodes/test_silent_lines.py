"""Connections to PostgreSQL that go silent: open, and nothing gets through. Orders are normal within 5 s."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from tests.support.node import running
from tests.support.orders import Market, Trader
from tests.support.production import LiveMarket
from tests.support.servers import Postgres, Redis
from tests.support.tcp_proxy import TcpProxy, tcp_proxy

NORMAL_WITHIN_S = 5.0
CLIENTS = 3
"""In each environment."""
PAUSE_S = 0.4
WATCHED_S = 2.0
"""For how long orders have to stay normal afterwards."""


@dataclass
class Answer:
    sent_s: float
    answered_s: float
    said: str
    trader: Trader
    key: str


class Clients:
    """Each places one order after the other."""

    def __init__(self, traders: list[Trader]) -> None:
        self._traders = traders
        self._stop = threading.Event()
        self.answers: list[Answer] = []

    @contextmanager
    def calling(self) -> Iterator[None]:
        with ThreadPoolExecutor(len(self._traders)) as pool:
            calling = [pool.submit(self._call, trader) for trader in self._traders]
            try:
                yield
            finally:
                self._stop.set()
            for each in calling:
                each.result()

    def _call(self, trader: Trader) -> None:
        while not self._stop.is_set():
            key, sent_s = str(uuid4()), time.monotonic()
            answer = trader.place(key)
            said = str(answer.status_code) if answer.is_success else answer.json()["detail"]["code"]
            self.answers.append(Answer(sent_s, time.monotonic(), said, trader, key))
            time.sleep(PAUSE_S)

    def not_normal_for_s(self, since_s: float) -> float:
        """From then until the last order that was refused, or made to wait, was answered."""
        late = [
            each.answered_s
            for each in self.answers
            if each.answered_s > since_s and (each.said not in ("201", "202") or _waited(each))
        ]
        return max(late, default=since_s) - since_s

    def check(self) -> None:
        """Whatever each was told: its key leads to one order, and there is no other."""
        for trader in self._traders:
            mine = [each for each in self.answers if each.trader is trader]
            for each in mine:
                if each.said not in ("201", "202"):
                    assert each.said in REFUSALS, each.said
                    assert trader.place(each.key).status_code in (200, 201, 202)
            assert trader.orders(limit=1)["total"] == len(mine)


REFUSALS = {
    "service_unavailable",
    "booking_unavailable",
    "booking_busy",
    "booking_not_completed",
    "booking_outcome_unknown",
    "production_prerequisites_unmet",
    "tradeability_unverified",
}


def _waited(answer: Answer) -> bool:
    return answer.answered_s - answer.sent_s > 2.0


@dataclass
class Case:
    """What happens to the lines, and from when on the 5 s count."""

    lines: int
    happens: Callable[[list[TcpProxy]], float]


def _old_ones_go_silent(lines: list[TcpProxy]) -> float:
    lines[0].silence()
    return time.monotonic()


def _one_host_goes_silent(lines: list[TcpProxy]) -> float:
    lines[0].swallow_new()
    lines[0].silence()
    return time.monotonic()


def _all_is_silent_for_a_while(lines: list[TcpProxy]) -> float:
    _one_host_goes_silent(lines)
    time.sleep(3)  # Long enough for statements and for new connections to be under way.
    lines[0].pass_new()
    return time.monotonic()


CASES = {
    "connections go silent": Case(1, _old_ones_go_silent),
    "the line goes silent and comes back": Case(1, _all_is_silent_for_a_while),
    "one host of two goes silent": Case(2, _one_host_goes_silent),
}


def _through(address: str, lines: list[TcpProxy]) -> str:
    login, _, place = address.rpartition("@")
    hosts = ",".join(f"127.0.0.1:{line.port}" for line in lines)
    return f"{login}@{hosts}/{place.partition('/')[2]}"


def _not_normal_for_s(case: Case, folder: Path, address: str, redis: Redis) -> float:
    port = urlsplit(address).port or 0
    with ExitStack() as stack:
        lines = [stack.enter_context(tcp_proxy(port)) for _ in range(case.lines)]
        settings = {"BULLION_DATABASE_URL": _through(address, lines), "BULLION_REDIS_URL": redis.url}
        node = stack.enter_context(running(folder, BULLION_PRODUCTION="on", **settings))
        markets = [stack.enter_context(kind.open(node)) for kind in (Market, LiveMarket)]
        environments = [Clients([market.trader() for _ in range(CLIENTS)]) for market in markets]
        with ExitStack() as calling:
            for clients in environments:
                calling.enter_context(clients.calling())
            while any(len(clients.answers) < 25 for clients in environments):
                time.sleep(0.05)
            since_s = case.happens(lines)
            time.sleep(max(0.0, since_s + NORMAL_WITHIN_S + WATCHED_S - time.monotonic()))
        for clients in environments:
            assert [each for each in clients.answers if each.sent_s > since_s + NORMAL_WITHIN_S]
            clients.check()
        took_s = [clients.not_normal_for_s(since_s) for clients in environments]
        print(f"\nnot normal for {took_s[0]:.2f} s in the test environment, {took_s[1]:.2f} s in production")
        return max(took_s)


@pytest.mark.parametrize("name", CASES)
def test_orders_are_normal_within_five_seconds(
    name: str, tmp_path: Path, postgres: Postgres, redis: Redis, schema_template: str
) -> None:
    """In both environments. A second try is for a machine that was busy with something else."""

    def took_s() -> float:
        return _not_normal_for_s(CASES[name], tmp_path, postgres.new_database(schema_template), redis)

    tries_s = [took_s()]
    if tries_s[0] > NORMAL_WITHIN_S:
        tries_s.append(took_s())
    assert min(tries_s) <= NORMAL_WITHIN_S, tries_s
