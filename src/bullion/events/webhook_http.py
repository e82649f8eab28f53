"""One POST over HTTP/1.1, on a connection of its own to an address that was checked.

The usual client libraries take ten times as much of the processor, which the orders of the node need too. Of
the answer, the status and the beginning of the body are read.
"""

import asyncio
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import quote

import httptools
import msgspec

from .webhook_address import Address, Destination

_HEAD_BYTES_MAX = 16 * 1024
"""Of the head, with all provisional responses before it."""
_BODY_BYTES_MAX = 1024
_BODY_S = 1.0
"""How long the body is waited for. The status alone counts."""
_READ_BYTES = 4096
_IN_URL = "/?&=%:@!$'()*+,;~-._[]"
"""Characters of a path and query that are sent as they are."""


class NoConnection(Exception):
    """No connection could be made, so nothing was sent. The message says why, for people."""


class NoAnswer(Exception):
    """There was no answer that can be read. The message says why, for people."""


class Answer(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    """The beginning of it, as far as it arrived soon."""


async def post(
    address: Address,
    destination: Destination,
    headers: Mapping[str, str],
    body: bytes,
    tls: ssl.SSLContext | None,
    *,
    allow_own: bool,
) -> Answer:
    """May raise NoConnection or NoAnswer. The caller limits the time.

    `allow_own`: also an address of this machine.
    """
    named = destination.host if tls is not None else None
    try:
        reader, writer = await asyncio.open_connection(
            str(address), destination.port, ssl=tls, server_hostname=named
        )
    except ssl.SSLCertVerificationError as error:
        why = f"The certificate of the receiver is not valid: {error.verify_message}."
        raise NoConnection(why) from None
    except ssl.SSLError:
        raise NoConnection("No TLS connection could be made.") from None
    except OSError:
        raise NoConnection("No connection could be made.") from None
    try:
        if not allow_own and _is_own(writer):
            raise NoConnection("The host name leads to a machine of the service.")
        writer.write(_request(destination, headers, body))
        await writer.drain()
        return await _read(reader)
    except OSError:
        raise NoAnswer("The connection ended before an answer came.") from None
    finally:
        # Also a receiver that never closes: nothing is waited for.
        writer.transport.abort()


def _is_own(writer: asyncio.StreamWriter) -> bool:
    """Whether both ends have the same address: then the receiver runs on this machine."""
    own, peer = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
    return bool(own[0] == peer[0])


def _request(destination: Destination, headers: Mapping[str, str], body: bytes) -> bytes:
    own = {"host": destination.host_header, "content-length": str(len(body)), "connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in (own | dict(headers)).items())
    return f"POST {quote(destination.target, safe=_IN_URL)} HTTP/1.1\r\n{lines}\r\n".encode("ascii") + body


async def _read(reader: asyncio.StreamReader) -> Answer:
    answer = _Answer()
    size = 0
    while True:
        data = await reader.read(_READ_BYTES)
        size += len(data)
        if not data:
            raise NoAnswer("The connection ended before an answer came.")
        valid = answer.feed(data)
        if answer.status is not None:
            break
        if not valid:
            raise NoAnswer("The answer is not valid HTTP.")
        if size > _HEAD_BYTES_MAX:
            raise NoAnswer("The answer is too long before it says anything.")
    try:
        async with asyncio.timeout(_BODY_S):
            while not answer.complete and len(answer.body) < _BODY_BYTES_MAX:
                data = await reader.read(_READ_BYTES)
                if not data or not answer.feed(data):
                    break
    except (TimeoutError, OSError):
        pass  # The status has arrived.
    return Answer(answer.status, bytes(answer.body[:_BODY_BYTES_MAX]))


class _Answer:
    """Takes what the parser finds."""

    def __init__(self) -> None:
        self.status: int | None = None
        """Of the final response."""
        self.body = bytearray()
        self.complete = False
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> bool:
        """False: this is not HTTP."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.complete = True
        except httptools.HttpParserError:
            return False
        return True

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if self.status is None and (status >= HTTPStatus.OK or status == HTTPStatus.SWITCHING_PROTOCOLS):
            self.status = status

    def on_body(self, data: bytes) -> None:
        if self.status is not None and len(self.body) < _BODY_BYTES_MAX:
            self.body += data

    def on_message_complete(self) -> None:
        self.complete = self.status is not None
