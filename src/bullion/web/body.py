"""Reads the body of a request, up to a limit."""

from bullion.refusals.catalogue import REQUEST_TOO_LARGE, UNSUPPORTED_ENCODING
from bullion.refusals.refusal import RefusalError

from .headers import Headers, HeaderValues
from .response import Receive, Scope, fast_exchange


class CallerLeft(Exception):
    """The caller disconnected before its request was complete, so nobody would get a response."""


def body_at_hand(scope: Scope, headers: HeaderValues, bytes_max: int) -> bytes | None:
    """The body, if it has arrived and needs no closer look. Otherwise `read_body` waits for it."""
    exchange, length = fast_exchange(scope), headers.get(b"content-length")
    if exchange is None or length is None or int(length[0]) > bytes_max or b"content-encoding" in headers:
        return None
    return exchange.take_body()


async def read_body(headers: Headers, receive: Receive, bytes_max: int) -> bytes:
    encoded = False
    for name, value in headers:
        if name == b"content-length" and int(value) > bytes_max:
            raise RefusalError(REQUEST_TOO_LARGE, f"The body is over {bytes_max // 1024} KiB.")
        if name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
            encoded = True
    if encoded:
        raise RefusalError(UNSUPPORTED_ENCODING)
    body: bytes | bytearray = b""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise CallerLeft
        piece = message.get("body", b"")
        if body:
            if isinstance(body, bytes):
                body = bytearray(body)
            body += piece  # In place: copying the whole for each small segment would take quadratic time.
        else:
            body = piece
        more = message.get("more_body", False)
        if len(body) > bytes_max:
            raise RefusalError(REQUEST_TOO_LARGE, f"The body is over {bytes_max // 1024} KiB.")
    return bytes(body)
