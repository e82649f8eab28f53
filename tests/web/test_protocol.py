"""The HTTP connection as a client meets it: raw bytes over a socket to a real server."""

import random
import re
import threading
import time
from contextlib import suppress
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from bullion.web.protocol import GuardedProtocol
from tests.web.wire import (
    CHUNKED,
    GATED,
    GET,
    PATIENCE,
    SHORT,
    Serve,
    Served,
    Wire,
    chunk,
    head_of,
    post,
    refused,
    served_well,
    until,
)

pytestmark = pytest.mark.usefixtures("quiet")

# Plain service


def test_connection_is_kept_between_requests(served: Served) -> None:
    with Wire(served) as wire:
        for _ in range(3):
            served_well(wire.send(GET))
            served_well(wire.send(post("/plain", 3) + b"abc"), b"/plain:3")
            served_well(wire.send(CHUNKED + chunk(b"abc") + chunk(b"de") + chunk(b"")), b"/plain:5")


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_both_event_loops_serve_refuse_and_close(serve: Serve, loop: str) -> None:
    served = serve(loop, IDLE_SECONDS=SHORT)
    with Wire(served) as wire:
        served_well(wire.send(GET))
        assert wire.rest() == b""
    with Wire(served) as wire:
        refused(wire.send(b"nonsense\r\n\r\n"), 400, "malformed_http")
    with Wire(served) as wire:
        assert wire.send(post("/early", 100_000) + b"x" * 90_000).answer().status == 401
        assert wire.rest() == b""


WHOLE = {
    "get": (GET, b"/plain:0"),
    "length": (post("/plain", 11) + b"hello\r\n\r\n12", b"/plain:11"),
    "chunks": (CHUNKED + chunk(b"ab\r\n\r\ncd", b";a=b") + chunk(b"0\r\n\r\n") + chunk(b""), b"/plain:13"),
    "upgrade": (
        post("/plain", 4, b"Upgrade: h2c\r\nConnection: Upgrade\r\n") + b"\r\n\r\n",
        b"/plain:4",
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_request_may_be_split_at_every_byte(served: Served, name: str) -> None:
    request, body = WHOLE[name]
    with Wire(served) as wire:
        for cut in range(1, len(request)):
            served_well(wire.send(request[:cut], request[cut:] + GET, pause=0.001), body)
            served_well(wire)


@pytest.mark.parametrize("name", WHOLE)
def test_request_may_come_byte_by_byte(served: Served, name: str) -> None:
    request, body = WHOLE[name]
    with Wire(served) as wire:
        served_well(wire.send(*(bytes([byte]) for byte in request), pause=0.0005), body)
        served_well(wire.send(GET))


def test_http_1_0_needs_no_host_and_is_closed(served: Served) -> None:
    with Wire(served) as wire:
        served_well(wire.send(b"GET /plain HTTP/1.0\r\n\r\n"))
        assert wire.rest() == b""
    with Wire(served) as wire:
        served_well(wire.send(b"POST /plain HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi"), b"/plain:2")
        assert wire.rest() == b""


def test_empty_lines_between_requests_are_nothing(serve: Serve) -> None:
    served = serve(HEAD_SECONDS=SHORT)
    with Wire(served) as wire:
        served_well(wire.send(b"\r\n\r\n" + post("/plain", 2) + b"hi\r\n"), b"/plain:2")
        time.sleep(2 * SHORT)
        served_well(wire.send(b"\r", b"\n" + GET))


def test_expect_100_continue(served: Served) -> None:
    with Wire(served) as wire:
        assert wire.send(post("/plain", 2, b"Expect: 100-continue\r\n")).answer().status == 100
        served_well(wire.send(b"hi"), b"/plain:2")
        served_well(wire.send(GET))


# Pipelines


def test_pipelined_requests_are_answered_in_order_and_one_by_one(served: Served) -> None:
    with Wire(served) as wire:
        wire.send(GATED + post("/early", 3) + b"abc" + CHUNKED + chunk(b"ab") + chunk(b"") + GET + GET[:9])
        until(lambda: bool(served.seen))
        time.sleep(0.05)
        assert [seen.path for seen in served.seen] == ["/gated"]
        served.gate.set()
        assert [wire.answer().body for _ in range(4)] == [b"/gated:0", b"/early:0", b"/plain:2", b"/plain:0"]
        served_well(wire.send(GET[9:]))


def test_no_request_waits_for_an_application_that_has_answered_the_one_before(served: Served) -> None:
    busy = GET.replace(b"plain", b"busy-after")
    with Wire(served) as wire:
        for request in (busy, GET, busy + busy, GET):
            wire.send(request)
        assert [wire.answer().status for _ in range(5)] == [200] * 5
        assert len(served.server.server_state.tasks) == 3
        served.gate.set()
        until(lambda: not served.server.server_state.tasks)
        assert wire.send(GET).answer().body == b"/plain:0"


def test_refusal_of_a_pipelined_request_waits_for_the_answer_before_it(served: Served) -> None:
    with Wire(served) as wire:
        wire.send(GATED + b"nonsense\r\n\r\n")
        until(lambda: bool(served.seen))
        served.gate.set()
        served_well(wire, b"/gated:0")
        refused(wire, 400, "malformed_http")


def test_flood_of_pipelined_requests(served: Served) -> None:
    with Wire(served) as wire:
        sender = threading.Thread(target=wire.send, args=(GET * 3000,))
        sender.start()
        for _ in range(3000):
            served_well(wire)
        sender.join()


def test_connection_is_kept_when_no_body_was_ever_asked_for(served: Served) -> None:
    early = GET.replace(b"plain", b"early")
    with Wire(served) as wire:
        assert [wire.send(early + early).answer().status, wire.answer().status] == [401, 401]
        served_well(wire.send(GET))


def test_nothing_is_served_after_connection_close(served: Served) -> None:
    with Wire(served) as wire:
        wire.send(GATED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + GET * 30_000)
        served.gate.set()
        served_well(wire, b"/gated:0")
        assert wire.rest() == b""
    assert [seen.path for seen in served.seen] == ["/gated"]


# Upgrades


@pytest.mark.parametrize("other", ["websocket", "h2c", "TLS/1.0"])
def test_upgrade_is_ignored(served: Served, other: str) -> None:
    wish = b"Connection: Upgrade, HTTP2-Settings\r\nUPGRADE: %s\r\nUpgrade: again\r\n" % other.encode()
    with Wire(served) as wire:
        served_well(wire.send(GET.replace(b"\r\n\r\n", b"\r\n" + wish + b"\r\n")))
        served_well(wire.send(post("/plain", 5, wish) + b"hello"), b"/plain:5")
        served_well(wire.send(post("/plain", 5, wish), b"he", b"llo" + GET), b"/plain:5")
        served_well(wire)
        served_well(wire.send(CHUNKED[:-2] + wish + b"\r\n" + chunk(b"ab") + chunk(b"")), b"/plain:2")
        served_well(wire.send(GET))
    assert all(b"upgrade" not in dict(seen.headers) for seen in served.seen)


# Answers that do not wait for the body


def test_rest_of_a_small_body_is_dropped_and_the_connection_kept(served: Served) -> None:
    with Wire(served) as wire:
        assert wire.send(post("/early", 65_536)).answer().status == 401
        served_well(wire.send(b"x" * 30_000, b"x" * 35_536 + GET))
        assert wire.send(CHUNKED.replace(b"plain", b"early")).answer().status == 401
        served_well(wire.send(chunk(b"x" * 30_000), chunk(b"x" * 30_000) + chunk(b"") + GET))


def test_connection_with_a_large_body_ends_with_the_answer(served: Served) -> None:
    with Wire(served) as wire:
        answer = wire.send(post("/early", 65_537)).answer()
        assert (answer.status, answer.headers["connection"]) == (401, "close")
        assert wire.send(b"x" * 65_000).rest() == b""
    with Wire(served) as wire:
        assert wire.send(CHUNKED.replace(b"plain", b"early")).answer().status == 401
        wire.send(chunk(b"x" * 65_000))
        time.sleep(0.05)
        assert wire.send(chunk(b"x" * 1_000)).rest() == b""


def test_client_can_read_the_answer_while_it_sends(served: Served) -> None:
    """Without patience at the end the socket would be reset, and the answer lost."""
    for start in (
        post("/early", 10_000_000),
        CHUNKED.replace(b"plain", b"early") + b"ffffff\r\n",
        head_of(17_000),
        b"nonsense\r\n\r\n",
    ):
        with Wire(served) as wire:
            wire.send(start, *([b"x" * 50_000] * 15), pause=0.001)
            assert wire.answer().status in {400, 401, 431}
            assert wire.rest() == b""


def test_patience_at_the_end_is_limited_in_time(serve: Serve) -> None:
    served = serve(LINGER_SECONDS=SHORT)
    with Wire(served) as wire:
        wire.send(b"nonsense\r\n\r\n").rest()
        until(lambda: served.connections == 0)


def test_patience_at_the_end_is_limited_in_bytes(serve: Serve) -> None:
    served = serve(LINGER_SECONDS=60.0, LINGER_BYTES=1_000)
    with Wire(served) as wire:
        wire.send(b"nonsense\r\n\r\n").rest()
        wire.send(b"x" * 900)
        time.sleep(0.05)
        assert served.connections == 1
        wire.send(b"x" * 200)
        until(lambda: served.connections == 0)


def test_body_that_waits_for_leave_is_not_taken_for_the_next_request(served: Served) -> None:
    with Wire(served) as wire:
        answer = wire.send(post("/early", 3, b"Expect: 100-continue\r\n")).answer()
        assert answer.status == 401
        assert wire.rest() == b""


def send_until_held_back(wire: Wire, size: int) -> int:
    wire.socket.settimeout(0.2)
    sent = 0
    with suppress(TimeoutError):
        while sent < size:
            sent += wire.socket.send(bytes(100_000))
    wire.socket.settimeout(PATIENCE)
    assert sent < size
    return sent


def test_unread_body_holds_the_sender_back(served: Served) -> None:
    size = 64_000_000
    with Wire(served) as wire:
        sent = send_until_held_back(wire.send(post("/gated", size)), size)
        served.gate.set()
        served_well(wire.send(bytes(size - sent)), b"/gated:%d" % size)


def test_unread_requests_hold_the_sender_back(served: Served) -> None:
    with Wire(served) as wire:
        send_until_held_back(wire.send(GATED), 64_000_000)


# An application with a mistake


@pytest.mark.parametrize("path", [b"fails", b"silent", b"split"])
def test_an_application_that_does_not_answer(served: Served, path: bytes) -> None:
    with Wire(served) as wire:
        refused(wire.send(GET.replace(b"plain", path)), 500, "internal_error")


def test_an_answer_that_breaks_its_word_is_cut_off(served: Served) -> None:
    with Wire(served) as wire:
        wire.send(GET.replace(b"plain", b"too-much"))
        with suppress(ConnectionResetError):
            assert b"two" not in wire.rest()  # It returns once the connection has ended.


def test_an_application_that_hangs_up(served: Served) -> None:
    """Not a byte comes, and it is logged as no mistake."""
    for first in (b"", GET):
        with Wire(served) as wire, capture_logs() as logged:
            if first:
                served_well(wire.send(first))
            wire.send(GET.replace(b"plain", b"hangs-up") + GET)
            with suppress(ConnectionResetError):
                assert wire.rest() == b""  # It returns once the connection has ended.
        assert logged == []


# The end of the server


@pytest.mark.slow
def test_shutdown(serve: Serve) -> None:
    served = serve()
    with Wire(served) as busy, Wire(served) as half_body, Wire(served) as half_head, Wire(served) as idle:
        busy.send(GATED + GET)
        half_body.send(post("/plain", 3) + b"ab")
        served_well(half_head.send(GET))
        half_head.send(GET[:20])
        served_well(idle.send(GET))
        until(lambda: len(served.seen) == 4)
        time.sleep(0.05)
        served.server.should_exit = True
        assert idle.rest() == b""
        refused(half_head, 408, "request_timeout")
        served.gate.set()
        for wire, body in ((busy, b"/gated:0"), (half_body.send(b"c"), b"/plain:3")):
            answer = wire.answer()
            assert (answer.status, answer.headers["connection"], answer.body) == (200, "close", body)
            assert wire.rest() == b""
        busy.socket.close()
        served.thread.join(PATIENCE)
        assert not served.thread.is_alive()


def test_shutdown_answers_a_request_that_crosses_it(serve: Serve) -> None:
    served = serve(STOP_GRACE_SECONDS=PATIENCE)
    with Wire(served) as busy, Wire(served) as half_head:
        served_well(busy.send(GET))
        half_head.send(GET[:20])
        until(lambda: served.connections == 2)
        time.sleep(0.05)
        served.server.should_exit = True
        time.sleep(0.3)
        for wire in (busy.send(GET), half_head.send(GET[20:])):
            answer = wire.answer()
            assert (answer.status, answer.headers["connection"]) == (200, "close")
            assert wire.rest() == b""
        served.stop()


def test_shutdown_answers_a_request_on_a_connection_that_was_idle_for_long(serve: Serve) -> None:
    served = serve(STOP_GRACE_SECONDS=1.5)
    with Wire(served) as idle:
        served_well(idle.send(GET))
        time.sleep(1.6)
        served.server.should_exit = True
        time.sleep(0.5)  # On its way.
        answer = idle.send(GET).answer()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert idle.rest() == b""


def test_shutdown_answers_a_request_that_arrives_in_time_at_a_busy_loop(serve: Serve) -> None:
    blocked = threading.Event()

    def begin_request(self: GuardedProtocol, *args: Any, **kwargs: Any) -> Any:
        if self.reader.url == b"/busy":
            blocked.set()
            time.sleep(1.2)
        return GuardedProtocol.begin_request(self, *args, **kwargs)

    served = serve(STOP_GRACE_SECONDS=1.0, begin_request=begin_request)
    with Wire(served) as idle, Wire(served) as busy:
        served_well(idle.send(GET))
        (connection,) = [
            each
            for each in cast("set[GuardedProtocol]", served.server.server_state.connections)
            if each._client == idle.socket.getsockname()
        ]
        connection._loop.call_soon_threadsafe(connection.shutdown)
        busy.send(GET.replace(b"plain", b"busy"))
        assert blocked.wait(PATIENCE)
        served_well(idle.send(GET))
        assert idle.rest() == b""


def test_shutdown_does_not_wait_for_the_idle(serve: Serve) -> None:
    served = serve(STOP_GRACE_SECONDS=SHORT)
    with Wire(served) as idle, Wire(served) as silent:
        served_well(idle.send(GET))
        until(lambda: served.connections == 2)
        time.sleep(2 * SHORT)
        began = time.monotonic()
        served.server.should_exit = True
        assert (idle.rest(), silent.rest()) == (b"", b"")
        assert time.monotonic() - began < PATIENCE / 2


def test_shutdown_does_not_wait_for_the_refused(serve: Serve) -> None:
    served = serve(LINGER_SECONDS=60.0)
    with Wire(served) as idle, Wire(served) as busy:
        idle.send(b"nonsense\r\n\r\n").rest()
        busy.send(CHUNKED.replace(b"plain", b"gated") + b"xyz").rest()
        served.stop()


# Noise


def noise(seed: int) -> bytes:
    """A valid request or two, damaged; now and then only bytes."""
    dice = random.Random(seed)  # noqa: S311
    if seed % 10 == 0:
        return dice.randbytes(dice.randrange(1, 400))
    data = bytearray(b"".join(dice.choice(list(WHOLE.values()))[0] for _ in range(dice.randrange(1, 3))))
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(data))
        spoilt = dice.choice(
            [b"", b"\r", b"\n", b"\0", b" ", b":", b"\r\n", b"\r\n\r\n", dice.randbytes(1), b"9" * 20]
        )
        data[at : at + dice.randrange(3)] = spoilt
    return bytes(data)


def test_noise(serve: Serve) -> None:
    served = serve(HEAD_SECONDS=SHORT, BODY_SECONDS=SHORT, IDLE_SECONDS=SHORT, LINGER_SECONDS=SHORT)
    for first in range(0, 400, 80):
        wires = [Wire(served) for _ in range(80)]
        for seed, wire in enumerate(wires, first):
            data = noise(seed)
            cut = seed % len(data)
            with suppress(ConnectionError):
                wire.send(data[:cut], data[cut:], pause=0.0)
        for seed, wire in enumerate(wires, first):
            with wire, suppress(ConnectionError):
                statuses = re.findall(rb"HTTP/1\.1 (\d+)", wire.rest())
                assert set(statuses) <= {b"100", b"200", b"400", b"401", b"408", b"431"}, (seed, noise(seed))
        with Wire(served) as wire:
            served_well(wire.send(GET))
    until(lambda: served.connections == 0)
