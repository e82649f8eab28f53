"""An HTTP transport for the tests' own calls, with which one takes half the processor time of httpx's own.

There is no TLS, proxy or HTTP/2 on loopback. The tests make tens of thousands of calls. What the service
and its client send is not affected: they have transports of their own.
"""

import socket
import time
from collections import deque
from collections.abc import Iterator

import httpx
from httptools import HttpParserError, HttpResponseParser

SOCKET = "socket"
"""The extension of a response with the socket that it arrives on."""
_CHUNK = 1 << 16
_IDLE_S = 5.0
"""Like httpx. The service keeps connections open for longer."""
_INFORMATIONAL_MAX = 199


class LoopbackTransport(httpx.BaseTransport):
    """Connects from one source address. May be used by several threads."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self._address = address
        self._idle: deque[_Connection] = deque()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        assert request.url.scheme == "http", f"{request.url} needs another transport"
        target = (request.url.host, request.url.port or 80)
        limits = request.extensions.get("timeout", {})
        connection = self._taken(target)
        if connection is None:
            connection = _Connection(target, self._address, limits.get("connect"))
        try:
            connection.send(request, limits.get("write"))
            message = connection.receive(limits.get("read"), has_body=request.method != "HEAD")
        except BaseException:
            connection.close()
            raise
        return httpx.Response(
            message.status,
            headers=message.headers,
            stream=_Body(message, connection, self._idle),
            extensions={
                "http_version": message.version,
                "reason_phrase": message.reason,
                SOCKET: connection.socket,
            },
        )

    def _taken(self, target: tuple[str, int]) -> "_Connection | None":
        """A connection that an earlier call has left open."""
        for _ in range(len(self._idle)):
            try:
                connection = self._idle.pop()
            except IndexError:  # Another thread has taken it.
                return None
            if connection.target != target:
                self._idle.appendleft(connection)
            elif connection.is_usable():
                return connection
            else:
                connection.close()
        return None

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


class _Message:
    """A response, as far as it has arrived. The parser calls the methods that begin with `on_`."""

    def __init__(self, *, has_body: bool) -> None:
        self._has_body = has_body
        self._parser = HttpResponseParser(self)
        self.headers: list[tuple[bytes, bytes]] = []
        self.status = 0
        self.reason = b""
        self.has_head = False
        self.is_complete = False
        self.keeps_connection = False
        self.body: deque[bytes] = deque()

    @property
    def version(self) -> bytes:
        return b"HTTP/" + self._parser.get_http_version().encode()

    def feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            raise httpx.RemoteProtocolError(str(error)) from error

    def end(self) -> None:
        """The connection was closed: that is how a body without a length ends."""
        names = {name.lower() for name, _ in self.headers}
        if not self.has_head or names & {b"content-length", b"transfer-encoding"}:
            raise httpx.RemoteProtocolError("The connection was closed before the response was complete.")
        self.is_complete = True

    def on_status(self, reason: bytes) -> None:
        self.reason = reason

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        self.has_head = self.status > _INFORMATIONAL_MAX
        if not self.has_head:
            self.headers.clear()
        elif not self._has_body:
            self.on_message_complete()

    def on_body(self, body: bytes) -> None:
        self.body.append(body)

    def on_message_complete(self) -> None:
        self.is_complete = self.has_head
        self.keeps_connection = bool(self._parser.should_keep_alive())


class _Connection:
    def __init__(self, target: tuple[str, int], address: str, limit_s: float | None) -> None:
        self.target = target
        self._idle_since_s = 0.0
        try:
            self.socket = socket.create_connection(target, limit_s, source_address=(address, 0))
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request: httpx.Request, limit_s: float | None) -> None:
        head = [f"{request.method} ".encode() + request.url.raw_path + b" HTTP/1.1\r\n"]
        head += [name + b": " + value + b"\r\n" for name, value in request.headers.raw]
        in_chunks = "transfer-encoding" in request.headers
        waiting = b"".join(head) + b"\r\n"
        try:
            self.socket.settimeout(limit_s)
            for part in request.stream:  # type: ignore[union-attr]
                if part:
                    waiting += b"%x\r\n%b\r\n" % (len(part), part) if in_chunks else part
                if len(waiting) > _CHUNK or in_chunks:
                    self.socket.sendall(waiting)
                    waiting = b""
            self.socket.sendall(waiting + b"0\r\n\r\n" if in_chunks else waiting)
        except TimeoutError as error:
            raise httpx.WriteTimeout(str(error)) from error
        except OSError:
            # As with httpx: a server may answer, and close, before it has read everything.
            return

    def receive(self, limit_s: float | None, *, has_body: bool) -> _Message:
        """A response of which at least the head has arrived."""
        self.socket.settimeout(limit_s)
        message = _Message(has_body=has_body)
        while not message.has_head:
            self.receive_more(message)
        return message

    def receive_more(self, message: _Message) -> None:
        try:
            data = self.socket.recv(_CHUNK)
        except TimeoutError as error:
            raise httpx.ReadTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ReadError(str(error)) from error
        if data:
            message.feed(data)
        else:
            message.end()

    def is_usable(self) -> bool:
        """Whether the server keeps it open too."""
        if time.monotonic() - self._idle_since_s > _IDLE_S:
            return False
        self.socket.settimeout(0)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def leave(self, idle: "deque[_Connection]") -> None:
        self._idle_since_s = time.monotonic()
        idle.append(self)

    def close(self) -> None:
        self.socket.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, message: _Message, connection: _Connection, idle: deque[_Connection]) -> None:
        self._message = message
        self._connection: _Connection | None = connection
        self._idle = idle

    def __iter__(self) -> Iterator[bytes]:
        body = self._message.body
        while True:
            while body:
                yield body.popleft()
            if self._message.is_complete or self._connection is None:
                return
            self._connection.receive_more(self._message)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._message.keeps_connection:
            connection.leave(self._idle)
        else:
            connection.close()
