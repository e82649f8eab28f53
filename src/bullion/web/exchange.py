"""One request and its response on a connection, as ASGI describes them."""

import asyncio
import re
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any, Protocol

import msgspec
import structlog

from .event_stream import EventStream
from .response import AbortConnection, App, Scope

Message = MutableMapping[str, Any]

STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode("ascii") for status in HTTPStatus
}
_BODY_BUFFER_BYTES = 64 * 1024
"""Reading stops when this much of a body waits for the application."""
_LINE_BREAK = re.compile(rb"[\x00\r\n]")
_STATUSES_WITHOUT_BODY = {204, 304}

_log = structlog.get_logger("web")


class Connection(Protocol):
    """The part of the connection that an exchange uses."""

    write_paused: bool

    def write(self, data: bytes) -> None: ...
    def put(self, data: bytes) -> None: ...
    def is_closing(self) -> bool: ...
    def close_after_response(self) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    async def writable(self) -> None: ...
    def default_lines(self) -> bytes: ...
    def on_answered(self) -> None: ...
    def begin_stream(self) -> EventStream: ...
    def on_app_returned(self, exchange: "Exchange") -> None: ...
    def abort(self) -> None: ...


class Exchange(msgspec.Struct, eq=False):
    """Created for every request: a struct takes less than half of the time of a class with `__init__`.

    It does not have the whole scope, which refers to it: a reference cycle for each request would keep the
    garbage collector busy.
    """

    _connection: Connection
    _method: str
    keep_alive: bool
    expects_continue: bool
    """Whether the client sends its body only after `100 Continue`."""
    body: bytes | bytearray = b""
    more_body: bool = True
    task: "asyncio.Task[None] | None" = None
    disconnected: bool = False
    started: bool = False
    complete: bool = False
    _changed: bool = False
    """Whether `receive` has something to return."""
    _waiter: asyncio.Event | None = None
    _chunked: bool = False
    _unsent: int = 0
    """Bytes of the promised Content-Length that are still missing."""

    async def run(self, app: App, scope: Scope) -> None:
        """Call the application. A task is created for each request."""
        try:
            await app(scope, self.receive, self.send)
        except AbortConnection:
            self.disconnected = True
            self._connection.abort()
        except Exception:  # noqa: BLE001 - any error of the application ends this exchange alone
            _log.exception("application_failed")
        finally:
            self._connection.on_app_returned(self)

    # Called by the connection

    def on_body(self, piece: bytes) -> None:
        if self.complete:
            return
        if not self.body:
            self.body = piece
        else:
            if isinstance(self.body, bytes):
                self.body = bytearray(self.body)
            self.body += piece  # In place: copying the whole for each small chunk would take quadratic time.
        if len(self.body) > _BODY_BUFFER_BYTES:
            self._connection.pause_reading()
        self._wake()

    def on_end_of_body(self) -> None:
        self.more_body = False
        self._wake()

    def on_disconnect(self) -> None:
        if not self.complete:
            self.disconnected = True
        self._wake()

    def _wake(self) -> None:
        self._changed = True
        if self._waiter is not None:
            self._waiter.set()

    # Called by the application

    def take_body(self) -> bytes | None:
        if self.more_body or self.expects_continue or self.disconnected or self.complete or not self._changed:
            return None
        body, self.body = self.body, b""
        self._changed = False
        return bytes(body)

    async def receive(self) -> Message:
        connection = self._connection
        if self.expects_continue and not connection.is_closing():
            connection.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.expects_continue = False
        if not self.disconnected and not self.complete:
            connection.resume_reading()
            if not self._changed:
                self._waiter = asyncio.Event()
                await self._waiter.wait()
                self._waiter = None
            self._changed = False
        if self.disconnected or self.complete:
            return {"type": "http.disconnect"}
        body, self.body = self.body, b""
        return {"type": "http.request", "body": bytes(body), "more_body": self.more_body}

    async def send(self, message: Message) -> None:
        if self._connection.write_paused and not self.disconnected:
            await self._connection.writable()
        if self.disconnected:
            return
        if not self.started:
            self._start(message["status"], message.get("headers", ()))
        elif self.complete:
            raise RuntimeError(f"{message['type']} after the response was complete")
        else:
            self._send_body(message.get("body", b""), more=message.get("more_body", False))

    def send_at_once(self, status: int, lines: bytes, body: bytes) -> bool:
        """It is written together with the other responses of this turn of the event loop.

        The header lines are not checked: checking each of them costs more than sending a short response.
        """
        connection = self._connection
        if (
            self.started
            or self.disconnected
            or not self.keep_alive
            or connection.write_paused
            or self._method == "HEAD"
        ):
            return False
        self.started = self.complete = True
        self.expects_continue = False
        if self._waiter is not None:
            self._wake()
        connection.put(b"%b%b%b\r\n%b" % (STATUS_LINES[status], connection.default_lines(), lines, body))
        connection.on_answered()
        return True

    def open_stream(self, lines: bytes) -> EventStream | None:
        """The end of the connection is the end of the body, so that every stream gets the same bytes."""
        if self.started or self.disconnected or self._connection.is_closing():
            return None
        self.started = self.complete = True
        self.expects_continue = False
        default_lines = self._connection.default_lines()
        self._connection.write(b"%b%b%bconnection: close\r\n\r\n" % (STATUS_LINES[200], default_lines, lines))
        return self._connection.begin_stream()

    def _start(self, status: int, headers: Any) -> None:
        lines = []
        length: int | None = None
        for name, value in headers:
            if _LINE_BREAK.search(name) or _LINE_BREAK.search(value):
                raise RuntimeError("a header with a line break in it")
            if name == b"content-length":
                length = int(value)
            elif name == b"connection" and value.lower() == b"close":
                self.keep_alive = False
                continue
            lines.append(b"%b: %b\r\n" % (name, value))
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        if length is None and self._method != "HEAD" and status not in _STATUSES_WITHOUT_BODY:
            self._chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        self.started = True
        self.expects_continue = False
        self._unsent = 0 if length is None or self._method == "HEAD" else length
        default_lines = self._connection.default_lines()
        self._connection.write(b"%b%b%b\r\n" % (STATUS_LINES[status], default_lines, b"".join(lines)))

    def _send_body(self, body: bytes, *, more: bool) -> None:
        connection = self._connection
        if self._method == "HEAD":
            pass
        elif self._chunked:
            last = b"" if more else b"0\r\n\r\n"
            connection.write((b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + last)
        else:
            self._unsent -= len(body)
            if self._unsent < 0:
                raise RuntimeError("a body longer than its Content-Length")
            connection.write(body)
        if more:
            return
        if self._unsent:
            raise RuntimeError("a body shorter than its Content-Length")
        self.complete = True
        self._wake()
        if not self.keep_alive:
            connection.close_after_response()
        connection.on_answered()
