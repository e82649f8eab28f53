"""Streams of events through nginx and haproxy, and across nodes that stop: nothing is lost or doubled."""

import contextlib
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.event_streams import StreamReader, streaming
from tests.support.node import Node, own_address, running, until
from tests.support.orders import BASE, Market, Trader, all_at_once
from tests.support.proxies import proxies
from tests.support.servers import NotInstalled, Postgres, Redis, free_port, missing

STREAM = f"{BASE}/events/stream"


class Follower:
    """A client that connects again with the last number it has, whenever its stream ends."""

    def __init__(self, trader: Trader) -> None:
        self.found: list[dict[str, Any]] = []
        self.connected = 0
        self._trader = trader
        self._reader: StreamReader | None = None
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        until(lambda: self.connected == 1, within_s=20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving.set()
        if self._reader is not None:
            self._reader.leave()
        self._thread.join(timeout=30)
        assert not self._thread.is_alive()

    @property
    def numbers(self) -> list[int]:
        return [each["number"] for each in self.found]

    def _run(self) -> None:
        position: dict[str, str] = {}
        while not self._leaving.is_set():
            # A proxy may answer with an error of its own while it learns that a node has gone.
            with (
                contextlib.suppress(httpx.HTTPError, StopIteration, AssertionError),
                streaming(self._trader.http, STREAM, **position) as reader,
            ):
                self._reader = reader
                self.connected += 1
                position = {"Last-Event-ID": reader.last_id or ""}
                while (message := reader.read()) is not None:
                    self.found.append(message.data)
                    position = {"Last-Event-ID": message.id or ""}
            self._leaving.wait(0.2)


@pytest.fixture
def nodes(postgres: Postgres, redis: Redis, schema_template: str, tmp_path: Path) -> Iterator[list[Node]]:
    """Two of one deployment."""
    settings = {
        "BULLION_DATABASE_URL": postgres.new_database(schema_template),
        "BULLION_REDIS_URL": redis.url,
    }
    settings |= {"BULLION_TRUSTED_PROXIES": "127.0.0.1", "BULLION_DRAIN_S": "2"}
    with contextlib.ExitStack() as stack:
        started = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            # A port that stays the node's own while it is away.
            own = {"BULLION_HOST": own_address(), "BULLION_PORT": str(free_port())}
            started.append(stack.enter_context(running(tmp_path / name, **own, **settings)))
        yield started


def open_streams(node: Node) -> float:
    with node.desk() as desk:
        lines = desk.get(f"{node.desk_url}/metrics").text.splitlines()
    (line,) = [each for each in lines if each.startswith('bullion_streams_open{kind="events"}')]
    return float(line.rpartition(" ")[2])


def test_through_nginx_and_haproxy_and_a_node_that_stops(nodes: list[Node]) -> None:
    with contextlib.ExitStack() as stack:
        try:
            urls = stack.enter_context(proxies([urlsplit(node.api_url).netloc for node in nodes]))
        except NotInstalled as error:
            missing(error, "nginx haproxy")
        market = stack.enter_context(Market.open(nodes[0]))
        login_id = market.trader().login_id
        # With four keys: each proxy sends those of an account to one node.
        readers = []
        for url in urls:
            there = replace(nodes[0], api_url=url)
            followed = sum(map(open_streams, nodes))
            for _ in range(2):
                readers.append(stack.enter_context(Follower(market.trader(login_id, node=there))))
            until(lambda so_far=followed: sum(map(open_streams, nodes)) == so_far + 2, within_s=5)
            assert all(open_streams(node) % 2 == 0 for node in nodes)
        first, second = sorted(nodes, key=open_streams, reverse=True)
        trader = market.trader(login_id, node=second)
        # No proxy holds an event back.
        began = time.monotonic()
        trader.buy(1)
        until(lambda: all(len(each.found) == 1 for each in readers), within_s=5)
        assert time.monotonic() - began < 2
        for _ in range(10):
            trader.buy(1)

        began = time.monotonic()
        assert first.stop() == 0
        assert time.monotonic() - began < 5  # Two of them it still answers calls.
        assert not first.entries("calls_aborted")
        for _ in range(10):
            trader.buy(1)
        until(lambda: all(len(each.found) == 21 for each in readers), within_s=30)
        expected = trader.get(f"{BASE}/events", after=0, limit=200)["items"]
        assert len(expected) == 21
        assert all(each.found == expected for each in readers)
        assert sum(each.connected for each in readers) > 4, "those of the first node had to connect again"
        until(lambda: open_streams(second) == 4, within_s=5)
        # A client that leaves the proxy leaves the node.
        readers[0].__exit__(None, None, None)
        until(lambda: open_streams(second) == 3, within_s=10)


@pytest.mark.campaign
def test_a_client_that_does_not_read_is_cut_off_and_misses_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as node, Market.open(node) as market:
        trader = market.trader()
        body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
        all_at_once([trader], [(f"order {number}", body) for number in range(1200)])
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(trader.server)
        lines = [f"GET {STREAM}?after=0 HTTP/1.1", f"Host: {market.host}", f"X-API-Key: {trader.key}"]
        slow.sendall("\r\n".join([*lines, "", ""]).encode())
        until(lambda: open_streams(node) == 1, within_s=5)
        with streaming(trader.http, STREAM) as other:
            trader.buy(1)
            assert other.next().event == "order.created"
        until(lambda: open_streams(node) == 0, within_s=20)
        (entry,) = node.entries("stream_ended")
        assert (entry["why"], entry["key_id"]) == ("slow_reader", trader.key_id)
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while part := slow.recv(65536):
                received += part
        slow.close()
        # Only whole events count.
        last = received.rpartition(b"\n\n")[0].rpartition(b"\nid: ")[2].partition(b"\n")[0].decode()
        assert 0 < int(last) < 1200
        with streaming(trader.http, STREAM, **{"Last-Event-ID": last}) as reader:
            found = [each.data["number"] for each in reader.take(1201 - int(last))]
        assert found == list(range(int(last) + 1, 1202))


def test_a_stop_and_a_restart_do_not_wait_for_streams(tmp_path: Path) -> None:
    with running(tmp_path) as node, Market.open(node) as market:
        trader, other = market.trader(), market.trader()
        with Follower(market.trader(trader.login_id)) as reader, streaming(other.http, STREAM) as idle:
            trader.buy(1)
            until(lambda: len(reader.found) == 1, within_s=5)
            node.process.send_signal(signal.SIGHUP)
            assert idle.rest() == []
            until(lambda: bool(node.entries("restarted")), within_s=30)
            until(lambda: reader.connected == 2, within_s=20)
            trader.buy(1)
            until(lambda: len(reader.found) == 2, within_s=5)
            assert reader.numbers == [1, 2]
            assert not node.entries("calls_aborted")
            with streaming(other.http, STREAM) as idle:
                began = time.monotonic()
                node.process.send_signal(signal.SIGTERM)
                assert idle.rest() == []
                assert time.monotonic() - began < 1
                assert node.process.wait(timeout=30) == 0
                assert time.monotonic() - began < 3
        assert not node.entries("calls_aborted")
