"""A server in a thread, and a client that speaks raw bytes to it."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import uvicorn

from bullion.web.protocol import GuardedProtocol
from bullion.web.response import AbortConnection

PATIENCE = 8.0
"""How long a test waits for what must come. Shorter than the deadlines a test is not about."""
SHORT = 0.2
"""A deadline that a test waits for."""
GET = b"GET /plain HTTP/1.1\r\nHost: t\r\n\r\n"
GATED = GET.replace(b"plain", b"gated")
RAISES: dict[str, type[Exception]] = {"/fails": RuntimeError, "/hangs-up": AbortConnection}
CHUNKED = b"POST /plain HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass
class Seen:
    """A request as the application saw it."""

    path: str
    headers: list[tuple[bytes, bytes]]
    body: bytearray = field(default_factory=bytearray)
    whole: bool = False


class Served:
    """A server in a thread, with an application that does what the path says."""

    def __init__(self, protocol: Callable[..., GuardedProtocol], loop: str) -> None:
        self.seen: list[Seen] = []
        self.gate = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.server = uvicorn.Server(
            uvicorn.Config(
                self._app,
                http=protocol,  # type: ignore[arg-type]  # uvicorn only calls it
                ws="none",
                loop=loop,
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                proxy_headers=False,
            )
        )
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self._socket]})
        self.thread.start()
        until(lambda: self.server.started)

    def stop(self) -> None:
        self.gate.set()
        self.server.should_exit = True
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive(), "the server does not stop"

    @property
    def connections(self) -> int:
        return len(self.server.server_state.connections)

    async def _answer(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        seen = Seen(scope["path"], scope["headers"])
        self.seen.append(seen)
        if seen.path in RAISES:
            raise RAISES[seen.path]("whatever the application meant by it")
        if seen.path == "/silent":
            return
        if seen.path == "/gated":
            await asyncio.to_thread(self.gate.wait, PATIENCE)
        if seen.path == "/begun":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
            await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        while seen.path != "/early" and not seen.whole:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            seen.body += message["body"]
            seen.whole = not message["more_body"]
        if seen.path == "/begun":
            await send({"type": "http.response.body", "body": b"done"})
            return
        if seen.path == "/too-much":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
            await send({"type": "http.response.body", "body": b"two"})
        if seen.path == "/split":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"x", b"1\r\ny: 2")]})
        body = b"x" * 16_000_000 if seen.path == "/big" else seen.path.encode() + b":%d" % len(seen.body)
        headers = [(b"content-length", b"%d" % len(body))]
        status = 401 if seen.path == "/early" else 200
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _app(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        await self._answer(scope, receive, send)
        if scope["path"] == "/busy-after":
            await asyncio.to_thread(self.gate.wait, PATIENCE)


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        code = json.loads(self.body)["detail"]["code"]
        assert isinstance(code, str)
        return code


class Wire:
    """A client's end of one connection."""

    def __init__(self, served: Served) -> None:
        self.socket = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(self, *pieces: bytes, pause: float = 0.002) -> Self:
        for number, piece in enumerate(pieces):
            if number:
                time.sleep(pause)
            self.socket.sendall(piece)
        return self

    def answer(self) -> Answer:
        head, self._unread = self._until(b"\r\n\r\n")
        line, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (text.partition(":") for text in lines)}
        length = int(headers.get("content-length", 0))
        while len(self._unread) < length:
            self._more()
        body, self._unread = self._unread[:length], self._unread[length:]
        return Answer(int(line.split()[1]), headers, body)

    def rest(self) -> bytes:
        """What comes until the server closes. A reset is an error."""
        while self._more(end_is_fine=True):
            pass
        return self._unread

    def drip(self, data: bytes) -> None:
        """Send byte by byte for as long as the server takes it, which must not be to the end."""
        self.socket.settimeout(0.05)
        for byte in data:
            with suppress(TimeoutError):
                self.socket.sendall(bytes([byte]))
                if self._more(end_is_fine=True) or not self._open:
                    break
        else:
            raise AssertionError("the server never lost its patience")
        self.socket.settimeout(PATIENCE)

    _open = True

    def _until(self, mark: bytes) -> tuple[bytes, bytes]:
        while mark not in self._unread:
            self._more()
        head, _, rest = self._unread.partition(mark)
        return head, rest

    def _more(self, *, end_is_fine: bool = False) -> bool:
        data = self.socket.recv(1_000_000)
        self._open = bool(data)
        assert data or end_is_fine, f"closed after {self._unread!r}"
        self._unread += data
        return bool(data)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def post(path: str, length: int, more: bytes = b"") -> bytes:
    return b"POST %s HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n%s\r\n" % (path.encode(), length, more)


def chunk(data: bytes, extension: bytes = b"") -> bytes:
    return b"%x%s\r\n%s\r\n" % (len(data), extension, data)


def head_of(size: int, ending: bytes = b"\r\n\r\n") -> bytes:
    start = b"GET /plain HTTP/1.1\r\nHost: t\r\nX: "
    return start + b"x" * (size - len(start) - len(ending)) + ending


def refused(wire: Wire, status: int, code: str) -> None:
    answer = wire.answer()
    assert (answer.status, answer.code) == (status, code)
    assert wire.rest() == b""


def served_well(wire: Wire, body: bytes = b"/plain:0") -> None:
    answer = wire.answer()
    assert (answer.status, answer.body) == (200, body)


Serve = Callable[..., Served]
"""Starts a server with other limits than the usual ones."""
