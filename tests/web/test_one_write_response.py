"""An answer in one write is the same answer as one sent piece by piece, on every kind of request."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from bullion.web.protocol import GuardedProtocol
from bullion.web.response import JSON, Response, json_response, send_response
from tests.web.wire import until

BODY = {"rupee": "₹", "n": 1}
MORE = b"ratelimit-limit: 300\r\n"


class Server:
    """Answers JSON in one write at /whole, and the same in uvicorn's way at /pieces."""

    def __init__(self) -> None:
        self.writes_whole: list[bool] = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            self._app, http=GuardedProtocol, ws="none", lifespan="off", interface="asgi3", log_config=None
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()
        until(lambda: self.server.started)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        in_pieces = 0

        async def counted(message: Any) -> None:
            nonlocal in_pieces
            in_pieces += 1
            await send(message)

        whole = json_response(BODY)
        answer = whole if scope["path"] == "/whole" else Response(200, whole.body, [JSON])
        if scope["method"] == "POST":
            await receive()
        await send_response(scope, counted, answer, b"0" * 24, MORE)
        self.writes_whole.append(in_pieces == 0)

    def wrote_whole(self, responses: int) -> list[bool]:
        """Of each of the last responses, whether it was one write; a client can have it before we know."""
        until(lambda: len(self.writes_whole) == responses)
        return self.writes_whole

    def exchange(self, *requests: bytes) -> bytes:
        """Everything that comes back until the server closes, or has answered them all."""
        with socket.create_connection(("127.0.0.1", self.socket.getsockname()[1]), timeout=5) as connection:
            connection.sendall(b"".join(requests))
            read = b""
            while read.count(b"HTTP/1.1 ") < len(requests) or not read.endswith((b"}", b"\r\n\r\n")):
                more = connection.recv(65536)
                if not more:
                    break
                read += more
            return read


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.server.should_exit = True
    server.thread.join(10)
    assert not server.thread.is_alive(), "the server does not stop"


def request(path: str, method: str = "GET", version: str = "1.1", *lines: str, body: bytes = b"") -> bytes:
    head = "\r\n".join([f"{method} {path} HTTP/{version}", "Host: t", *lines])
    return head.encode() + b"\r\n\r\n" + body


def parts(answer: bytes) -> tuple[bytes, set[bytes], bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    return status, {line for line in lines if not line.startswith((b"date:", b"server:"))}, body


@pytest.mark.parametrize(
    ("method", "version", "lines", "body", "whole"),
    [
        ("GET", "1.1", (), b"", True),
        ("POST", "1.1", ("Content-Length: 2",), b"{}", True),
        ("POST", "1.1", ("Transfer-Encoding: chunked",), b"2\r\n{}\r\n0\r\n\r\n", True),
        ("GET", "1.1", ("Connection: close",), b"", False),
        ("GET", "1.0", (), b"", False),
        ("HEAD", "1.1", (), b"", False),
    ],
)
def test_it_is_the_same_answer(
    server: Server, method: str, version: str, lines: tuple[str, ...], body: bytes, whole: bool
) -> None:
    server.writes_whole.clear()
    whole_answer = server.exchange(request("/whole", method, version, *lines, body=body))
    pieces = server.exchange(request("/pieces", method, version, *lines, body=body))
    assert parts(whole_answer) == parts(pieces)
    assert b"ratelimit-limit: 300" in whole_answer
    assert server.wrote_whole(2) == [whole, False]


def test_pipelined_requests_are_answered_in_order(server: Server) -> None:
    server.writes_whole.clear()
    paths = ["/whole", "/pieces", "/whole", "/whole", "/pieces"]
    read = server.exchange(*(request(path) for path in paths))
    assert read.count(b"HTTP/1.1 200 OK") == len(paths)
    assert server.wrote_whole(len(paths)) == [path == "/whole" for path in paths]


def test_a_connection_goes_on_after_it(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.socket.getsockname()[1]), timeout=5) as connection:
        for _ in range(50):
            connection.sendall(request("/whole"))
            read = b""
            while not read.endswith(b"}"):
                read += connection.recv(65536)
            assert read.startswith(b"HTTP/1.1 200 OK\r\n")
