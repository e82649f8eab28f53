"""The response to a call, and how it is sent."""

from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from random import getrandbits
from time import time_ns
from typing import Any, Protocol

import msgspec

from bullion.refusals.refusal import RefusalError

from .event_stream import EventStream, StreamEnd
from .headers import Headers

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

JSON = (b"content-type", b"application/json")
# A response that has one of these itself keeps its own.
_ON_EVERY_RESPONSE: Headers = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)

_JSON_ALONE: Headers = (JSON,)
_EVENT_STREAM: Headers = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),  # nginx sends every event on at once.
)

EXCHANGE = "bullion.exchange"
"""In `scope["extensions"]` of our own connection: what ASGI messages cannot do, or not as fast."""
CONNECTION = "bullion.connection"
"""There too: what the application remembers from one call of the connection to the next."""

ConnectionMemory = dict[str, Any]


class FastExchange(Protocol):
    def take_body(self) -> bytes | None:
        """The body of the request, if all of it has arrived and none was taken. Otherwise it is received."""

    def send_at_once(self, status: int, lines: bytes, body: bytes) -> bool:
        """Send a whole response in one write. False if it has to be sent as ASGI messages."""

    def open_stream(self, lines: bytes) -> EventStream | None:
        """Send the head of a stream. None if the client has left."""


def fast_exchange(scope: Scope) -> FastExchange | None:
    extensions = scope.get("extensions")
    return extensions.get(EXCHANGE) if extensions else None


def connection_memory(scope: Scope) -> ConnectionMemory | None:
    extensions = scope.get("extensions")
    return extensions.get(CONNECTION) if extensions else None


encode_json = msgspec.json.Encoder().encode


class AbortConnection(Exception):
    """The caller gets no response: the connection is aborted."""


class Response(msgspec.Struct):
    status: int
    body: bytes
    headers: Headers = _JSON_ALONE


class StreamResponse(Response, kw_only=True):
    """The head and the first events of a stream that stays open."""

    opened: Callable[[EventStream], None]
    """Called once the client has been sent the head."""


NOT_FOUND = Response(404, b'{"detail":"Not Found"}')
"""For an unknown path. It has no code, so that clients can tell it from a refusal."""


def json_response(value: Any, status: int = 200) -> Response:
    return Response(status, encode_json(value))


def stream_response(first: bytes, opened: Callable[[EventStream], None]) -> Response:
    """`first`: what every stream of this kind begins with."""
    return StreamResponse(200, first, _EVENT_STREAM, opened=opened)


def refusal_response(refused: RefusalError) -> Response:
    headers = (JSON, *refusal_headers(refused))
    return Response(refused.refusal.status, encode_json(refused.body()), headers)


def refusal_headers(refused: RefusalError) -> Headers:
    headers = [
        (name.lower().encode("ascii"), value.encode("ascii")) for name, value in refused.headers.items()
    ]
    if refused.retry_after_s is not None:
        headers.append((b"retry-after", b"%d" % refused.retry_after_s))
    return headers


def new_request_id() -> bytes:
    """Request ids begin with the time in milliseconds, so that log entries can be found by time."""
    number = time_ns() // 1_000_000 << 48 | getrandbits(48)
    return number.to_bytes(12, "big").hex().encode("ascii")


def header_line(name: bytes, value: bytes) -> bytes:
    """One line of the head. Name and value are not checked for line breaks."""
    return b"%b: %b\r\n" % (name, value)


_LINES = b"content-length: %d\r\nx-request-id: %b\r\n%b" + b"".join(
    header_line(*header) for header in (*_JSON_ALONE, *_ON_EVERY_RESPONSE)
)
_STREAM_LINES = b"".join(
    header_line(*header) for header in (dict(_ON_EVERY_RESPONSE) | dict(_EVENT_STREAM)).items()
)


async def send_response(
    scope: Scope, send: Send, response: Response, request_id: bytes, more: bytes = b""
) -> None:
    """`more`: header lines to add to those of the response."""
    if isinstance(response, StreamResponse):
        _open_stream(scope, response, request_id, more)
        return
    if response.headers is _JSON_ALONE and _sent_in_one_write(scope, response, request_id, more):
        return
    own = {name for name, _ in response.headers}
    length = () if response.status == HTTPStatus.NOT_MODIFIED else _length(response)
    await send(
        {
            "type": "http.response.start",
            "status": response.status,
            "headers": [
                *length,
                (b"x-request-id", request_id),
                *response.headers,
                *(_header_of(line) for line in more.splitlines()),
                *(header for header in _ON_EVERY_RESPONSE if header[0] not in own),
            ],
        }
    )
    await send({"type": "http.response.body", "body": response.body})


def _open_stream(scope: Scope, response: StreamResponse, request_id: bytes, more: bytes) -> None:
    lines = header_line(b"x-request-id", request_id) + more + _STREAM_LINES
    exchange = fast_exchange(scope)
    stream = None if exchange is None else exchange.open_stream(lines)
    if stream is not None:
        stream.write(response.body)
        try:
            response.opened(stream)
        except BaseException:
            stream.end(StreamEnd.REFUSED)
            raise


def _length(response: Response) -> Headers:
    return ((b"content-length", b"%d" % len(response.body)),)


def _header_of(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b": ")
    return name, value


def _sent_in_one_write(scope: Scope, response: Response, request_id: bytes, more: bytes) -> bool:
    exchange = fast_exchange(scope)
    if exchange is None:
        return False
    lines = _LINES % (len(response.body), request_id, more)
    return exchange.send_at_once(response.status, lines, response.body)
