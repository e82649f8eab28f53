"""An HTTP connection open to the internet: requests are parsed unambiguously, and everything has limits.

uvicorn's server accepts and stops the connections (`uvicorn.Config(http=GuardedProtocol, ws="none")`).

Safer than uvicorn's own connection class, which sets no limit on the size of a head, no deadline for a slow
sender, and adds trailers to the headers. Also faster: a call of `/me` with all its checks costs 1.1 times the
CPU of a constant response through uvicorn's class.
"""

import asyncio
import fcntl
import termios
from collections.abc import Iterable
from typing import Any, cast

import httptools
import structlog
from uvicorn.config import Config
from uvicorn.protocols.utils import get_local_addr, get_remote_addr, is_ssl
from uvicorn.server import ServerState

from bullion.refusals.catalogue import INTERNAL_ERROR, MALFORMED_HTTP, REQUEST_TIMEOUT
from bullion.refusals.refusal import RefusalCode, RefusalError

from .connection_state import (
    ANSWERING,
    CLOSING,
    DRAINING,
    IDLE,
    ON_ANSWERED,
    ON_BODY_END,
    ON_FIRST_BYTE,
    ON_HEAD_BEFORE_BODY,
    ON_HEAD_WITHOUT_BODY,
    ON_STREAM,
    READING_HEAD,
    READS_BODY,
    RUNS_APP,
    STREAMING,
    State,
)
from .connections import ConnectionCount
from .deadline import NEVER, Deadline
from .event_stream import EventStream, StreamEnd, limit_unread
from .exchange import STATUS_LINES, Exchange
from .framing import split_target
from .hand_over import HandOver
from .health import DRAIN
from .request_reader import RequestReader
from .response import CONNECTION, EXCHANGE, ConnectionMemory, Scope, new_request_id, refusal_response
from .write_batch import BatchedWriter

_ASGI = {"version": "3.0", "spec_version": "2.3"}

_log = structlog.get_logger("web")


class GuardedProtocol(asyncio.Protocol):
    DRAINED_BODY_BYTES_MAX = 64 * 1024
    """Unread body bytes are drained so that the connection can be reused, up to this many."""
    LINGER_BYTES = 1024 * 1024

    HEAD_SECONDS = 10.0
    BODY_SECONDS = 10.0
    WRITE_SECONDS = 10.0
    """For a client that does not read its response, or what a stream sends it."""
    FIRST_REQUEST_SECONDS = 10.0
    """For a new connection, until its first request begins."""
    IDLE_SECONDS = 75.0
    """Between two requests."""
    LINGER_SECONDS = 2.0
    STOP_GRACE_SECONDS = 1.0
    """A server that stops still answers a request that begins to arrive within this time."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],  # noqa: ARG002 - of uvicorn's lifespan, which we do not use
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        count: ConnectionCount | None = None,
        hand_over: HandOver | None = None,
    ) -> None:
        if not config.loaded:
            config.load()
        self._app = config.loaded_app
        self._server_state = server_state
        self._loop = _loop or asyncio.get_running_loop()
        self._count = count
        self._counted_for: str | None = None
        self._hand_over = hand_over
        self._deadline = Deadline(self._loop, self._on_deadline)
        self.reader = RequestReader(self)
        self.state: State = IDLE
        self._exchange: Exchange | None = None
        """The latest request."""
        self._stream: EventStream | None = None
        self._memory: ConnectionMemory = {}
        self._held = b""
        """Bytes that arrived after that request, before its response was complete."""
        self._discarded = 0
        self._ended = False
        """Whether the client has closed its sending side."""
        self._stopping = False
        self._read_paused = False
        self.write_paused = False
        self._writable: asyncio.Event | None = None
        self._default_headers: list[tuple[bytes, bytes]] | None = None
        self._default_lines = b""

    # The transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are not of asyncio's class
        self._server, self._client = get_local_addr(self._transport), get_remote_addr(self._transport)
        self._scheme = "https" if is_ssl(self._transport) else "http"
        self._writer = BatchedWriter(self._transport, self._loop)
        self.write, self.put = self._writer.write, self._writer.put
        if self._count is not None and self._client is not None and self._counted_for is None:
            self._counted_for = self._count.enter(self._client[0])
            if self._counted_for is None:
                self._writer.abort()
                return
        self._server_state.connections.add(self)  # type: ignore[arg-type]  # uvicorn names its own classes
        self._deadline.move(self.FIRST_REQUEST_SECONDS)

    def connection_lost(self, _exc: Exception | None) -> None:
        self._deadline.end()
        if self._count is not None and self._counted_for is not None:
            self._count.leave(self._counted_for)
        self._writer.discard()
        self._server_state.connections.discard(self)
        if self._exchange is not None:
            self._exchange.on_disconnect()
            self._exchange = None
        if self._stream is not None:
            self._stream.finish(StreamEnd.LEFT)
            self._stream = None
        self._set_writable()
        # They refer to each other: otherwise only the garbage collector would free them.
        del self.reader.parser, self.reader

    def eof_received(self) -> bool:
        """A client that closed its sending side still waits for the responses to its complete requests.

        Return whether the connection stays open for them. With TLS it cannot, and a stream ends here.
        """
        self._ended = True
        self._writer.flush()  # A transport that closes takes no more.
        if self.state in (STREAMING, CLOSING) or not self._transport.can_write_eof():
            return False
        if self._held:
            return True  # `_continue` comes back here when it has read them.
        if self.state is ANSWERING:
            self._close_after_this_request()
            return True
        return False

    def pause_writing(self) -> None:
        self.write_paused = True
        self._deadline.move(self.WRITE_SECONDS)

    def resume_writing(self) -> None:
        self._set_writable()
        if self.state is ANSWERING:
            self._deadline.due = NEVER
        elif self.state is STREAMING:
            if self._stream is not None and self._stream.open:
                self._deadline.due = NEVER
                self._stream.on_writable()
        elif self.state not in RUNS_APP and self.state is not CLOSING:
            self._continue()
            if self._stopping and self.state not in RUNS_APP:
                self._deadline.move(self.STOP_GRACE_SECONDS)

    def _set_writable(self) -> None:
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

        The client of an idle connection may have sent a request before it sees that the connection closes.
        """
        if self._stopping:
            return
        self._stopping = True
        if self.state is CLOSING:
            self._writer.close()
        elif self._stream is not None:
            self._stream.end(StreamEnd.STOPPING)
        elif self.state in RUNS_APP:
            self._close_after_this_request()
        elif not self.write_paused:
            self._deadline.move(self.STOP_GRACE_SECONDS)

    def data_received(self, data: bytes) -> None:
        try:
            while data:
                data = self._read(data)
        except RefusalError as error:
            self._refuse(error.refusal)
        except httptools.HttpParserError as error:
            self._refuse(MALFORMED_HTTP, error)
        if self._deadline.due == NEVER:
            if self.state in READS_BODY:
                self._deadline.move(self.BODY_SECONDS)
            elif self.state is READING_HEAD:
                self._deadline.move(self.HEAD_SECONDS)

    def _read(self, data: bytes) -> bytes:
        """Handle the data according to the state; return what is left for the next state."""
        state = self.state
        if state in READS_BODY:
            return self.reader.read_body(data)
        if state is CLOSING or state is STREAMING:
            self._discard(data)
            return b""
        if state is ANSWERING or self.write_paused:
            # Parsed now, this could be refused before the response that is due first, and a read full of
            # small requests would become as many objects.
            self._held += data
            self.pause_reading()
            return b""
        if state is IDLE:
            # Some clients end a body with an empty line that they do not count. It begins no request.
            data = data.lstrip(b"\r\n")
            if not data:
                return b""
            self.state = ON_FIRST_BYTE[state]
            self._deadline.due = NEVER
            self.reader.begin_head()
        if self._hand_over is not None and self._exchange is None and self._moves(self._hand_over, data):
            return b""
        return self.reader.read_head(data)

    def _moves(self, hand_over: HandOver, data: bytes) -> bool:
        """Give this connection to the worker that owns the account of its first request, if another does."""
        received = self.reader.head + data
        owner = hand_over.owner(received)
        if owner is None or self._stopping:
            return False
        if not hand_over.send(owner, self._transport.get_extra_info("socket").fileno(), received):
            return False
        # This closes only our descriptor. The client notices nothing.
        self.state = CLOSING
        self.pause_reading()
        self._writer.abort()
        return True

    def _discard(self, data: bytes) -> None:
        self._discarded += len(data)
        if self._discarded > self.LINGER_BYTES:
            self._writer.close()

    # Called by the reader

    def begin_request(self, body_length: int | None, *, body_follows: bool) -> Exchange:
        reader = self.reader
        path, raw_path, query = split_target(reader.url)
        method = reader.parser.get_method().decode("ascii")
        ends = self._stopping or DRAIN.active
        keep_alive = reader.version == "1.1" and not ends and reader.parser.should_keep_alive()
        if body_follows and body_length is not None and body_length > self.DRAINED_BODY_BYTES_MAX:
            keep_alive = False  # Decided this early, the headers of the response say so.
        exchange = Exchange(self, method, keep_alive, reader.expects_continue)
        scope: Scope = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": reader.version,
            "method": method,
            "scheme": self._scheme,
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "headers": reader.headers,
            "client": self._client,
            "server": self._server,
            "extensions": {EXCHANGE: exchange, CONNECTION: self._memory},
        }
        self._exchange = exchange
        self._deadline.due = NEVER
        self.state = (ON_HEAD_BEFORE_BODY if body_follows else ON_HEAD_WITHOUT_BODY)[self.state]
        # With a name, since the default one is formatted for each task.
        exchange.task = asyncio.Task(exchange.run(self._app, scope), loop=self._loop, name="request")
        self._server_state.tasks.add(exchange.task)
        return exchange

    def limit_chunked_body(self, size: int) -> None:
        if size > self.DRAINED_BODY_BYTES_MAX:
            self._close_after_this_request()
            if self.state is DRAINING:
                self._linger()

    def end_body(self) -> None:
        self.state = ON_BODY_END[self.state]
        if self.state is ANSWERING:
            self._deadline.due = NEVER
        else:
            self._deadline.move(self.IDLE_SECONDS)

    # Called by the exchange

    def default_lines(self) -> bytes:
        """uvicorn renews these headers each second, because of the date."""
        headers = self._server_state.default_headers
        if headers is not self._default_headers:
            self._default_headers = headers
            self._default_lines = b"".join([b"%b: %b\r\n" % header for header in headers])
        return self._default_lines

    def on_answered(self) -> None:
        self._server_state.total_requests += 1
        self.state = ON_ANSWERED[self.state]
        if self.state is CLOSING:
            return
        if self.write_paused:
            # The client has not read its responses; its next request waits until it does.
            self._deadline.move(self.WRITE_SECONDS)
        else:
            self._continue()

    def begin_stream(self) -> EventStream:
        self._server_state.total_requests += 1
        self.state = ON_STREAM[self.state]
        self._deadline.due = NEVER
        self._exchange = None
        self._held = b""
        self.resume_reading()  # The client says nothing more, but its end must be noticed.
        limit_unread(self._transport.get_extra_info("socket"))
        self._stream = EventStream(self)
        if self.write_paused:
            self._deadline.move(self.WRITE_SECONDS)
        if self._stopping:
            self._loop.call_soon(self._stream.end, StreamEnd.STOPPING)
        return self._stream

    def end_stream(self) -> None:
        """A client that does not read what was sent has a moment, and no more."""
        self._deadline.move(self.STOP_GRACE_SECONDS)
        self._writer.close()

    def on_app_returned(self, exchange: Exchange) -> None:
        task, exchange.task = exchange.task, None
        self._server_state.tasks.discard(task)
        if exchange.complete or exchange.disconnected:
            return
        if exchange.started:
            self.abort()  # A truncated response must not look complete.
        else:
            self._refuse(INTERNAL_ERROR)

    def abort(self) -> None:
        self._writer.abort()

    def is_closing(self) -> bool:
        return self.state is CLOSING or self._transport.is_closing()

    def close_after_response(self) -> None:
        if self.state in READS_BODY or self._held:
            self._linger()
        else:
            self._writer.close()

    def _continue(self) -> None:
        """Read what comes next on this connection."""
        if self.state is not DRAINING:
            self._deadline.move(self.IDLE_SECONDS)
        elif self.reader.expects_continue and not self.reader.body_read:
            # The client may have waited for `100 Continue` and now never send its body. The next byte could
            # be the body's first or another request's.
            self._linger()
        if not self._transport.is_closing():
            self.resume_reading()
            if self._held:
                held, self._held = self._held, b""
                self.data_received(held)
                if self._ended and not self.eof_received():
                    self._writer.close()

    def _close_after_this_request(self) -> None:
        if self._exchange is not None:
            self._exchange.keep_alive = False

    # The end

    def _on_deadline(self) -> None:
        if (self.state is READING_HEAD or self.state in READS_BODY) and not self._transport.is_closing():
            self._refuse(REQUEST_TIMEOUT)
        elif self._has_unread_bytes():
            # The event loop is late, and reads them next.
            self._deadline.move(self.STOP_GRACE_SECONDS)
        else:
            # `close` would wait for a client that does not read its response.
            if self._stream is not None:
                self._stream.finish(StreamEnd.SLOW_READER)
            self._writer.abort()

    def _has_unread_bytes(self) -> bool:
        if self._read_paused or self.write_paused or self.is_closing():
            return False
        descriptor = self._transport.get_extra_info("socket").fileno()
        unread = fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))
        return any(unread)

    def _refuse(self, refusal: RefusalCode, reason: Exception | None = None) -> None:
        """Answer in place of the application, if this request has no response yet, and close."""
        request_id = new_request_id()
        cause = reason and (reason.__context__ or reason)
        _log.debug("request_refused", request_id=request_id.decode(), code=refusal.code, cause=repr(cause))
        exchange = self._exchange
        started = self.state in RUNS_APP and exchange is not None and exchange.started
        if not started and self.state is not DRAINING:
            self.write(_response(refusal, request_id, self._server_state.default_headers))
        self._linger()

    def _linger(self) -> None:
        """Tell the client that nothing more will come, and drop what it sends for a while.

        A socket that is closed with bytes unread is reset, and the reset can reach the client before it has
        read its response.
        """
        if self.is_closing():
            return
        if self.state in RUNS_APP and self._exchange is not None:
            self._exchange.on_disconnect()
        self.state = CLOSING
        self._deadline.move(self.LINGER_SECONDS)
        if self._transport.can_write_eof() and not self._ended:
            self._writer.write_eof()
            self.resume_reading()
        else:
            self._writer.close()


def _response(
    refusal: RefusalCode, request_id: bytes, default_headers: Iterable[tuple[bytes, bytes]]
) -> bytes:
    response = refusal_response(RefusalError(refusal))
    headers = [
        *default_headers,
        *response.headers,
        (b"content-length", b"%d" % len(response.body)),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request_id),
    ]
    lines = b"".join(b"%s: %s\r\n" % header for header in headers)
    return STATUS_LINES[response.status] + lines + b"\r\n" + response.body
