"""The time that a connection takes of the loop grows with what a client sends, never with its square.

Most of it is sent by anybody: the connection reads a request before anyone looks at its key.
"""

import asyncio
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from ipaddress import ip_network
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from bullion.web.address import SourceAddress
from bullion.web.body import CallerLeft, read_body
from bullion.web.framing import split_target
from bullion.web.protocol import GuardedProtocol
from bullion.web.response import Response, send_response
from tests.support.growth import GrowsTooFast, assert_linear

READ_BYTES = 256_000
"""What uvloop hands over at most of what has arrived."""
HEAD = b"POST /orders HTTP/1.1\r\nHost: t\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


class Transport:
    """As much of a transport as the connection uses."""

    def __init__(self) -> None:
        self.reading = True
        self.answers = 0
        self.closed = False

    def get_extra_info(self, _name: str) -> None:
        return None

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def write(self, data: bytes) -> None:
        self.answers += data.count(b"HTTP/1.1 ")

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.closed = True

    close = abort = write_eof


async def application(scope: Any, receive: Any, send: Any) -> None:
    with suppress(CallerLeft):
        await read_body(scope["headers"], receive, 1 << 30)
        await send_response(scope, send, Response(200, b"{}"), b"id")


CONFIG = uvicorn.Config(
    application, http=GuardedProtocol, lifespan="off", log_config=None, proxy_headers=False
)


async def converse(reads: Iterable[bytes], answers: int) -> None:
    transport: Any = Transport()
    connection = GuardedProtocol(CONFIG, ServerState(), {})
    connection.connection_made(transport)
    for data in reads:
        while not transport.reading and not transport.closed:
            await asyncio.sleep(0)
        connection.data_received(data)
    while transport.answers < answers:
        await asyncio.sleep(0)
    connection.connection_lost(None)


def sent_at_once(make: Callable[[int], bytes], answers: Callable[[int], int] = lambda _size: 1) -> Any:
    def prepare(size: int) -> Callable[[], object]:
        whole = make(size)
        reads = [whole[at : at + READ_BYTES] for at in range(0, len(whole), READ_BYTES)]
        return lambda: asyncio.run(converse(reads, answers(size)))

    return prepare


def sent_in_bytes(make: Callable[[int], bytes]) -> Any:
    def prepare(size: int) -> Callable[[], object]:
        reads = [bytes([byte]) for byte in make(size)]
        return lambda: asyncio.run(converse(reads, 1))

    return prepare


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def many(size: int, unit: bytes) -> bytes:
    return unit * (size // len(unit))


def in_one_chunk(size: int, unit: bytes) -> bytes:
    return CHUNKED + chunk(many(size, unit)) + b"0\r\n\r\n"


def with_length(size: int) -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n" % size + b"x" * size


def test_work_that_is_quadratic_is_told_from_work_that_is_not() -> None:
    assert_linear(lambda size: lambda: sum(range(size)), 20_000)
    with pytest.raises(GrowsTooFast, match="times as long"):
        assert_linear(lambda size: lambda: re.search("a+b", "a" * size), 500)


@pytest.mark.parametrize(
    "unit", [b"\r\n", b"x\r\n\r\n", b"\r\n\r\n", b"x" * 60 + b"\r\n\r\n", b"x"], ids=repr
)
def test_a_chunk_full_of_blank_lines(unit: bytes) -> None:
    assert_linear(sent_at_once(lambda size: in_one_chunk(size, unit)), 28_000)


@pytest.mark.parametrize("length", [1, 5, 16, 100])
def test_many_small_chunks(length: int) -> None:
    assert_linear(
        sent_at_once(lambda size: CHUNKED + many(size, chunk(b"x" * length)) + b"0\r\n\r\n"), 28_000
    )


def test_a_chunked_body_in_many_segments() -> None:
    assert_linear(sent_in_bytes(lambda size: in_one_chunk(size, b"x")), 4_000)


def test_a_body_of_a_known_length_in_many_segments() -> None:
    assert_linear(sent_in_bytes(with_length), 8_000)


@pytest.mark.parametrize(
    "make",
    [
        lambda size: b"GET /" + b"x" * size + b" HTTP/1.1\r\nHost: t\r\n\r\n",
        lambda size: b"GET / HTTP/1.1\r\nHost: t\r\nX-Long: " + b"x" * size + b"\r\n\r\n",
        lambda size: b"GET / HTTP/1.1\r\nHost: t\r\n" + many(size, b"a: b\r\n") + b"\r\n",
    ],
    ids=["address", "header", "headers"],
)
@pytest.mark.parametrize("sent", [sent_at_once, sent_in_bytes])
def test_a_large_head(make: Callable[[int], bytes], sent: Callable[[Any], Any]) -> None:
    assert_linear(sent(make), 1_900)


def test_many_requests_in_one_read() -> None:
    request = b"GET / HTTP/1.1\r\nHost: t\r\n\r\n"
    assert_linear(sent_at_once(lambda size: request * size, lambda size: size), 500)


def test_blank_lines_in_front_of_a_request() -> None:
    blank = b"\r\n" * 10
    assert_linear(sent_at_once(lambda size: blank * size + b"GET / HTTP/1.1\r\nHost: t\r\n\r\n"), 1_500)


@pytest.mark.parametrize("unit", [b"%41", b"%", b"%ff", b"/", b"%zz", b"a%"], ids=repr)
def test_an_address_full_of_escapes(unit: bytes) -> None:
    assert_linear(lambda size: lambda: split_target(b"/" + many(size, unit)), 4_000)


@pytest.mark.parametrize(
    "unit", [b"127.0.0.1,", b",", b"::", b"1", b".", b"1.", b"%", b"[::1]:1,", b" "], ids=repr
)
def test_the_hops_that_a_call_came_by(unit: bytes) -> None:
    addresses = SourceAddress([ip_network("127.0.0.0/8")])
    assert_linear(lambda size: lambda: addresses.source("127.0.0.1", [many(size, unit)]), 4_000)
