"""What streams of events cost: orders while a hundred are open, idle ones, and how soon an event is there."""

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit
from uuid import uuid4

import httpx

from tests.support.node import Node, running

from .calls import BASE, orders
from .cpu import cpu_time
from .extent import Extent
from .faults import CallFailed
from .figures import server_us
from .load import Generator, Job, Outcome, running_generator
from .market import await_tradable, open_market
from .probes import Servers
from .processes import memory_bytes
from .ratio import RatioResult, at_least, at_most
from .service import running_service
from .spread import Spread
from .stream_clients import StreamClients, stream_clients

_WITH_ORDERS = 100
_LISTENERS = 500
_PER_KEY = 30
"""As many as a key may open in a minute."""
_LOGINS = 20
_LONGER = 3
"""Times a round of the other calls."""
_REST_S = 0.4
"""Between two events: those of a busy account are sent together."""
_LOOK_S = 20.0
"""Longer than a heartbeat takes to come round."""
_MB = 1e6


def measure_streams(extent: Extent, servers: Servers | None, say: Callable[[str], None]) -> list[RatioResult]:
    settings = _settings(servers)
    found: list[RatioResult] = []
    with running_generator() as generator:
        found += _orders_with_streams(extent, settings(), generator, say)
    with _node(extent, settings()) as (node, keys, own_keys):
        found += _idle(extent, node, keys, say)
        found += _arrivals(extent, node, own_keys, say)
    return found


def _settings(servers: Servers | None) -> Callable[[], dict[str, str]]:
    """A new store for each service."""
    if servers is None:
        return dict
    postgres, redis = servers
    return lambda: {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": redis.url}


# --- Orders ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Trading:
    job: Job
    generator: Generator
    clients: StreamClients
    listening: tuple[str, ...]

    def alone(self) -> Outcome:
        outcome = self.generator.measure(self.job)
        if outcome.errors:
            raise CallFailed(f"Orders beside streams failed: {outcome.errors}.")
        return outcome

    def listened_to(self) -> Outcome:
        self.clients.open(self.listening)
        try:
            outcome = self.alone()
            if not self.clients.events:
                raise CallFailed("No stream had an event.")
            return outcome
        finally:
            self.clients.close()


def _orders_with_streams(
    extent: Extent, settings: dict[str, str], generator: Generator, say: Callable[[str], None]
) -> Iterator[RatioResult]:
    with (
        running_service("bullion", extent.clients, live=False, book=False, **settings) as service,
        stream_clients(service.endpoint.port) as clients,
    ):
        job = Job(
            port=service.endpoint.port,
            requests=orders(service.keys),
            connections=max(extent.connections),
            warm_up_s=extent.warm_up_s * _LONGER,
            seconds=extent.seconds * _LONGER,
            server_pids=service.endpoint.pids,
        )
        most = min(_WITH_ORDERS, len(service.keys) * 5)
        listening = tuple(service.keys[number % len(service.keys)] for number in range(most))
        trading = _Trading(job, generator, clients, listening)
        trading.alone()
        rounds, by_time = [], []
        for number in range(1, extent.rounds + 1):
            turns = (trading.alone, trading.listened_to)
            first, second = (turn() for turn in (turns if number % 2 else turns[::-1]))
            alone, heard = (first, second) if number % 2 else (second, first)
            rounds.append(heard.requests_per_s / alone.requests_per_s)
            alone_us, heard_us = server_us(alone), server_us(heard)
            by_time += [alone_us / heard_us] if alone_us and heard_us else []
            told = f"orders beside {most} streams: {rounds[-1]:.2f} of without"
            say(f"round {number} of {extent.rounds}, {told}")
    yield RatioResult(
        "orders_with_events_vs_without",
        Spread.of(rounds),
        f"orders with {most} streams of their events ÷ with none, calls/s at {job.connections} connections",
        at_least(0.9),
        Spread.of(by_time) if by_time else None,
    )


# --- Idle streams, and one event for many ---------------------------------------------------------------


@contextlib.contextmanager
def _node(extent: Extent, settings: dict[str, str]) -> Iterator[tuple[Node, list[str], list[str]]]:
    """A node, a key for each idle stream, and keys of one account for those that wait for its events."""
    settings |= {"BULLION_STREAMS_PER_KEY": str(_PER_KEY), "BULLION_CONNECTIONS_PER_ADDRESS": "10000"}
    with (
        tempfile.TemporaryDirectory(prefix="bullion-bench-") as folder,
        running(Path(folder), **settings) as node,
    ):
        with node.desk() as desk:
            open_market(desk)
            logins = [f"bench{number}" for number in range(min(_LOGINS, extent.streams))]
            for login_id in logins:
                desk.account(login_id, allocation={"gold": "100000000"})
            idle = [
                desk.key(logins[each % len(logins)])["key"] for each in range(-(-extent.streams // _PER_KEY))
            ]
            listeners = min(_LISTENERS, extent.streams)
            own = [desk.key(logins[0])["key"] for _ in range(-(-listeners // _PER_KEY))]
        await_tradable(node.api_url, BASE, own[0])
        yield node, _spread(idle, extent.streams), _spread(own, listeners)


def _spread(keys: list[str], number: int) -> list[str]:
    return [keys[each % len(keys)] for each in range(number)]


def _port(node: Node) -> int:
    port = urlsplit(node.api_url).port
    assert port is not None
    return port


def _idle(extent: Extent, node: Node, keys: list[str], say: Callable[[str], None]) -> Iterator[RatioResult]:
    pid = node.process.pid
    seconds = min(_LOOK_S, extent.seconds * 40)
    with stream_clients(_port(node)) as clients:
        clients.open(keys[:_PER_KEY])
        clients.close()
        time.sleep(extent.seconds)
        before, without = memory_bytes(pid), _core_share(pid, seconds)
        clients.open(keys[_PER_KEY:])
        time.sleep(extent.seconds)
        open_share = _core_share(pid, seconds)
        after = memory_bytes(pid)
    if before is None or after is None or without is None or open_share is None:
        return
    number = len(keys) - _PER_KEY
    megabytes, share = (after["pss"] - before["pss"]) / _MB, open_share - without
    say(f"{number:,} idle streams: {megabytes:.1f} MB, {share:.1%} of a core")
    memory = f"MB more with {number:,} idle streams than without"
    yield RatioResult("idle_streams_mb", Spread.of([max(megabytes, 0.01)]), memory, at_most(100))
    core = f"cores more with {number:,} idle streams than without"
    yield RatioResult("idle_streams_cores", Spread.of([max(share, 0.001)]), core, at_most(0.02))


def _core_share(pid: int, seconds: float) -> float | None:
    before = cpu_time((pid,))
    time.sleep(seconds)
    after = cpu_time((pid,))
    return None if before is None or after is None else after.since(before).ran_ns / 1e9 / seconds


def _arrivals(
    extent: Extent, node: Node, keys: list[str], say: Callable[[str], None]
) -> Iterator[RatioResult]:
    """From the moment in which the order is sent."""
    rounds = []
    headers = {"X-API-Key": keys[0]}
    with (
        stream_clients(_port(node)) as clients,
        httpx.Client(base_url=f"{node.api_url}{BASE}", headers=headers) as http,
    ):
        clients.open(keys)
        for number in range(1, extent.rounds + 2):
            time.sleep(_REST_S)
            body = {"symbol_code": "GOLD", "trade_type": "buy" if number % 2 else "sell", "quantity": 1}
            sent_at_s = time.perf_counter()
            http.post("/orders", json=body, headers={"Idempotency-Key": str(uuid4())}).raise_for_status()
            came = clients.await_events(number)
            if number > 1:  # The first call opens the connection.
                rounds.append(1000 * median(at_s - sent_at_s for at_s in came))
    say(f"an event at {len(keys)} streams: {median(rounds):.0f} ms")
    told = f"ms from sending an order to its event at half of {len(keys)} streams"
    yield RatioResult("event_to_500_streams_ms", Spread.of(rounds), told, at_most(250))
