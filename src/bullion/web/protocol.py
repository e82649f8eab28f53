"""uvicorn's HTTP connection with its open doors shut.

uvicorn trusts its clients: it sets no limit to the size of a head, no deadline to a slow sender, and lets
trailers pass for headers. `GuardedProtocol` keeps its way of serving requests and adds what a port that
strangers can reach must have. Hand it to `uvicorn.Config(http=GuardedProtocol, ws="none")`.

The one idea the rest hangs on: a read from the socket is cut where a head or a body ends before the parser
sees it. So a head can be measured exactly, a request that follows waits until the one before it is answered,
and if the parser ever sees an end where we see none, the request is refused instead of read in two ways.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState


class Refusal(NamedTuple):
    code: str
    status: int
    message: str


MALFORMED_HTTP = Refusal("malformed_http", 400, "This is not a request that HTTP/1.1 allows.")
HEADERS_TOO_LARGE = Refusal("headers_too_large", 431, "The request line and headers are too large.")
REQUEST_TIMEOUT = Refusal("request_timeout", 408, "The request did not arrive in time.")

_NEVER = math.inf
_BLANK_LINE = b"\r\n\r\n"
_VERSIONS = {b" HTTP/1.1": "1.1", b" HTTP/1.0": "1.0"}
_NO_END = -1
_UPGRADE_LINE = re.compile(rb"\r\nupgrade:[^\r\n]*", re.IGNORECASE)
_JUDGED_HEADERS = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect"})


class _ReadAgainError(Exception):
    """This head must be read by itself."""


class _Parser(httptools.HttpRequestParser):
    """uvicorn asks every request's version. It is known before, and httptools is slow to spell it out."""

    __slots__ = ("version",)
    version: str

    def get_http_version(self) -> str:
        return self.version


@dataclass(slots=True)
class _Outlet:
    """The part of a transport that a response uses, with our own way to close."""

    write: Callable[[bytes], None]
    is_closing: Callable[[], bool]
    close: Callable[[], None]


class GuardedProtocol(HttpToolsProtocol):
    HEAD_BYTES = 16 * 1024
    CHUNK_FRAMING_BYTES = 16 * 1024
    # A body up to this size is cheaper to read and drop than a new connection; so is one nobody asked for.
    SPARE_BODY_BYTES = 64 * 1024
    LINGER_BYTES = 1024 * 1024

    HEAD_SECONDS = 10.0
    BODY_SECONDS = 10.0
    IDLE_SECONDS = 75.0
    LINGER_SECONDS = 2.0

    # Python is quick with up to 30 attributes in an instance's dictionary. uvicorn's own take 28.
    __slots__ = (
        "_alarm",
        "_alarm_at",
        "_answering",
        "_beyond_head",
        "_body_length",
        "_body_read",
        "_body_size",
        "_body_tail",
        "_due",
        "_framed",
        "_head",
        "_held",
        "_hosts",
        "_in_body",
        "_lingered",
        "_lingering",
        "_outlet",
    )

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        # uvicorn tells its parser to be lenient with what follows `Connection: close`. Ours is strict in all.
        self.parser: _Parser = _Parser(self)
        self._outlet: asyncio.Transport

        self._head = b""  # of the request that is arriving
        self._beyond_head = 0  # how many bytes of the same read follow it
        self._answering = False  # the application has a request and has not completed its response
        self._held = b""  # what came after that request
        self._lingering = False
        self._lingered = 0

        self._hosts = 0
        self._framed = False
        self._body_length: int | None = 0  # None: chunked
        self._in_body = False
        self._body_read = 0  # with the framing of its chunks
        self._body_size = 0  # without
        self._body_tail = b""

        # One alarm serves every deadline of the connection. A deadline that moves later, as that of an idle
        # connection does with each request, leaves the alarm alone: it rings early, and is set anew.
        self._due = _NEVER
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = _NEVER

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        outlet = _Outlet(transport.write, self._is_closing, self._close_after_answer)
        self._outlet = cast("asyncio.Transport", outlet)
        self._wait(self.IDLE_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        if self._lingering:
            self.transport.close()
        else:
            super().shutdown()

    def data_received(self, data: bytes) -> None:
        try:
            while data:
                if self._lingering:
                    self._lingered += len(data)
                    if self._lingered > self.LINGER_BYTES:
                        self.transport.close()
                    return
                if self._in_body:
                    data = self._read_body(data)
                elif self._answering:
                    # Parsed now, this could be refused before the answer that is due first, and a flood of
                    # small requests in one read would become a flood of objects.
                    self._held += data
                    self.flow.pause_reading()
                    return
                else:
                    data = self._read_head(data)
        except httptools.HttpParserError as error:
            self._refuse(MALFORMED_HTTP, error)
        if self._due == _NEVER:
            if self._in_body:
                self._wait(self.BODY_SECONDS)
            elif self._head:
                self._wait(self.HEAD_SECONDS)

    def _read_head(self, data: bytes) -> bytes:
        """Feed the parser a head, with its body if that is all there is more; return what is left."""
        if self._head:
            head = self._head + data
            end = head.find(_BLANK_LINE, max(0, len(self._head) - 3))
        else:
            # Some clients end a body with an empty line that they do not count. It starts no request.
            head = data = data.lstrip(b"\r\n")
            if not data:
                return b""
            end = data.find(_BLANK_LINE)
            self._hosts = self._body_length = 0
            self._framed = False
            self._due = _NEVER
        size = len(head) if end < 0 else end + 4
        if size > self.HEAD_BYTES:
            self._refuse(HEADERS_TOO_LARGE)
            return b""
        line_end = head.find(b"\r\n")
        if line_end >= 0:
            version = _VERSIONS.get(head[line_end - 9 : line_end])
            if version is None:
                # The parser would also take HTTP/0.9, HTTP/2.0, RTSP and ICE.
                raise httptools.HttpParserError("not HTTP/1.0 or HTTP/1.1")
            self.parser.version = version
        self._head = head[:size]
        self._beyond_head = len(head) - size if end >= 0 else _NO_END
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            if not isinstance(error.__context__, _ReadAgainError):
                raise
            self._read_head_again()
            return head[size:]
        if end >= 0 and self._head:
            raise httptools.HttpParserError("the parser sees no end of the head where we do")
        return b""

    def _read_head_again(self) -> None:
        """Feed a new parser the head alone, and without a wish for another protocol.

        The parser skips the body of a request with such a wish and cannot be told not to; nor can it be told to
        stop at the end of a request.
        """
        version = self.parser.version
        self._head = _UPGRADE_LINE.sub(b"", self._head)
        self._beyond_head = self._hosts = 0
        self._framed = False
        self.parser = _Parser(self)
        self.parser.version = version
        self.parser.feed_data(self._head)

    def _read_body(self, data: bytes) -> bytes:
        """Feed the parser up to the end of the body; return the rest."""
        if self._body_length is None:
            # Without trailers a chunked body ends in a blank line. Its data may hold some as well:
            # then the parser is fed in more pieces than need be.
            end = (self._body_tail + data).find(_BLANK_LINE)
            cut = len(data) if end < 0 else end + len(_BLANK_LINE) - len(self._body_tail)
            self._body_tail = (self._body_tail + data[:cut])[1 - len(_BLANK_LINE) :]
        else:
            cut = self._body_length - self._body_read
        self._body_read += min(cut, len(data))
        self.parser.feed_data(data[:cut])
        if self._in_body:
            self._judge_framing()
            if self._body_read == self._body_length:
                raise httptools.HttpParserError("the parser sees no end of the body where we do")
        if self._body_size > self.SPARE_BODY_BYTES:
            self.cycle.keep_alive = False
            if not self._answering:
                self._linger()
                return b""
        return data[cut:]

    # What the parser tells

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in _JUDGED_HEADERS:
            self._judge_header(name, value)
        self.headers.append((name, value))

    def _judge_header(self, name: bytes, value: bytes) -> None:
        """Refuse what two readers could read in two ways."""
        if name == b"host":
            self._hosts += 1
        elif name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"
        elif self._framed:
            raise httptools.HttpParserError("framed twice")
        else:
            self._framed = True
            self._body_length = _read_framing(name, value.strip(b" \t"), self.parser.version)

    def on_headers_complete(self) -> None:
        beyond = self._beyond_head
        if self._hosts != 1 and (self._hosts or self.parser.version == "1.1"):
            raise httptools.HttpParserError("not one Host")
        if (beyond and beyond != self._body_length) or self.parser.should_upgrade():
            self._judge_end_of_head()
        super().on_headers_complete()
        self._head = b""
        self._answering = True
        self._due = _NEVER
        self.cycle.transport = self._outlet
        if beyond != self._body_length:
            self._begin_body()

    def _judge_end_of_head(self) -> None:
        if self._beyond_head == _NO_END:
            raise httptools.HttpParserError("the parser sees the end of a head where we see none")
        if self.parser.get_method() == b"CONNECT":
            raise httptools.HttpParserError("CONNECT")
        length = self._body_length
        if self.parser.should_upgrade() or length is None or length < self._beyond_head:
            raise _ReadAgainError

    def _begin_body(self) -> None:
        self._in_body = True
        self._body_read = self._beyond_head
        self._body_size = 0
        self._body_tail = b""
        # The application keeps the list it was given. What the parser still calls a header is a trailer.
        self.headers = []
        if self._body_length is not None and self._body_length > self.SPARE_BODY_BYTES:
            # Said in the response's own headers, so that a client need not find out.
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._body_size += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._in_body:
            self._end_body()
        self.cycle.more_body = False
        self.cycle.message_event.set()

    def _end_body(self) -> None:
        self._judge_framing()
        if self.headers:
            raise httptools.HttpParserError("trailers")
        self._in_body = False
        if self._answering:
            self._due = _NEVER
        else:
            self._wait(self.IDLE_SECONDS)

    def _judge_framing(self) -> None:
        if self._body_read - self._body_size > self.CHUNK_FRAMING_BYTES:
            raise httptools.HttpParserError("too much framing around the chunks")

    # What the application does

    def on_response_complete(self) -> None:
        # Takes the place of uvicorn's own, which sets a timer for every response.
        self.server_state.total_requests += 1
        self._answering = False
        if self._lingering:
            return
        if not self._in_body:
            self._wait(self.IDLE_SECONDS)
        elif self.expect_100_continue and not self._body_read:
            # A client that waited for leave to send its body may never send it: the next byte could be the
            # body's first or another request's.
            self._linger()
            return
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self._held:
            held, self._held = self._held, b""
            self.data_received(held)

    def _is_closing(self) -> bool:
        return self._lingering or self.transport.is_closing()

    def _close_after_answer(self) -> None:
        if self._in_body or self._held:
            self._linger()
        else:
            self.transport.close()

    # Deadlines

    def _wait(self, seconds: float) -> None:
        """Give the client this long for what it does next."""
        self._due = self.loop.time() + seconds
        if self._due < self._alarm_at:
            if self._alarm is not None:
                self._alarm.cancel()
            self._set_alarm()

    def _set_alarm(self) -> None:
        self._alarm_at = self._due
        self._alarm = self.loop.call_at(self._due, self._on_alarm)

    def _on_alarm(self) -> None:
        self._alarm = None
        self._alarm_at = _NEVER
        if self.loop.time() >= self._due:
            self._on_deadline()
        elif self._due != _NEVER:
            self._set_alarm()

    def _on_deadline(self) -> None:
        if (self._head or self._in_body) and not self._is_closing():
            self._refuse(REQUEST_TIMEOUT)
        else:
            # Not `close`, which would wait for ever for a client that does not read its answer.
            self.transport.abort()

    # The end

    def _refuse(self, refusal: Refusal, reason: Exception | None = None) -> None:
        """Answer for the application, if this request has no answer yet, and end the connection."""
        request_id = secrets.token_hex(12)
        cause = reason.__context__ or reason if reason else None
        self.logger.debug("%s %s: %r", request_id, refusal.code, cause)
        begun = self.cycle.response_started if self._answering else self._in_body
        if not begun:
            self.transport.write(_answer(refusal, request_id, self.server_state.default_headers))
        self._linger()

    def _linger(self) -> None:
        """Say that no more will come, and hear the client out for a while.

        A socket closed with bytes unread is reset, and a reset can take the answer away from the client
        before it is read.
        """
        if self._is_closing():
            return
        self._lingering = True
        self._held = b""
        if self._answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.transport.can_write_eof():
            self.transport.write_eof()
            self.flow.resume_reading()
            self._wait(self.LINGER_SECONDS)
        else:
            self.transport.close()


def _read_framing(name: bytes, value: bytes, version: str) -> int | None:
    if name == b"content-length" and value.isdigit():
        return int(value)
    if name == b"transfer-encoding" and value.lower() == b"chunked" and version == "1.1":
        return None
    raise httptools.HttpParserError("unreadable framing")


def _answer(refusal: Refusal, request_id: str, default_headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    body = json.dumps({"detail": {"code": refusal.code, "message": refusal.message}}).encode()
    headers = [
        *default_headers,
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request_id.encode()),
    ]
    lines = b"".join(b"%s: %s\r\n" % header for header in headers)
    return STATUS_LINE[refusal.status] + lines + b"\r\n" + body
