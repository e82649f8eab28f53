"""A response that stays open, as a client meets it: idle, slow, gone, and at a stop of the server."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bullion.web.event_stream import EventStream, StreamEnd, server_sent_event
from bullion.web.protocol import GuardedProtocol
from bullion.web.response import send_response, stream_response
from tests.web.wire import PATIENCE, SHORT, Served, Wire, post, served_well, until

pytestmark = pytest.mark.usefixtures("quiet")

OPEN = b"GET /stream HTTP/1.1\r\nHost: t\r\n\r\n"
FIRST = b"retry: 1000\n\n"
LATER = server_sent_event(b'{"a":1}', "order.opened", 7)


class Streaming(Served):
    """Opens a stream for each call of `/stream`; everything else as usual."""

    def __init__(self, **limits: float) -> None:
        self.streams: list[EventStream] = []
        self.ended: list[StreamEnd] = []
        self.writable = 0
        self.loop: asyncio.AbstractEventLoop | None = None
        super().__init__(type("Limited", (GuardedProtocol,), {"__slots__": (), **limits}), "uvloop")

    async def _answer(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["path"] != "/stream":
            await super()._answer(scope, receive, send)
            return
        self.loop = asyncio.get_running_loop()
        await send_response(scope, send, stream_response(FIRST, self._opened), b"1" * 24)

    def _opened(self, stream: EventStream) -> None:
        stream.follow(self.ended.append, self._on_writable)
        self.streams.append(stream)

    def _on_writable(self) -> None:
        self.writable += 1

    def do(self, what: Callable[..., None], *arguments: Any) -> None:
        """In the server's own thread."""
        assert self.loop is not None
        self.loop.call_soon_threadsafe(what, *arguments)


@pytest.fixture
def start() -> Iterator[Callable[..., Streaming]]:
    running: list[Streaming] = []

    def start(**limits: float) -> Streaming:
        running.append(Streaming(**limits))
        return running[-1]

    yield start
    for served in running:
        if served.thread.is_alive():
            served.stop()


Start = Callable[..., Streaming]


def opened(served: Streaming, request: bytes = OPEN) -> Wire:
    """A client that has read the first bytes of its stream."""
    wire = Wire(served)
    number = len(served.streams)
    answer = wire.send(request).answer()
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/event-stream"
    wire._until(FIRST)
    wire._unread = b""
    until(lambda: len(served.streams) == number + 1)
    return wire


def test_it_begins_at_once_and_says_what_proxies_need(start: Start) -> None:
    with Wire(start()) as wire:
        headers = wire.send(OPEN).answer().headers
        assert headers["x-accel-buffering"] == "no"
        assert headers["cache-control"] == "no-store, no-transform"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["connection"] == "close"
        assert headers["x-request-id"] == "1" * 24
        assert headers.keys().isdisjoint({"content-length", "transfer-encoding"})
        assert wire._until(b"\n\n")[0] == b"retry: 1000"


def test_no_deadline_of_the_connection_cuts_an_idle_stream(start: Start) -> None:
    names = ("HEAD_SECONDS", "BODY_SECONDS", "WRITE_SECONDS", "FIRST_REQUEST_SECONDS", "IDLE_SECONDS")
    served = start(**dict.fromkeys(names, SHORT))
    with opened(served) as wire, opened(served, post("/stream", 9) + b"half") as other:
        time.sleep(SHORT * 3)
        for stream in served.streams:
            served.do(stream.write, LATER)
        assert wire._until(LATER) == other._until(LATER) == (b"", b"")
        assert served.ended == []


def test_the_service_ends_it_with_a_last_event(start: Start) -> None:
    served = start()
    last = server_sent_event(b'{"code":"credential_revoked"}', "end")
    with opened(served) as wire:
        served.do(served.streams[0].end, StreamEnd.REFUSED, last)
        assert wire.rest() == last
    assert served.ended == [StreamEnd.REFUSED]
    served.do(served.streams[0].write, LATER)  # Too late, and no error.
    with Wire(served) as wire:
        served_well(wire.send(b"GET /plain HTTP/1.1\r\nHost: t\r\n\r\n"))


def test_a_client_that_leaves_ends_it(start: Start) -> None:
    served = start()
    with opened(served) as wire:
        wire.send(b"whatever")  # Dropped: nothing is read on a connection that streams.
    until(lambda: served.ended == [StreamEnd.LEFT])
    until(lambda: served.connections == 0)
    with opened(served) as wire:
        wire.socket.shutdown(socket.SHUT_WR)
        until(lambda: served.ended == [StreamEnd.LEFT] * 2)


def test_a_client_that_never_stops_sending_is_cut_off(start: Start) -> None:
    served = start(LINGER_BYTES=100_000)
    with opened(served) as wire:
        wire.send(b"x" * 200_000)
        until(lambda: served.ended == [StreamEnd.LEFT])


def _fill(stream: EventStream) -> None:
    """Write until the client is behind, as a sender does that looks first."""
    while stream.open and not stream.behind:
        stream.write(LATER * 1000)


def test_a_slow_reader_is_cut_off_and_holds_up_nobody(start: Start) -> None:
    served = start(WRITE_SECONDS=SHORT * 2)
    with opened(served) as slow, opened(served) as other:
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        began = time.monotonic()
        served.do(_fill, served.streams[0])
        served.do(served.streams[1].write, LATER)
        assert other._until(LATER) == (b"", b"")
        assert served.ended == []
        until(lambda: served.ended == [StreamEnd.SLOW_READER])
        assert time.monotonic() - began >= SHORT * 2 - 0.01  # The loop's clock counts whole milliseconds.
        assert served.streams[1].open


def test_a_reader_that_catches_up_goes_on(start: Start) -> None:
    served = start()
    with opened(served) as wire:
        served.do(_fill, served.streams[0])
        until(lambda: served.streams[0].behind)
        until(lambda: bool(wire._more()) and served.writable == 1)
        assert not served.streams[0].behind
        mark = server_sent_event(b"{}", "order.closed", 8)
        served.do(served.streams[0].write, mark)
        assert wire._until(mark)[1] == b""
        assert served.ended == []


def test_a_stop_ends_every_stream_at_once(start: Start) -> None:
    served = start()
    with opened(served) as wire, opened(served) as slow:
        served.do(_fill, served.streams[1])
        until(lambda: served.streams[1].behind)
        began = time.monotonic()
        served.server.should_exit = True
        assert wire.rest() == b""
        assert time.monotonic() - began < PATIENCE / 4
        served.thread.join(PATIENCE)
        assert not served.thread.is_alive()
        assert served.ended == [StreamEnd.STOPPING] * 2
        assert slow._more()


def test_an_old_client_gets_the_same_bytes(start: Start) -> None:
    served = start()
    with opened(served, OPEN.replace(b"1.1", b"1.0")) as wire:
        served.do(served.streams[0].write, LATER)
        assert wire._until(LATER) == (b"", b"")
