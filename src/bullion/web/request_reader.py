"""Reads requests from the bytes of a connection: finds the ends of heads and bodies, and refuses what can be
read in two ways.

The parser is never given a byte beyond the request that is being read. So a head can be measured, a request
waits until the one before it is answered, and where the parser and this reader see different ends, the
request is refused.
"""

import re
from typing import Protocol

import httptools

from bullion.refusals.catalogue import HEADERS_TOO_LARGE
from bullion.refusals.refusal import RefusalError

from .connection_state import READS_BODY, State
from .exchange import Exchange
from .framing import read_framing

HEAD_BYTES = 16 * 1024
CHUNK_FRAMING_BYTES = 16 * 1024
CHUNK_BLANK_LINES = 1_000
"""Each blank line inside chunks is a separate call of the parser, and may be the end of the body."""

_BLANK_LINE = b"\r\n\r\n"
_NO_END = -1
_VERSIONS = {b" HTTP/1.1": "1.1", b" HTTP/1.0": "1.0"}
_CHECKED_HEADERS = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect"})
_UPGRADE_LINE = re.compile(rb"\r\nupgrade:[^\r\n]*", re.IGNORECASE)


class _ReadAgainError(Exception):
    """This head must be given to the parser by itself."""


class RequestReceiver(Protocol):
    """The part of the connection that its reader uses."""

    state: State

    def begin_request(self, body_length: int | None, *, body_follows: bool) -> Exchange: ...
    def end_body(self) -> None: ...
    def limit_chunked_body(self, size: int) -> None: ...


class RequestReader:
    def __init__(self, connection: RequestReceiver) -> None:
        self._connection = connection
        self._exchange: Exchange
        self.parser = httptools.HttpRequestParser(self)
        self.version = ""
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.expects_continue = False
        self.body_read = 0
        """Bytes of the body that arrived after the head, with the framing of chunks."""
        self.head = b""
        """As far as it has arrived, and what arrived together with its end."""
        self._head_size = 0
        self._beyond_head = 0  # bytes that arrived together with its end
        self._hosts = 0
        self._framed = False
        self._body_length: int | None = 0  # None: chunked
        self._body_size = 0  # without the framing of chunks
        self._body_tail = b""
        self._blank_lines = 0

    def begin_head(self) -> None:
        self.version, self.head = "", b""
        self._forget_lines()

    def _forget_lines(self) -> None:
        self.url = b""
        self.headers = []
        self.expects_continue = self._framed = False
        self._hosts = self._body_length = 0

    def read_head(self, data: bytes) -> bytes:
        """Feed the parser what has arrived of a head, and its body if nothing follows; return the rest."""
        # What was searched before is not searched again with every small segment.
        start = max(0, len(self.head) - 3) if self.head else 0
        head = self.head + data
        end = head.find(_BLANK_LINE, start)
        size = len(head) if end < 0 else end + 4
        if size > HEAD_BYTES:
            raise RefusalError(HEADERS_TOO_LARGE)
        if not self.version:
            line_end = head.find(b"\r\n", start)
            if line_end >= 0:
                version = _VERSIONS.get(head[line_end - 9 : line_end])
                if version is None:
                    # The parser would also accept HTTP/0.9, HTTP/2.0, RTSP and ICE.
                    raise httptools.HttpParserError("neither HTTP/1.1 nor HTTP/1.0")
                self.version = version
        self.head, self._head_size = head, size
        self._beyond_head = _NO_END if end < 0 else len(head) - size
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            if not isinstance(error.__context__, _ReadAgainError):
                raise
            self._read_head_again()
            return head[size:]
        if end >= 0 and self.head:
            raise httptools.HttpParserError("the parser sees no end of the head where we do")
        return b""

    def _read_head_again(self) -> None:
        """Feed a new parser the head alone, without a request for another protocol.

        The parser cannot be told to stop where a request ends, nor to read the body of a request that asks
        for an upgrade. CONNECT asks for one even without the header line, and is refused.
        """
        self.parser = httptools.HttpRequestParser(self)
        self.head = _UPGRADE_LINE.sub(b"", self.head[: self._head_size])
        self._beyond_head = 0
        self._forget_lines()
        self.parser.feed_data(self.head)

    def read_body(self, data: bytes) -> bytes:
        """Feed the parser up to the end of the body; return the rest."""
        if self._body_length is None:
            return self._read_chunks(data)
        piece = data[: self._body_length - self.body_read]
        self.body_read += len(piece)
        self.parser.feed_data(piece)
        if self._connection.state in READS_BODY and self.body_read == self._body_length:
            raise httptools.HttpParserError("the parser sees no end of the body where we do")
        return data[len(piece) :]

    def _read_chunks(self, data: bytes) -> bytes:
        """Feed the parser piece by piece; the rest is copied once, not once per piece."""
        start = 0
        while start < len(data) and self._connection.state in READS_BODY:
            piece = data[start : _end_of_piece(self._body_tail, data, start)]
            start += len(piece)
            self._body_tail = (self._body_tail + piece[-3:])[-3:]
            self.body_read += len(piece)
            self.parser.feed_data(piece)
            self._blank_lines += start < len(data)
            self._check_chunks()
            self._connection.limit_chunked_body(self._body_size)
        return data[start:]

    def _check_chunks(self) -> None:
        if self.headers:
            raise httptools.HttpParserError("trailers")
        if self.body_read - self._body_size > CHUNK_FRAMING_BYTES:
            raise httptools.HttpParserError("too much framing around the chunks")
        if self._blank_lines > CHUNK_BLANK_LINES:
            raise httptools.HttpParserError("too many blank lines in the chunks")

    # Called by the parser

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in _CHECKED_HEADERS:
            if name == b"content-length" and not self._framed and value.isdigit():  # As nearly all are.
                self._framed, self._body_length = True, int(value)
            else:
                self._check_header(name, value)
        self.headers.append((name, value))

    def _check_header(self, name: bytes, value: bytes) -> None:
        if name == b"host":
            self._hosts += 1
        elif name == b"expect":
            self.expects_continue = value.lower() == b"100-continue"
        elif self._framed:
            raise httptools.HttpParserError("framed twice")
        else:
            self._framed = True
            self._body_length = read_framing(name, value.strip(b" \t"), self.version)

    def on_headers_complete(self) -> None:
        beyond = self._beyond_head
        if self._hosts != 1 and (self._hosts or self.version == "1.1"):
            raise httptools.HttpParserError("not one Host")
        if (beyond and beyond != self._body_length) or self.parser.should_upgrade():
            self._check_end_of_head()
        body_follows = beyond != self._body_length
        self._exchange = self._connection.begin_request(self._body_length, body_follows=body_follows)
        self.head = b""
        if body_follows:
            self.body_read = beyond
            self._body_size = self._blank_lines = 0
            self._body_tail = b""
            # A new list: the application has the old one. From here on, `on_header` is called for trailers.
            self.headers = []

    def _check_end_of_head(self) -> None:
        if self._beyond_head == _NO_END:
            raise httptools.HttpParserError("the parser sees an end of the head where we do not")
        length = self._body_length
        if self.parser.should_upgrade() or length is None or length < self._beyond_head:
            raise _ReadAgainError

    def on_body(self, body: bytes) -> None:
        self._body_size += len(body)
        self._exchange.on_body(body)

    def on_message_complete(self) -> None:
        if self._connection.state in READS_BODY:
            self._check_chunks()
            self._connection.end_body()
        self._exchange.on_end_of_body()


def _end_of_piece(tail: bytes, data: bytes, start: int) -> int:
    """Where the first blank line ends that comes after `start`, or began in the `tail` of what came before.

    A chunked body without trailers ends in a blank line. Its data may contain blank lines as well: then the
    parser is fed in more pieces than necessary.
    """
    end = (tail + data[start : start + 3]).find(_BLANK_LINE)
    if end >= 0:
        return start + end + 4 - len(tail)
    end = data.find(_BLANK_LINE, start)
    return len(data) if end < 0 else end + 4
