"""One request and its answer on a connection, as ASGI has it."""

import asyncio
import re
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any, Protocol

import structlog

from .answer import HangUp

Message = MutableMapping[str, Any]

STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode("ascii") for status in HTTPStatus
}
_BODY_KEPT_MAX = 64 * 1024
"""So much of a body waits for the application before we stop reading."""
_ENDS_A_LINE = re.compile(rb"[\x00\r\n]")
_WITHOUT_BODY = {204, 304}

_log = structlog.get_logger("web")


class Line(Protocol):
    """What an exchange needs of the connection it is on."""

    write_paused: bool

    def write(self, data: bytes) -> None: ...
    def put(self, data: bytes) -> None: ...
    def is_closing(self) -> bool: ...
    def close_after_answer(self) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    async def writable(self) -> None: ...
    def default_lines(self) -> bytes: ...
    def answered(self) -> None: ...
    def ended(self, task: "asyncio.Task[None]") -> None: ...
    def fail(self, exchange: "Exchange") -> None: ...
    def hang_up(self) -> None: ...


class Exchange:
    """Lean on purpose: one is made for every request."""

    __slots__ = (
        "_arrived",
        "_chunked",
        "_left",
        "_line",
        "_method",
        "_news",
        "body",
        "complete",
        "disconnected",
        "keep_alive",
        "more_body",
        "started",
        "waits_for_leave",
    )

    def __init__(self, line: Line, method: str, *, keep_alive: bool, waits_for_leave: bool) -> None:
        # Not the whole scope: it knows of us, and a circle for each request is work for the collector.
        self._line = line
        self._method = method
        self.keep_alive = keep_alive
        self.waits_for_leave = waits_for_leave
        """Whether the client sends its body only once it is told to go on."""
        self.body: bytes | bytearray = b""
        self.more_body = True
        self.disconnected = False
        self.started = False
        self.complete = False
        self._news = False
        self._arrived: asyncio.Event | None = None
        self._chunked = False
        self._left = 0

    # What the connection tells

    def on_body(self, piece: bytes) -> None:
        if self.complete:
            return
        if not self.body:
            self.body = piece
        else:
            if isinstance(self.body, bytes):
                self.body = bytearray(self.body)
            self.body += piece  # In place: to copy it all for each small chunk would take quadratic time.
        if len(self.body) > _BODY_KEPT_MAX:
            self._line.pause_reading()
        self._tell()

    def on_end_of_body(self) -> None:
        self.more_body = False
        self._tell()

    def on_disconnect(self) -> None:
        if not self.complete:
            self.disconnected = True
        self._tell()

    def on_end(self, task: "asyncio.Task[None]", error: Exception | None) -> None:
        """The application has returned or failed."""
        self._line.ended(task)
        if error is not None:
            if isinstance(error, HangUp):
                self._line.hang_up()
                return
            _log.error("application_failed", exc_info=error)
        if not self.complete and not self.disconnected:
            self._line.fail(self)

    def _tell(self) -> None:
        self._news = True
        if self._arrived is not None:
            self._arrived.set()

    # What the application does

    async def receive(self) -> Message:
        line = self._line
        if self.waits_for_leave and not line.is_closing():
            line.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.waits_for_leave = False
        if not self.disconnected and not self.complete:
            line.resume_reading()
            if not self._news:
                self._arrived = asyncio.Event()
                await self._arrived.wait()
                self._arrived = None
            self._news = False
        if self.disconnected or self.complete:
            return {"type": "http.disconnect"}
        body, self.body = self.body, b""
        return {"type": "http.request", "body": bytes(body), "more_body": self.more_body}

    async def send(self, message: Message) -> None:
        if self._line.write_paused and not self.disconnected:
            await self._line.writable()
        if self.disconnected:
            return
        if not self.started:
            self._start(message["status"], message.get("headers", ()))
        elif self.complete:
            raise RuntimeError(f"{message['type']} after the answer was complete")
        else:
            self._go_on(message.get("body", b""), more=message.get("more_body", False))

    def send_whole(self, status: int, lines: bytes, body: bytes) -> bool:
        """An answer without surprises in one write; False where it must be sent piece by piece.

        It goes out with the others of this turn of the loop. The caller vouches for the header lines: a look
        at each of them, and a second write, cost more than a quick answer itself.
        """
        line = self._line
        if (
            self.started
            or self.disconnected
            or not self.keep_alive
            or line.write_paused
            or self._method == "HEAD"
        ):
            return False
        self.started = self.complete = True
        self.waits_for_leave = False
        if self._arrived is not None:
            self._tell()  # Somebody waits to hear of the end.
        line.put(b"%b%b%b\r\n%b" % (STATUS_LINES[status], line.default_lines(), lines, body))
        line.answered()
        return True

    def _start(self, status: int, headers: Any) -> None:
        lines = []
        length: int | None = None
        for name, value in headers:
            if _ENDS_A_LINE.search(name) or _ENDS_A_LINE.search(value):
                raise RuntimeError("a header with the end of a line in it")
            if name == b"content-length":
                length = int(value)
            elif name == b"connection" and value.lower() == b"close":
                self.keep_alive = False
                continue
            lines.append(b"%b: %b\r\n" % (name, value))
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        if length is None and self._method != "HEAD" and status not in _WITHOUT_BODY:
            self._chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        self.started = True
        self.waits_for_leave = False
        self._left = 0 if length is None or self._method == "HEAD" else length
        line = self._line
        line.write(b"%b%b%b\r\n" % (STATUS_LINES[status], line.default_lines(), b"".join(lines)))

    def _go_on(self, body: bytes, *, more: bool) -> None:
        line = self._line
        if self._method == "HEAD":
            pass
        elif self._chunked:
            last = b"" if more else b"0\r\n\r\n"
            line.write((b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + last)
        else:
            self._left -= len(body)
            if self._left < 0:
                raise RuntimeError("a body longer than its Content-Length")
            line.write(body)
        if more:
            return
        if self._left:
            raise RuntimeError("a body shorter than its Content-Length")
        self.complete = True
        self._tell()
        if not self.keep_alive:
            line.close_after_answer()
        line.answered()
