"""An HTTP connection that strangers can reach: every request read in one way only, and nothing without limit.

uvicorn's server accepts the connections and stops them (`uvicorn.Config(http=GuardedProtocol, ws="none")`).
Its own class for them trusts its clients: it sets no limit to the size of a head, no deadline to a slow
sender, and lets trailers pass for headers. It also does more for a request than all the rules of an order.

One idea carries the rest: we find the ends of heads and bodies ourselves, and give the parser no byte beyond
the request that is due. So a head can be measured, a request waits until the one before it is answered, and
where the parser and we see different ends the request is refused instead of read in two ways.
"""

import asyncio
import fcntl
import re
import termios
from collections.abc import Iterable
from typing import Any, cast

import httptools
import structlog
from uvicorn.config import Config
from uvicorn.protocols.utils import get_local_addr, get_remote_addr, is_ssl
from uvicorn.server import ServerState

from bullion.refusals.catalogue import HEADERS_TOO_LARGE, INTERNAL_ERROR, MALFORMED_HTTP, REQUEST_TIMEOUT
from bullion.refusals.refusal import RefusalCode, RefusalError

from .answer import WHOLE_ANSWER, Scope, new_request_id, refusal_answer
from .attendant import Attendant
from .connections import ConnectionCount
from .deadline import NEVER, Deadline
from .exchange import STATUS_LINES, Exchange
from .framing import path_and_query, read_framing
from .outgoing import Outgoing

_BLANK_LINE = b"\r\n\r\n"
_NO_END = -1
_VERSIONS = {b" HTTP/1.1": "1.1", b" HTTP/1.0": "1.0"}
_JUDGED_HEADERS = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect"})
_ASGI = {"version": "3.0", "spec_version": "2.3"}
_UPGRADE_LINE = re.compile(rb"\r\nupgrade:[^\r\n]*", re.IGNORECASE)


_log = structlog.get_logger("web")


class _ReadAgainError(Exception):
    """This head must be read by itself."""


class _Parser(httptools.HttpRequestParser):
    """We know a request's version before the parser does, and httptools is slow to spell it out."""

    __slots__ = ("version",)
    version: str


class GuardedProtocol(asyncio.Protocol):
    HEAD_BYTES = 16 * 1024
    CHUNK_FRAMING_BYTES = 16 * 1024
    CHUNK_BLANK_LINES = 1_000
    """Each blank line inside chunks is a separate call of the parser, and may be the end of the body."""
    SPARE_BODY_BYTES = 64 * 1024
    """So much of a body that nobody wants is read for the sake of the connection."""
    LINGER_BYTES = 1024 * 1024

    HEAD_SECONDS = 10.0
    BODY_SECONDS = 10.0
    WRITE_SECONDS = 10.0
    """For a client that does not read its answer."""
    FIRST_REQUEST_SECONDS = 10.0
    """For a new connection, until its first request begins."""
    IDLE_SECONDS = 75.0
    """Between two requests."""
    LINGER_SECONDS = 2.0
    LEAVE_SECONDS = 1.0
    """A server that stops still answers a request that begins to arrive within this time."""

    __slots__ = (
        "_answering",
        "_app",
        "_attendant",
        "_beyond_head",
        "_blank_lines",
        "_body_length",
        "_body_read",
        "_body_size",
        "_body_tail",
        "_client",
        "_count",
        "_counted_for",
        "_deadline",
        "_default_headers",
        "_default_lines",
        "_exchange",
        "_expects_leave",
        "_framed",
        "_head",
        "_headers",
        "_held",
        "_hosts",
        "_in_body",
        "_leaving",
        "_lingered",
        "_lingering",
        "_loop",
        "_outgoing",
        "_read_paused",
        "_scheme",
        "_server",
        "_state",
        "_transport",
        "_url",
        "_writable",
        "parser",
        "put",
        "write",
        "write_paused",
    )

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],  # noqa: ARG002 - of uvicorn's lifespan, which we do not use
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        count: ConnectionCount | None = None,
    ) -> None:
        if not config.loaded:
            config.load()
        self._app = config.loaded_app
        self._state = server_state
        self._loop = _loop or asyncio.get_running_loop()
        self.parser = _Parser(self)
        self._deadline = Deadline(self._loop, self._on_deadline)
        self._count = count
        self._counted_for: str | None = None
        self._transport: asyncio.Transport
        self._outgoing: Outgoing
        self._server: Any = None
        self._client: Any = None
        self._scheme = "http"
        self._default_headers: list[tuple[bytes, bytes]] | None = None
        self._default_lines = b""
        self._read_paused = False
        self.write_paused = False
        self._writable: asyncio.Event | None = None
        self._exchange: Exchange | None = None
        self._attendant: Attendant | None = None
        self._answering = False  # the application has a request and has not completed its response
        self._leaving = False
        self._held = b""  # what came after that request
        self._lingering = False
        self._lingered = 0

        # The request that is arriving
        self._head = b""  # until it is whole
        self._beyond_head = 0  # bytes that came with the end of it
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._expects_leave = False
        self._hosts = 0
        self._framed = False
        self._body_length: int | None = 0  # None: chunked
        self._in_body = False
        self._body_read = 0  # with the framing of its chunks
        self._body_size = 0  # without
        self._body_tail = b""
        self._blank_lines = 0

    # The connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are not of asyncio's class
        self._server, self._client = get_local_addr(self._transport), get_remote_addr(self._transport)
        self._scheme = "https" if is_ssl(self._transport) else "http"
        self._outgoing = Outgoing(self._transport, self._loop)
        self.write, self.put = self._outgoing.write, self._outgoing.put
        if self._count is not None and self._client is not None:
            self._counted_for = self._count.enter(self._client[0])
            if self._counted_for is None:
                self._outgoing.abort()
                return
        self._state.connections.add(self)  # type: ignore[arg-type]  # uvicorn names its own classes
        self._deadline.move(self.FIRST_REQUEST_SECONDS)

    def connection_lost(self, _exc: Exception | None) -> None:
        self._deadline.end()
        if self._count is not None and self._counted_for is not None:
            self._count.leave(self._counted_for)
        self._outgoing.forget()
        self._state.connections.discard(self)
        if self._exchange is not None:
            self._exchange.on_disconnect()
            self._exchange = None
        if self._attendant is not None:
            self._attendant.dismiss()
            self._attendant = None
        self._resume_writing()
        del self.parser  # It holds us.

    def eof_received(self) -> bool:
        """A client that has said all may still wait for its answer."""
        if self._answering and not self._in_body:
            self._end_with_answer()
            return True
        return False

    def pause_writing(self) -> None:
        self.write_paused = True
        self._deadline.move(self.WRITE_SECONDS)

    def resume_writing(self) -> None:
        self._resume_writing()
        if self._answering:
            if not self._in_body:
                self._deadline.due = NEVER
        elif not self._lingering:
            self._go_on()
            if self._leaving and not self._answering:
                self._deadline.move(self.LEAVE_SECONDS)

    def _resume_writing(self) -> None:
        self.write_paused = False
        if self._writable is not None:
            self._writable.set()
            self._writable = None

    async def writable(self) -> None:
        if self._writable is None:
            self._writable = asyncio.Event()
        await self._writable.wait()

    def pause_reading(self) -> None:
        if not self._read_paused:
            self._read_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self._read_paused:
            self._read_paused = False
            self._transport.resume_reading()

    def shutdown(self) -> None:
        """The server stops. A request that is on its way, or is likely to be, is still answered.

        A client of an idle connection cannot be told: it may have sent a request before it sees the end.
        """
        if self._leaving:
            return
        self._leaving = True
        if self._lingering:
            self._outgoing.close()
        elif self._answering:
            self._end_with_answer()
        elif not self.write_paused:
            self._deadline.move(self.LEAVE_SECONDS)

    def data_received(self, data: bytes) -> None:
        try:
            while data:
                if self._lingering:
                    self._lingered += len(data)
                    if self._lingered > self.LINGER_BYTES:
                        self._outgoing.close()
                    return
                if self._in_body:
                    data = self._read_body(data)
                elif self._answering or self.write_paused:
                    # Parsed now, this could be refused before the answer that is due first, and a read full
                    # of small requests would become as many objects.
                    self._held += data
                    self.pause_reading()
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
            # What was looked through before is not looked through again with every small segment.
            start = max(0, len(self._head) - 3)
            head = self._head + data
        else:
            # Some clients end a body with an empty line that they do not count. It begins no request.
            head = data = data.lstrip(b"\r\n")
            if not data:
                return b""
            start = 0
            self.parser.version = ""
            self._hosts = self._body_length = 0
            self._framed = False
            self._deadline.due = NEVER
        end = head.find(_BLANK_LINE, start)
        size = len(head) if end < 0 else end + 4
        if size > self.HEAD_BYTES:
            self._refuse(HEADERS_TOO_LARGE)
            return b""
        if not self.parser.version:
            line_end = head.find(b"\r\n", start)
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
        """Feed the parser piece by piece; the rest is copied once, and not for each piece."""
        start = 0
        while start < len(data) and self._in_body and not self._lingering:
            piece = data[start : _end_of_piece(self._body_tail, data, start)]
            start += len(piece)
            self._body_tail = (self._body_tail + piece[-3:])[-3:]
            self._body_read += len(piece)
            self.parser.feed_data(piece)
            self._blank_lines += start < len(data)
            self._judge_chunks()
            if self._body_size > self.SPARE_BODY_BYTES:
                self._end_with_answer()
                if not self._answering:
                    self._linger()
        return data[start:]

    # What the parser tells

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers = []
        self._expects_leave = False

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in _JUDGED_HEADERS:
            self._judge_header(name, value)
        self._headers.append((name, value))

    def _judge_header(self, name: bytes, value: bytes) -> None:
        if name == b"host":
            self._hosts += 1
        elif name == b"expect":
            self._expects_leave = value.lower() == b"100-continue"
        elif self._framed:
            raise httptools.HttpParserError("framed twice")
        else:
            self._framed = True
            self._body_length = read_framing(name, value.strip(b" \t"), self.parser.version)

    def on_headers_complete(self) -> None:
        beyond = self._beyond_head
        if self._hosts != 1 and (self._hosts or self.parser.version == "1.1"):
            raise httptools.HttpParserError("not one Host")
        if (beyond and beyond != self._body_length) or self.parser.should_upgrade():
            self._judge_end_of_head()
        self._begin_exchange()
        self._head = b""
        self._deadline.due = NEVER
        if beyond != self._body_length:
            self._begin_body()

    def _begin_exchange(self) -> None:
        parser = self.parser
        path, query = path_and_query(self._url)
        method = parser.get_method().decode("ascii")
        keep_alive = parser.version == "1.1" and not self._leaving and parser.should_keep_alive()
        exchange = Exchange(self, method, keep_alive=keep_alive, waits_for_leave=self._expects_leave)
        scope: Scope = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": parser.version,
            "method": method,
            "scheme": self._scheme,
            "path": path,
            "raw_path": self._url.partition(b"?")[0],
            "query_string": query,
            "root_path": "",
            "headers": self._headers,
            "client": self._client,
            "server": self._server,
            "extensions": {WHOLE_ANSWER: exchange.send_whole},
        }
        self._exchange = exchange
        self._answering = True
        attendant = self._attendant
        if attendant is not None and attendant.free:
            attendant.attend(scope, exchange)
        else:
            if attendant is not None:
                attendant.dismiss()  # It has answered, and not yet returned: nobody waits for that.
            attendant = self._attendant = Attendant(self._app, self._loop, scope, exchange)
        self._state.tasks.add(attendant.task)

    def _judge_end_of_head(self) -> None:
        if self._beyond_head == _NO_END:
            raise httptools.HttpParserError("the parser sees an end of the head where we do not")
        length = self._body_length
        if self.parser.should_upgrade() or length is None or length < self._beyond_head:
            raise _ReadAgainError

    def _begin_body(self) -> None:
        self._in_body = True
        self._body_read = self._beyond_head
        self._body_size = self._blank_lines = 0
        self._body_tail = b""
        # The application keeps the list it was given. What the parser calls a header now is a trailer.
        self._headers = []
        if self._body_length is not None and self._body_length > self.SPARE_BODY_BYTES:
            # Decided so early, it is said in the headers of the response.
            self._end_with_answer()

    def on_body(self, body: bytes) -> None:
        self._body_size += len(body)
        if self._exchange is not None:
            self._exchange.on_body(body)

    def on_message_complete(self) -> None:
        if self._in_body:
            self._end_body()
        if self._exchange is not None:
            self._exchange.on_end_of_body()

    def _end_body(self) -> None:
        self._judge_chunks()
        self._in_body = False
        if self._answering:
            self._deadline.due = NEVER
        else:
            self._deadline.move(self.IDLE_SECONDS)

    def _judge_chunks(self) -> None:
        if self._headers:
            raise httptools.HttpParserError("trailers")
        if self._body_read - self._body_size > self.CHUNK_FRAMING_BYTES:
            raise httptools.HttpParserError("too much framing around the chunks")
        if self._blank_lines > self.CHUNK_BLANK_LINES:
            raise httptools.HttpParserError("too many blank lines in the chunks")

    # What the application does

    def default_lines(self) -> bytes:
        """uvicorn makes them anew each second: the date, above all."""
        headers = self._state.default_headers
        if headers is not self._default_headers:
            self._default_headers = headers
            self._default_lines = b"".join([b"%b: %b\r\n" % header for header in headers])
        return self._default_lines

    def answered(self) -> None:
        self._state.total_requests += 1
        self._answering = False
        if self._lingering:
            return
        if self.write_paused:
            # The client has not read its answers; what else it wants must wait until it does.
            self._deadline.move(self.WRITE_SECONDS)
        else:
            self._go_on()

    def ended(self, task: "asyncio.Task[None]") -> None:
        """The application has returned, whether or not it has answered."""
        self._state.tasks.discard(task)

    def fail(self, exchange: Exchange) -> None:
        """The application has left a request without an answer, or with half of one."""
        if exchange.started:
            self._outgoing.abort()  # Nothing that ends well must seem to follow.
        else:
            self._refuse(INTERNAL_ERROR)

    def hang_up(self) -> None:
        """The application wants no answer to be given, not even that there is none."""
        self._outgoing.abort()

    def _go_on(self) -> None:
        """With whatever comes next on this connection."""
        if not self._in_body:
            self._deadline.move(self.IDLE_SECONDS)
        elif self._expects_leave and not self._body_read:
            # The client may have waited for leave to send its body and now never send it. The next byte
            # could be the body's first or another request's.
            self._linger()
        if not self._transport.is_closing():
            self.resume_reading()
            if self._held:
                held, self._held = self._held, b""
                self.data_received(held)

    def _end_with_answer(self) -> None:
        if self._exchange is not None:
            self._exchange.keep_alive = False

    def is_closing(self) -> bool:
        return self._lingering or self._transport.is_closing()

    def close_after_answer(self) -> None:
        if self._in_body or self._held:
            self._linger()
        else:
            self._outgoing.close()

    # The end

    def _on_deadline(self) -> None:
        if (self._head or self._in_body) and not self.is_closing():
            self._refuse(REQUEST_TIMEOUT)
        elif self._has_unread_bytes():
            # The loop is late, and reads them next.
            self._deadline.move(self.LEAVE_SECONDS)
        else:
            # `close` would wait for a client that does not read its answer.
            self._outgoing.abort()

    def _has_unread_bytes(self) -> bool:
        if self._read_paused or self.write_paused or self.is_closing():
            return False
        descriptor = self._transport.get_extra_info("socket").fileno()
        unread = fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))
        return any(unread)

    def _refuse(self, refusal: RefusalCode, reason: Exception | None = None) -> None:
        """Answer in place of the application, if this request has no answer yet, and end the connection."""
        request_id = new_request_id()
        cause = reason and (reason.__context__ or reason)
        _log.debug("request_refused", request_id=request_id.decode(), code=refusal.code, cause=repr(cause))
        exchange = self._exchange
        answered = exchange.started if self._answering and exchange is not None else self._in_body
        if not answered:
            self.write(_written(refusal, request_id, self._state.default_headers))
        self._linger()

    def _linger(self) -> None:
        """Say that no more will come, and hear the client out for a while.

        A socket that is closed with bytes unread is reset, and the reset can reach the client before it has
        read its answer.
        """
        if self.is_closing():
            return
        if self._answering and self._exchange is not None:
            self._exchange.on_disconnect()
        self._lingering = True
        self._deadline.move(self.LINGER_SECONDS)
        if self._transport.can_write_eof():
            self._outgoing.end()
            self.resume_reading()
        else:
            self._outgoing.close()


def _end_of_piece(tail: bytes, data: bytes, start: int) -> int:
    """Where the first blank line ends that comes after `start`, or began in the `tail` of what came before.

    A chunked body without trailers ends in a blank line. Its data may have blank lines as well: then the
    parser is fed in more pieces than need be.
    """
    end = (tail + data[start : start + 3]).find(_BLANK_LINE)
    if end >= 0:
        return start + end + 4 - len(tail)
    end = data.find(_BLANK_LINE, start)
    return len(data) if end < 0 else end + 4


def _written(
    refusal: RefusalCode, request_id: bytes, default_headers: Iterable[tuple[bytes, bytes]]
) -> bytes:
    answer = refusal_answer(RefusalError(refusal))
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
    return STATUS_LINES[answer.status] + lines + b"\r\n" + answer.body
