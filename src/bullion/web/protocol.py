"""uvicorn's HTTP connection with its open doors shut.

uvicorn trusts its clients: it sets no limit to the size of a head, no deadline to a slow sender, and lets
trailers pass for headers. `GuardedProtocol` keeps its way of serving a request and adds what a port that
strangers can reach must have. Hand it to `uvicorn.Config(http=GuardedProtocol, ws="none")`.

One idea carries the rest: we find the ends of heads and bodies ourselves, and give the parser no byte beyond
the request that is due. So a head can be measured, a request waits until the one before it is answered, and
where the parser and we see different ends the request is refused instead of read in two ways.
"""

import asyncio
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from bullion.refusals.catalogue import HEADERS_TOO_LARGE, MALFORMED_HTTP, REQUEST_TIMEOUT
from bullion.refusals.refusal import Refusal, Refused

from .answer import WHOLE_ANSWER, Scope, new_request_id, refusal_answer
from .deadline import NEVER, Deadline

_BLANK_LINE = b"\r\n\r\n"
_NO_END = -1
_VERSIONS = {b" HTTP/1.1": "1.1", b" HTTP/1.0": "1.0"}
_JUDGED_HEADERS = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect"})
_UPGRADE_LINE = re.compile(rb"\r\nupgrade:[^\r\n]*", re.IGNORECASE)


class _ReadAgainError(Exception):
    """This head must be read by itself."""


class _Parser(httptools.HttpRequestParser):
    """uvicorn asks for every request's version. We know it before, and httptools is slow to spell it out."""

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
    SPARE_BODY_BYTES = 64 * 1024
    """So much of a body that nobody wants is read for the sake of the connection."""
    LINGER_BYTES = 1024 * 1024

    HEAD_SECONDS = 10.0
    BODY_SECONDS = 10.0
    WRITE_SECONDS = 10.0
    """For a client that does not read its answer."""
    IDLE_SECONDS = 75.0
    LINGER_SECONDS = 2.0

    # Python is quick with no more than 30 attributes in an instance's dictionary. uvicorn's own are 28.
    __slots__ = (
        "_answering",
        "_beyond_head",
        "_body_length",
        "_body_read",
        "_body_size",
        "_body_tail",
        "_deadline",
        "_extensions",
        "_framed",
        "_head",
        "_held",
        "_hosts",
        "_in_body",
        "_lingered",
        "_lingering",
        "_outlet",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # uvicorn tells its parser to be lenient with what follows `Connection: close`. Ours is strict.
        self.parser: _Parser = _Parser(self)
        self._outlet: asyncio.Transport
        self._deadline = Deadline(self.loop, self._on_deadline)
        self._answering = False  # the application has a request and has not completed its response
        self._held = b""  # what came after that request
        self._lingering = False
        self._lingered = 0

        # The request that is arriving
        self._head = b""  # until it is whole
        self._beyond_head = 0  # bytes that came with the end of it
        self._hosts = 0
        self._framed = False
        self._body_length: int | None = 0  # None: chunked
        self._in_body = False
        self._body_read = 0  # with the framing of its chunks
        self._body_size = 0  # without
        self._body_tail = b""

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        outlet = _Outlet(transport.write, self._is_closing, self._close_after_answer)
        self._outlet = cast("asyncio.Transport", outlet)
        self._extensions = {WHOLE_ANSWER: self._send_whole}
        self._deadline.move(self.IDLE_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.stop()
        self._extensions = {}  # or this connection would hold itself
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn's hangs up
        """A client that has said all may still wait for its answer."""
        if self._answering and not self._in_body:
            self.cycle.keep_alive = False
            return True
        return False

    def pause_writing(self) -> None:
        super().pause_writing()
        self._deadline.move(self.WRITE_SECONDS)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._answering:
            if not self._in_body:
                self._deadline.due = NEVER
        elif not self._lingering:
            self._go_on()

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
                elif self._answering or self.flow.write_paused:
                    # Parsed now, this could be refused before the answer that is due first, and a read full
                    # of small requests would become as many objects.
                    self._held += data
                    self.flow.pause_reading()
                    return
                else:
                    data = self._read_head(data)
        except httptools.HttpParserError as error:
            self._refuse(MALFORMED_HTTP, error)
        if self._deadline.due == NEVER:
            if self._in_body:
                self._deadline.move(self.BODY_SECONDS)
            elif self._head:
                self._deadline.move(self.HEAD_SECONDS)

    def _read_head(self, data: bytes) -> bytes:
        """Feed the parser what there is of a head, and its body if nothing follows that; return the rest."""
        if self._head:
            head = self._head + data
            end = head.find(_BLANK_LINE, max(0, len(self._head) - 3))
        else:
            # Some clients end a body with an empty line that they do not count. It begins no request.
            head = data = data.lstrip(b"\r\n")
            if not data:
                return b""
            end = data.find(_BLANK_LINE)
            self._hosts = self._body_length = 0
            self._framed = False
            self._deadline.due = NEVER
        size = len(head) if end < 0 else end + 4
        if size > self.HEAD_BYTES:
            self._refuse(HEADERS_TOO_LARGE)
            return b""
        line_end = head.find(b"\r\n")
        if line_end >= 0:
            version = _VERSIONS.get(head[line_end - 9 : line_end])
            if version is None:
                # The parser would also take HTTP/0.9, HTTP/2.0, RTSP and ICE.
                raise httptools.HttpParserError("neither HTTP/1.1 nor HTTP/1.0")
            self.parser.version = version
        self._head = head[:size]
        self._beyond_head = _NO_END if end < 0 else len(head) - size
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

        The parser cannot be told to stop where a request ends, nor to read the body of one with such a wish.
        CONNECT remains a wish without the line, and is refused for that.
        """
        version = self.parser.version
        self.parser = _Parser(self)
        self.parser.version = version
        self._head = _UPGRADE_LINE.sub(b"", self._head)
        self._beyond_head = self._hosts = self._body_length = 0
        self._framed = False
        self.parser.feed_data(self._head)

    def _read_body(self, data: bytes) -> bytes:
        """Feed the parser up to the end of the body; return the rest."""
        if self._body_length is None:
            return self._read_chunks(data)
        piece = data[: self._body_length - self._body_read]
        self._body_read += len(piece)
        self.parser.feed_data(piece)
        if self._in_body and self._body_read == self._body_length:
            raise httptools.HttpParserError("the parser sees no end of the body where we do")
        return data[len(piece) :]

    def _read_chunks(self, data: bytes) -> bytes:
        # A chunked body without trailers ends in a blank line. Its data may have blank lines as well: then
        # the parser is fed in more pieces than need be.
        tail = self._body_tail
        end = (tail + data).find(_BLANK_LINE)
        piece = data if end < 0 else data[: end + 4 - len(tail)]
        self._body_tail = (tail + piece)[-3:]
        self._body_read += len(piece)
        self.parser.feed_data(piece)
        self._judge_chunks()
        if self._body_size > self.SPARE_BODY_BYTES:
            self.cycle.keep_alive = False
            if not self._answering:
                self._linger()
        return data[len(piece) :]

    # What the parser tells

    def on_header(self, name: bytes, value: bytes) -> None:
        # In place of uvicorn's own: to look for these headers once more among all of them would take longer.
        name = name.lower()
        if name in _JUDGED_HEADERS:
            self._judge_header(name, value)
        self.headers.append((name, value))

    def _judge_header(self, name: bytes, value: bytes) -> None:
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
        self.cycle.transport = self._outlet
        self.scope["extensions"] = self._extensions  # type: ignore[typeddict-item]  # ours is a function
        self._answering = True
        self._head = b""
        self._deadline.due = NEVER
        if beyond != self._body_length:
            self._begin_body()

    def _judge_end_of_head(self) -> None:
        if self._beyond_head == _NO_END:
            raise httptools.HttpParserError("the parser sees an end of the head where we do not")
        length = self._body_length
        if self.parser.should_upgrade() or length is None or length < self._beyond_head:
            raise _ReadAgainError

    def _begin_body(self) -> None:
        self._in_body = True
        self._body_read = self._beyond_head
        self._body_size = 0
        self._body_tail = b""
        # The application keeps the list it was given. What the parser calls a header now is a trailer.
        self.headers = []
        if self._body_length is not None and self._body_length > self.SPARE_BODY_BYTES:
            # Decided so early, it is said in the headers of the response.
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._body_size += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._in_body:
            self._end_body()
        # As uvicorn's own does, which first asks whether this is an upgrade. It never is.
        self.cycle.more_body = False
        self.cycle.message_event.set()

    def _end_body(self) -> None:
        self._judge_chunks()
        self._in_body = False
        if self._answering:
            self._deadline.due = NEVER
        else:
            self._deadline.move(self.IDLE_SECONDS)

    def _judge_chunks(self) -> None:
        if self.headers:
            raise httptools.HttpParserError("trailers")
        if self._body_read - self._body_size > self.CHUNK_FRAMING_BYTES:
            raise httptools.HttpParserError("too much framing around the chunks")

    # What the application does

    def _send_whole(self, scope: Scope, status: int, lines: bytes, body: bytes) -> bool:
        """Take uvicorn's place for an answer without surprises; whatever is unusual is left to uvicorn."""
        cycle = self.cycle
        if (
            cycle.scope is not scope
            or cycle.response_started
            or cycle.disconnected
            or not cycle.keep_alive
            or self.flow.write_paused
            or scope["method"] == "HEAD"
        ):
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        default = b"".join([b"%b: %b\r\n" % header for header in self.server_state.default_headers])
        self.transport.write(b"%b%b%b\r\n%b" % (STATUS_LINE[status], default, lines, body))
        cycle.message_event.set()
        self.on_response_complete()
        return True

    def on_response_complete(self) -> None:
        # In place of uvicorn's own, which makes a timer for every response.
        self.server_state.total_requests += 1
        self._answering = False
        if self._lingering:
            return
        if self.flow.write_paused:
            # The client has not read its answers; what else it wants must wait until it does.
            self._deadline.move(self.WRITE_SECONDS)
        else:
            self._go_on()

    def _go_on(self) -> None:
        """With whatever comes next on this connection."""
        if not self._in_body:
            self._deadline.move(self.IDLE_SECONDS)
        elif self.expect_100_continue and not self._body_read:
            # The client may have waited for leave to send its body and now never send it. The next byte
            # could be the body's first or another request's.
            self._linger()
        if not self.transport.is_closing():
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

    # The end

    def _on_deadline(self) -> None:
        if (self._head or self._in_body) and not self._is_closing():
            self._refuse(REQUEST_TIMEOUT)
        else:
            # `close` would wait for a client that does not read its answer.
            self.transport.abort()

    def _refuse(self, refusal: Refusal, reason: Exception | None = None) -> None:
        """Answer in place of the application, if this request has no answer yet, and end the connection."""
        request_id = new_request_id()
        cause = reason and (reason.__context__ or reason)
        self.logger.debug("%s %s %r", request_id.decode(), refusal.code, cause)
        answered = self.cycle.response_started if self._answering else self._in_body
        if not answered:
            self.transport.write(_written(refusal, request_id, self.server_state.default_headers))
        self._linger()

    def _linger(self) -> None:
        """Say that no more will come, and hear the client out for a while.

        A socket that is closed with bytes unread is reset, and the reset can reach the client before it has
        read its answer.
        """
        if self._is_closing():
            return
        if self._answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._lingering = True
        self._deadline.move(self.LINGER_SECONDS)
        if self.transport.can_write_eof():
            self.transport.write_eof()
            self.flow.resume_reading()
        else:
            self.transport.close()


def _read_framing(name: bytes, value: bytes, version: str) -> int | None:
    if name == b"content-length" and value.isdigit():
        return int(value)
    if name == b"transfer-encoding" and value.lower() == b"chunked" and version == "1.1":
        return None
    raise httptools.HttpParserError("unreadable framing")


def _written(refusal: Refusal, request_id: bytes, default_headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    answer = refusal_answer(Refused(refusal))
    headers = [
        *default_headers,
        *answer.headers,
        (b"content-length", b"%d" % len(answer.body)),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request_id),
    ]
    lines = b"".join(b"%s: %s\r\n" % header for header in headers)
    return STATUS_LINE[answer.status] + lines + b"\r\n" + answer.body
