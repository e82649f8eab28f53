"""Connections of one address to a real service. The store has no part in it, so one stack shows it."""

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.node import own_address, running, until

LIVE = b"GET /health/live HTTP/1.1\r\nHost: t\r\n\r\n"
MOST = 5
PROXY = "127.99.0.1"


def connect(url: str, address: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), 20, source_address=(address, 0))


def answers(connection: socket.socket) -> bool:
    """Whether it is answered; False: the service closed it without a word."""
    try:
        connection.sendall(LIVE)
        said = connection.recv(4096)
    except ConnectionError:
        return False
    assert not said or said.startswith(b"HTTP/1.1 200 OK\r\n")
    return bool(said)


def open_ones(url: str, address: str) -> list[socket.socket]:
    found = [connect(url, address) for _ in range(MOST)]
    assert [answers(each) for each in found] == [True] * MOST
    return found


def comes_in(url: str, address: str) -> bool:
    with connect(url, address) as connection:
        return answers(connection)


@pytest.mark.parametrize("port", ["api", "desk"])
def test_one_connection_too_many_of_an_address_is_closed_at_once(tmp_path: Path, port: str) -> None:
    settings = {"BULLION_CONNECTIONS_PER_ADDRESS": str(MOST), "BULLION_TRUSTED_PROXIES": PROXY}
    with running(tmp_path, **settings) as node:
        url, address = node.api_url if port == "api" else node.desk_url, own_address()
        mine = open_ones(url, address)
        for _ in range(3):
            with connect(url, address) as one_more:
                assert not answers(one_more)
        others = [
            *open_ones(url, own_address()),
            *open_ones(url, PROXY),
            *open_ones(url, PROXY),
        ]
        assert [answers(each) for each in mine] == [True] * MOST
        mine.pop().close()
        until(lambda: comes_in(url, address), within_s=5)
        until(lambda: node.entries("connections_refused"), within_s=5)
        (refused,) = node.entries("connections_refused")
        assert (refused["address"], refused["open"]) == (address, MOST)
        for each in (*mine, *others):
            each.close()
