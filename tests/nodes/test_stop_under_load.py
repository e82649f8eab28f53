"""SIGTERM and SIGHUP while plain clients call: no call is lost, no connection reset."""

import asyncio
import contextlib
import random
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from tests.support.latency import latency_proxy
from tests.support.node import Node, running, until
from tests.support.orders import ORDERS, Market, Trader
from tests.support.scale import SCALE
from tests.support.stacks import stack

from .crowd import Connection
from .plain_client import REFUSED, PlainClients, place

_DELAY_S = 0.05
_IDLE_CONNECTIONS = 120 if SCALE == 1 else 300
_CLIENTS = 12 if SCALE == 1 else 24
_PAUSE_S = 0.06 if SCALE == 1 else 0.01
"""Between the calls of each client."""
_SERVED_MIN = 20
"""Calls before or during a stop that are served."""
_SENDING_S = 0.6
"""From shortly before the signal."""
_CLOSED_BEFORE = "closed before the order was sent"
_RELOAD_WAIT_S = 5.0
"""The longest that an order may wait for a reload on SQLite."""

_ORDER = b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}'
_LAST_BYTE = _ORDER[-1:]


@pytest.fixture(params=["sqlite", "postgres with 2 workers"])
def settings(request: pytest.FixtureRequest) -> dict[str, str]:
    name, _, more = request.param.partition(" ")
    return {"BULLION_WORKERS": "2" if more else "1", **stack(name, request)}


def test_a_stop_loses_no_order_that_was_sent_on_an_idle_connection(
    settings: dict[str, str], tmp_path: Path
) -> None:
    with running(tmp_path, **settings) as node, Market.open(node) as market:
        traders = [market.trader() for _ in range(5)]
        outcomes = asyncio.run(_stop_among_idle_connections(node, traders))
        until(lambda: node.process.poll() is not None, within_s=20)
    assert outcomes["201"]
    assert outcomes.keys() <= {"201", _CLOSED_BEFORE}, outcomes
    assert node.process.returncode == 0


async def _stop_among_idle_connections(node: Node, traders: list[Trader]) -> Counter[str]:
    url = urlsplit(node.api_url)
    dice = random.Random(1)  # noqa: S311
    async with (
        latency_proxy(url.hostname or "", url.port or 0, _DELAY_S) as port,
        contextlib.AsyncExitStack() as opened,
    ):
        connections = []
        for _ in range(_IDLE_CONNECTIONS):
            connection = await opened.enter_async_context(Connection.to(f"http://127.0.0.1:{port}"))
            connections.append(connection)
        users = [traders[number % len(traders)] for number in range(_IDLE_CONNECTIONS)]
        first = await asyncio.gather(*map(place, connections, users))
        assert set(first) == {"201"}
        await asyncio.sleep(1.5)  # They have not been busy lately.

        async def send(connection: Connection, trader: Trader) -> str:
            await asyncio.sleep(dice.uniform(0, _SENDING_S))
            if not connection.usable:
                return _CLOSED_BEFORE
            try:
                return await place(connection, trader)
            except (OSError, EOFError) as error:
                return f"lost: {error!r}"

        sending = [asyncio.create_task(send(*each)) for each in zip(connections, users, strict=True)]
        await asyncio.sleep(_DELAY_S)
        node.process.send_signal(signal.SIGTERM)
        return Counter(await asyncio.gather(*sending))


@pytest.mark.parametrize("drain_s", ["0", "1"])
def test_a_stop_serves_or_refuses_every_new_connection(
    settings: dict[str, str], tmp_path: Path, drain_s: str
) -> None:
    with running(tmp_path, BULLION_DRAIN_S=drain_s, **settings) as node, Market.open(node) as market:
        traders = [market.trader() for _ in range(5)]
        clients = PlainClients(node.api_url, traders, number=_CLIENTS, pause_s=_PAUSE_S)
        asyncio.run(_stop_while_they_call(node, clients))
    assert clients.outcomes.keys() == {"201", REFUSED}
    assert clients.outcomes["201"] >= _SERVED_MIN
    assert len(node.entries("draining")) == int(drain_s) * int(settings["BULLION_WORKERS"])
    assert node.process.returncode == 0
    assert not node.entries("calls_aborted")


async def _stop_while_they_call(node: Node, clients: PlainClients) -> None:
    async with clients.calling():
        await asyncio.sleep(0.5)
        node.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            # It runs in a thread, so that the clients go on.
            await asyncio.to_thread(until, lambda: node.process.poll() is not None, 30)


def test_a_stop_refuses_new_connections_while_calls_are_under_way(
    settings: dict[str, str], tmp_path: Path
) -> None:
    with running(tmp_path, **settings) as node:
        with Market.open(node) as market, _slow_order(node, market.trader()) as slow:
            node.process.send_signal(signal.SIGTERM)
            until(lambda: _refuses(node), within_s=10)
            assert node.process.poll() is None
            slow.sendall(_LAST_BYTE)
            head = _read_all(slow).partition(b"\r\n\r\n")[0]
        assert head.startswith(b"HTTP/1.1 201 ")
        assert b"connection: close" in head
        until(lambda: node.process.poll() is not None, within_s=20)
    assert node.process.returncode == 0


def test_a_reload_on_sqlite_does_not_wait_for_a_slow_client(tmp_path: Path) -> None:
    """A client has ten seconds to send a body. Orders wait for a reload, but not that long."""
    with running(tmp_path) as node, Market.open(node) as market:
        traders = [market.trader() for _ in range(2)]
        with _slow_order(node, traders[0]):
            longest_s = [_reload(node, traders, times=1)]
        if longest_s[0] > _RELOAD_WAIT_S:  # The machine may have paused.
            with _slow_order(node, traders[0]):
                longest_s.append(_reload(node, traders, times=2))
    assert min(longest_s) < _RELOAD_WAIT_S, longest_s


def test_a_stop_during_a_reload_serves_who_waits_and_ends(tmp_path: Path) -> None:
    """On SQLite, where callers wait between two nodes."""
    with running(tmp_path) as node, Market.open(node) as market, _slow_order(node, market.trader()):
        node.process.send_signal(signal.SIGHUP)
        until(lambda: node.entries("stopping"), within_s=30)
        with _connect(node) as waiting:
            waiting.sendall(b"GET /health/live HTTP/1.1\r\nHost: t\r\n\r\n")
            node.process.send_signal(signal.SIGTERM)
            assert _read_all(waiting).endswith(b'{"live":true}')
        until(lambda: node.process.poll() is not None, within_s=20)
    assert node.process.returncode == 0


@contextlib.contextmanager
def _slow_order(node: Node, trader: Trader) -> Iterator[socket.socket]:
    """An order whose last byte is not sent yet."""
    lines = [
        f"POST {ORDERS} HTTP/1.1",
        f"Host: {trader.http.headers['host']}",
        f"X-API-Key: {trader.key}",
        "Content-Type: application/json",
        f"Idempotency-Key: {uuid4()}",
        f"Content-Length: {len(_ORDER)}",
    ]
    with _connect(node) as slow:
        slow.sendall(b"GET /health/live HTTP/1.1\r\nHost: t\r\n\r\n")
        assert slow.recv(1 << 16).startswith(b"HTTP/1.1 200 ")  # It is accepted.
        slow.sendall("\r\n".join([*lines, "", ""]).encode() + _ORDER[:-1])
        yield slow


def _connect(node: Node) -> socket.socket:
    url = urlsplit(node.api_url)
    return socket.create_connection((url.hostname or "", url.port or 0), timeout=20)


def _refuses(node: Node) -> bool:
    try:
        _connect(node).close()
    except ConnectionRefusedError:
        return True
    return False


def _read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


@pytest.mark.parametrize("settings", ["sqlite", "postgres", "postgres with 2 workers"], indirect=True)
def test_a_reload_fails_no_call(settings: dict[str, str], tmp_path: Path) -> None:
    with running(tmp_path, **settings) as node, Market.open(node) as market:
        traders = [market.trader() for _ in range(5)]
        longest_s = [_reload(node, traders, times=1)]
        if "BULLION_DATABASE_URL" not in settings:
            # Now there is a watcher. And the machine may have paused the first time.
            longest_s.append(_reload(node, traders, times=2))
    assert min(longest_s) < _RELOAD_WAIT_S, longest_s


def _reload(node: Node, traders: list[Trader], times: int) -> float:
    # Few calls: the processes that start meanwhile need most of a small machine.
    clients = PlainClients(node.api_url, traders, number=6, pause_s=0.2 if SCALE == 1 else 0.05)
    asyncio.run(_reload_while_they_call(node, clients, times))
    assert clients.outcomes.keys() == {"201"}, clients.outcomes
    return clients.longest_s


async def _reload_while_they_call(node: Node, clients: PlainClients, times: int) -> None:
    async with clients.calling():
        await asyncio.sleep(0.3)
        node.process.send_signal(signal.SIGHUP)
        await asyncio.to_thread(until, lambda: len(node.entries("restarted")) == times, 60)
        await asyncio.sleep(0.3)
