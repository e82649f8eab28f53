"""Streams when nodes die and come back, and through a real nginx that buffers them."""

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bullion_client import AsyncClient, Client, event_feed
from tests.client.fixtures import Deployment
from tests.client.test_event_calls import Reader
from tests.support.node import DESK_TOKEN, Node, own_address, start
from tests.support.orders import GOLD
from tests.support.servers import NotInstalled, find, free_port, missing, wait_for_port

Kind = type[Client | AsyncClient]

NGINX = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/log;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass {to};
            proxy_http_version 1.1;
            proxy_buffering on;
            proxy_buffers 8 64k;
            proxy_ignore_headers X-Accel-Buffering;
        }}
    }}
}}
"""


@contextmanager
def buffering_nginx(folder: Path, to: str) -> Iterator[str]:
    """An nginx that was not told about streams: it keeps what it gets until it has a lot, or all."""
    port = free_port()
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, to=to), "utf-8")
    try:
        program = find("nginx")
    except NotInstalled as error:
        missing(error, "nginx")
    with subprocess.Popen([program, "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL) as process:
        try:
            wait_for_port(port, "nginx")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def test_a_proxy_that_buffers_is_noticed_and_the_list_is_read(
    kind: Kind, deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_feed, "FIRST_BYTES_S", 0.4)
    key = deployment.key(deployment.account())
    with buffering_nginx(tmp_path, deployment.url) as url, Client(deployment.url, key) as trader:
        reader = Reader(kind, url, key)
        numbers = reader.stream(count=3, then=lambda: [trader.buy("GOLD", 5) for _ in range(3)])
        assert numbers == [1, 2, 3]
        assert reader.client._event_support.stream_again_at > 0
        reader.close()


@contextmanager
def mortal_node(folder: Path) -> Iterator["MortalNode"]:
    node = MortalNode(folder)
    try:
        yield node
    finally:
        node.node.stop(signal.SIGKILL)


class MortalNode:
    """A node that comes back at the same address, with the same store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # An address that nobody else uses, so that nobody takes the port while the node is away.
        self._settings = {"BULLION_HOST": own_address(), "BULLION_PORT": str(free_port())}
        self.node: Node = start(folder, **self._settings)

    def restart(self, number: signal.Signals) -> None:
        self.node.stop(number)
        self.node = start(self._folder, **self._settings)


def test_a_node_that_is_killed_and_stopped_while_it_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two readers and a trader go on through it; all end with the same events."""
    monkeypatch.setattr("bullion_client.retry._LONGEST_PAUSE_S", 0.2)
    orders = 24
    ends = {7: signal.SIGKILL, 15: signal.SIGTERM}
    with mortal_node(tmp_path) as mortal:
        with mortal.node.desk(DESK_TOKEN) as desk:
            desk.add_group()
            desk.account("asha", allocation={"gold": "1000000", "silver": "0"})
            desk.do("PUT", "/symbols/GOLD", GOLD)
            key = desk.key("asha")["key"]
        url = mortal.node.api_url
        readers = [Reader(kind, url, key, timeout=5) for kind in (Client, AsyncClient)]
        read: list[list[int]] = []
        threads = [
            threading.Thread(target=lambda reader=reader: read.append(reader.stream(0, count=orders)))
            for reader in readers
        ]
        for thread in threads:
            thread.start()
        with Client(url, key, timeout=5) as trader:
            for number in range(orders):
                trader.buy("GOLD", 5)
                if number in ends:
                    mortal.restart(ends[number])
            for thread in threads:
                thread.join(60)
            assert read == [list(range(1, orders + 1))] * 2
            assert [event.number for event in trader.events()] == read[0]
        for reader in readers:
            reader.close()
