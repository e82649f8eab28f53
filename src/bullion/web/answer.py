"""The response to a call, and how it is sent."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from random import getrandbits
from time import time_ns
from typing import Any

import msgspec

from bullion.refusals.refusal import RefusalError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

JSON = (b"content-type", b"application/json")
_ON_EVERY_ANSWER: Headers = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)

_JSON_ALONE: Headers = (JSON,)

WHOLE_ANSWER = "bullion.whole_answer"
"""In `scope["extensions"]`: sends a response in one write, from its status, header lines and body.

It returns False where it cannot. The response is then sent as ASGI messages.
"""

encode_json = msgspec.json.Encoder().encode


class HangUp(Exception):
    """The caller gets no response: the connection is aborted."""


class Answer(msgspec.Struct):
    status: int
    body: bytes
    headers: Headers = _JSON_ALONE


NOT_FOUND = Answer(404, b'{"detail":"Not Found"}')
"""For an unknown path. It has no code, so that clients can tell it from a refusal."""


def json_answer(value: Any, status: int = 200) -> Answer:
    return Answer(status, encode_json(value))


def refusal_answer(refused: RefusalError) -> Answer:
    headers = (JSON, *refusal_headers(refused))
    return Answer(refused.refusal.status, encode_json(refused.body()), headers)


def refusal_headers(refused: RefusalError) -> Headers:
    """The headers of a refusal."""
    headers = [
        (name.lower().encode("ascii"), value.encode("ascii")) for name, value in refused.headers.items()
    ]
    if refused.retry_after_s is not None:
        headers.append((b"retry-after", b"%d" % refused.retry_after_s))
    return headers


def new_request_id() -> bytes:
    """It begins with the time in milliseconds, so that log entries of a call can be found by time."""
    return b"%012x%012x" % (time_ns() // 1_000_000, getrandbits(48))


def header_line(name: bytes, value: bytes) -> bytes:
    """As it is sent. Neither is checked for line breaks."""
    return b"%b: %b\r\n" % (name, value)


_LINES = b"content-length: %d\r\nx-request-id: %b\r\n%b" + b"".join(
    header_line(*header) for header in (*_JSON_ALONE, *_ON_EVERY_ANSWER)
)


async def send_answer(scope: Scope, send: Send, answer: Answer, request_id: bytes, more: bytes = b"") -> None:
    """`more`: header lines beside the answer's own."""
    if answer.headers is _JSON_ALONE and _sent_whole(scope, answer, request_id, more):
        return
    await send(
        {
            "type": "http.response.start",
            "status": answer.status,
            "headers": [
                (b"content-length", b"%d" % len(answer.body)),
                (b"x-request-id", request_id),
                *answer.headers,
                *(_header_of(line) for line in more.splitlines()),
                *_ON_EVERY_ANSWER,
            ],
        }
    )
    await send({"type": "http.response.body", "body": answer.body})


def _header_of(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b": ")
    return name, value


def _sent_whole(scope: Scope, answer: Answer, request_id: bytes, more: bytes) -> bool:
    send_whole = scope.get("extensions", {}).get(WHOLE_ANSWER)
    if send_whole is None:
        return False
    sent: bool = send_whole(answer.status, _LINES % (len(answer.body), request_id, more), answer.body)
    return sent
