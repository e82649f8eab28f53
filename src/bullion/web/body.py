"""Reads the body of a request, up to a limit."""

from bullion.refusals.catalogue import REQUEST_TOO_LARGE, UNSUPPORTED_ENCODING
from bullion.refusals.refusal import RefusalError

from .response import Headers, Receive


class CallerLeft(Exception):
    """The caller disconnected before its request was complete, so nobody would get a response."""


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
