"""What the HTTP connection does not put up with: size, slowness, and what is not HTTP."""

import asyncio
import json
import re
import threading
import time
from typing import Any

import pytest

from bullion.web.deadline import Deadline
from bullion.web.protocol import GuardedProtocol
from bullion.web.request_reader import CHUNK_BLANK_LINES
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

# The size of heads


def test_head_of_16_kib_passes_and_one_byte_more_does_not(served: Served) -> None:
    with Wire(served) as wire:
        served_well(wire.send(head_of(16_384)))
        served_well(wire.send(head_of(16_384)[:9000], head_of(16_384)[9000:]))
        refused(wire.send(head_of(16_385)), 431, "headers_too_large")


@pytest.mark.parametrize(
    "head",
    [
        head_of(20_000, ending=b""),
        b"GET /" + b"a" * 20_000,
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: t\r\n\r\n",
        b"GET /plain HTTP/1.1\r\nHost: t\r\nX:" + b" " * 20_000,
        b"GET /plain HTTP/1.1\r\nHost: t\r\n" + b"X: y\r\n" * 4_000,
        b"GET /plain HTTP/1.1\r\nHost: t\r\n" + b"x" * 20_000,
    ],
    ids=["value", "url", "whole-url", "spaces", "many", "name"],
)
@pytest.mark.parametrize("step", [700, 100_000], ids=["pieces", "whole"])
def test_endless_head(served: Served, head: bytes, step: int) -> None:
    with Wire(served) as wire:
        pieces = [head[at : at + step] for at in range(0, len(head), step)]
        refused(wire.send(*pieces, pause=0.0), 431, "headers_too_large")
    assert served.seen == []


def test_bodies_do_not_count_as_heads(served: Served) -> None:
    big = post("/plain", 60_000) + b"\r\n\r\nx" * 12_000
    with Wire(served) as wire:
        served_well(wire.send(head_of(16_000) + big), b"/plain:0")
        served_well(wire, b"/plain:60000")
        wire.send(big + head_of(16_000)[:15_000], head_of(16_000)[15_000:])
        served_well(wire, b"/plain:60000")
        served_well(wire)
        chunks = CHUNKED + chunk((b"\r\n\r\n" + b"x" * 96) * 200) + chunk(b"")
        served_well(wire.send(chunks + head_of(16_000)[:15_000], head_of(16_000)[15_000:]), b"/plain:20000")
        served_well(wire)


# Deadlines


def test_slow_head(serve: Serve) -> None:
    served = serve(HEAD_SECONDS=SHORT)
    for sent in (b"G", GET[:-1]):
        with Wire(served) as wire:
            refused(wire.send(sent), 408, "request_timeout")
    with Wire(served) as wire:
        wire.drip(head_of(5_000))
        refused(wire, 408, "request_timeout")
    with Wire(served) as wire:
        served_well(wire.send(GET))
        refused(wire.send(GET[:20]), 408, "request_timeout")
    assert [seen.path for seen in served.seen] == ["/plain"]


def test_slow_body(serve: Serve) -> None:
    served = serve(BODY_SECONDS=SHORT)
    for sent in (post("/plain", 3), post("/plain", 3) + b"ab", CHUNKED + b"3\r\nab"):
        with Wire(served) as wire:
            refused(wire.send(sent), 408, "request_timeout")
    with Wire(served) as wire:
        wire.send(post("/plain", 5_000)).drip(b"x" * 5_000)
        refused(wire, 408, "request_timeout")
    assert not any(seen.whole for seen in served.seen)


def test_slow_body_that_the_application_does_not_read(serve: Serve) -> None:
    served = serve(BODY_SECONDS=SHORT)
    with Wire(served) as wire:
        refused(wire.send(post("/gated", 3) + b"ab"), 408, "request_timeout")


def test_sender_that_was_held_back_is_heard_out(serve: Serve) -> None:
    size = 64_000_000
    served = serve(BODY_SECONDS=SHORT, LINGER_SECONDS=60.0, LINGER_BYTES=size)
    with Wire(served) as wire:
        sender = threading.Thread(target=wire.send, args=(post("/gated", size), bytes(size - 1)))
        sender.start()
        refused(wire, 408, "request_timeout")
        sender.join(PATIENCE)
        assert not sender.is_alive()


def test_application_is_told_of_a_refusal_in_the_body(serve: Serve) -> None:
    """It must not wait for the rest, nor write a second answer."""
    served = serve(LINGER_SECONDS=60.0)
    for path in (b"/plain", b"/gated", b"/early"):
        served.gate.clear()
        with Wire(served) as wire:
            refused(wire.send(CHUNKED.replace(b"/plain", path) + b"xyz"), 400, "malformed_http")
            served.gate.set()
            until(lambda: not served.server.server_state.tasks)
    with Wire(served) as wire:
        wire.send(CHUNKED + chunk(b"abc"))
        until(lambda: served.seen[-1].body == b"abc")
        refused(wire.send(b"xyz"), 400, "malformed_http")
        until(lambda: not served.server.server_state.tasks)
    assert not any(seen.whole for seen in served.seen)


def test_slow_body_after_the_response_has_begun(serve: Serve) -> None:
    served = serve(BODY_SECONDS=SHORT)
    with Wire(served) as wire:
        assert wire.send(post("/begun", 3) + b"ab").rest().endswith(b"\r\n\r\nbegun")


def test_slow_body_after_the_response(serve: Serve) -> None:
    served = serve(BODY_SECONDS=SHORT)
    with Wire(served) as wire:
        assert wire.send(post("/early", 3) + b"ab").answer().status == 401
        assert wire.rest() == b""


@pytest.mark.slow
def test_deadlines_are_those_of_one_request(serve: Serve) -> None:
    """Each request has its time anew, and the time of the application is nobody's fault."""
    patience = 1.0
    served = serve(HEAD_SECONDS=patience, BODY_SECONDS=patience, IDLE_SECONDS=patience)
    request = post("/plain", 3) + b"abc"
    with Wire(served) as wire:
        for _ in range(7):
            pieces = request[:20], request[20:-2], request[-2:]
            served_well(wire.send(*pieces, pause=patience / 10), b"/plain:3")
    with Wire(served) as whole, Wire(served) as head, Wire(served) as body:
        whole.send(GATED)
        head.send(GATED[:9], GATED[9:], pause=0.05)
        body.send(post("/gated", 3), b"abc", pause=0.05)
        time.sleep(patience * 1.2)
        served.gate.set()
        for wire, said in ((whole, b"/gated:0"), (head, b"/gated:0"), (body, b"/gated:3")):
            served_well(wire, said)


def test_silent_connection(serve: Serve) -> None:
    served = serve(FIRST_REQUEST_SECONDS=SHORT)
    with Wire(served) as wire:
        assert wire.rest() == b""
    with Wire(served) as wire:
        assert wire.send(b"\r\n").rest() == b""


def test_the_first_request_has_less_time_than_the_next(serve: Serve) -> None:
    """Less to begin, not to be whole; and once it is answered, the connection may idle for longer."""
    served = serve(FIRST_REQUEST_SECONDS=SHORT)
    assert GuardedProtocol.FIRST_REQUEST_SECONDS == GuardedProtocol.HEAD_SECONDS == 10.0
    assert GuardedProtocol.IDLE_SECONDS == 75.0
    with Wire(served) as wire:
        served_well(wire.send(GET[:9], GET[9:], pause=2 * SHORT))
        time.sleep(2 * SHORT)
        served_well(wire.send(GET))


def test_idle_connection_after_a_request(serve: Serve) -> None:
    served = serve(IDLE_SECONDS=SHORT)
    with Wire(served) as wire:
        served_well(wire.send(GET))
        assert wire.rest() == b""
    with Wire(served) as wire:
        wire.send(post("/early", 3)).answer()
        assert wire.send(b"abc").rest() == b""


def test_client_that_does_not_read_its_answer(serve: Serve) -> None:
    served = serve(WRITE_SECONDS=SHORT)
    with Wire(served) as wire:
        wire.send(GET.replace(b"plain", b"big"))
        until(lambda: bool(served.seen))
        until(lambda: served.connections == 0)


def test_requests_make_no_timers(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    timers: list[asyncio.TimerHandle | None] = []
    start = Deadline._start

    def counted(deadline: Deadline) -> None:
        start(deadline)
        timers.append(deadline._timer)

    monkeypatch.setattr(Deadline, "_start", counted)
    with Wire(served) as wire:
        for _ in range(30):
            served_well(wire.send(GET))
            served_well(wire.send(post("/plain", 3) + b"abc"), b"/plain:3")
        assert len(timers) == 1, "the one for the connection"
        for _ in range(30):
            served_well(wire.send(post("/plain", 3), b"abc"), b"/plain:3")
        assert len(timers) <= 3
    until(lambda: served.connections == 0)
    assert all(timer and timer.cancelled() for timer in timers), "they would outlive the connection"


# What is not HTTP


def with_header(line: bytes) -> bytes:
    return b"GET /plain HTTP/1.1\r\nHost: t\r\n" + line + b"\r\n\r\n"


MALFORMED = {
    "garbage": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "nonsense": b"nonsense\r\n\r\n",
    "method in lower case": GET.replace(b"GET", b"get"),
    "HTTP/0.9": b"GET /plain\r\n",
    "HTTP/0.9 by name": GET.replace(b"1.1", b"0.9"),
    "HTTP/1.2": GET.replace(b"1.1", b"1.2"),
    "HTTP/2.0": GET.replace(b"1.1", b"2.0"),
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "RTSP": GET.replace(b"GET", b"OPTIONS").replace(b"HTTP/1.1", b"RTSP/1.0"),
    "CONNECT": b"CONNECT t:443 HTTP/1.1\r\nHost: t\r\n\r\n",
    "CONNECT with bytes after": b"CONNECT t:443 HTTP/1.1\r\nHost: t\r\n\r\n" + GET,
    "no path": b"GET t HTTP/1.1\r\nHost: t\r\n\r\n",
    "control character in path": GET.replace(b"plain", b"pl\x01in"),
    "not ASCII in path": GET.replace(b"plain", b"pl\xe4in"),
    "line feeds only": GET.replace(b"\r\n", b"\n"),
    "line feed ends the head": GET.replace(b"\r\n\r\n", b"\r\n\n"),
    "no Host": b"GET /plain HTTP/1.1\r\n\r\n",
    "two Hosts": with_header(b"Host: t"),
    "two Hosts in HTTP/1.0": with_header(b"Host: t").replace(b"1.1", b"1.0"),
    "carriage return in value": with_header(b"X: a\rb"),
    "line feed in value": with_header(b"X: a\nY: b"),
    "NUL in value": with_header(b"X: a\0b"),
    "NUL in name": with_header(b"X\0: a"),
    "folded": with_header(b"X: a\r\n b"),
    "folded with tab": with_header(b"X: a\r\n\tb"),
    "space before colon": with_header(b"X : a"),
    "space before name": with_header(b" X: a"),
    "no colon": with_header(b"X"),
    "no name": with_header(b": a"),
    "length and chunks": with_header(b"Content-Length: 1\r\nTransfer-Encoding: chunked") + b"0\r\n\r\n",
    "chunks and length": with_header(b"Transfer-Encoding: chunked\r\nContent-Length: 1") + b"0\r\n\r\n",
    "two lengths": with_header(b"Content-Length: 1\r\nContent-Length: 1") + b"x",
    "two lengths of nothing": with_header(b"Content-Length: 0\r\nContent-Length: 0"),
    "list of lengths": with_header(b"Content-Length: 1, 1") + b"x",
    "negative length": with_header(b"Content-Length: -1"),
    "signed length": with_header(b"Content-Length: +1") + b"x",
    "hexadecimal length": with_header(b"Content-Length: 0x1") + b"x",
    "empty length": with_header(b"Content-Length:"),
    "length of other digits": with_header("Content-Length: ١".encode()),
    "huge length": with_header(b"Content-Length: " + b"9" * 30),
    "gzip": with_header(b"Transfer-Encoding: gzip"),
    "gzip and chunks": with_header(b"Transfer-Encoding: gzip, chunked"),
    "chunks and identity": with_header(b"Transfer-Encoding: chunked, identity"),
    "identity": with_header(b"Transfer-Encoding: identity"),
    "chunks twice": with_header(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
    "chunks in quotes": with_header(b'Transfer-Encoding: "chunked"'),
    "chunks in HTTP/1.0": CHUNKED.replace(b"1.1", b"1.0") + chunk(b""),
    "chunk without size": CHUNKED + b"\r\nabc\r\n",
    "chunk of strange size": CHUNKED + b"xyz\r\nabc\r\n",
    "chunk of signed size": CHUNKED + b"+3\r\nabc\r\n",
    "chunk of 0x size": CHUNKED + b"0x3\r\nabc\r\n",
    "chunk of huge size": CHUNKED + b"f" * 17 + b"\r\nabc\r\n",
    "chunk longer than its size": CHUNKED + b"3\r\nabcdef\r\n",
    "chunk ended by line feed": CHUNKED + b"3\nabc\n0\n\n",
    "chunk extension with line feed": CHUNKED + b"3;a\nabc\r\n",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(served: Served, name: str) -> None:
    with Wire(served) as wire:
        refused(wire.send(MALFORMED[name]), 400, "malformed_http")
    with Wire(served) as wire:
        served_well(wire.send(GET))
        time.sleep(0.005)
        served.seen.clear()
        refused(wire.send(MALFORMED[name][:12], MALFORMED[name][12:]), 400, "malformed_http")
    assert not any(seen.whole for seen in served.seen)


class LenientProtocol(GuardedProtocol):
    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reader.parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True)


def test_head_that_ends_only_for_the_parser() -> None:
    served = Served(LenientProtocol, "uvloop")
    try:
        with Wire(served) as wire:
            refused(wire.send(GET.replace(b"\r\n\r\n", b"\r\n\n")), 400, "malformed_http")
        assert served.seen == []
    finally:
        served.stop()


def test_space_around_framing_is_nothing(served: Served) -> None:
    with Wire(served) as wire:
        served_well(wire.send(with_header(b"Content-Length: \t1 \t") + b"x"), b"/plain:1")
        served_well(
            wire.send(with_header(b"Transfer-Encoding:  Chunked ") + chunk(b"ab") + chunk(b"")), b"/plain:2"
        )


def test_refusal_has_the_shape_of_the_service(served: Served) -> None:
    with Wire(served) as wire:
        answer = wire.send(b"nonsense\r\n\r\n").answer()
    detail = json.loads(answer.body)["detail"]
    assert set(detail) == {"code", "message"}
    assert detail["message"].endswith(".")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["connection"] == "close"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert re.fullmatch("[0-9a-f]{24}", answer.headers["x-request-id"])


# Chunks


@pytest.mark.parametrize("name", ["X-API-Key: other", "Host: t", "Content-Length: 3", "Expect: 100-continue"])
@pytest.mark.parametrize("pause", [0.0, 0.01])
def test_trailers_are_refused_and_never_seen(served: Served, name: str, pause: float) -> None:
    with Wire(served) as wire:
        wire.send(CHUNKED + chunk(b"abc") + b"0\r\n", name.encode() + b"\r\n", b"\r\n", pause=pause)
        refused(wire, 400, "malformed_http")
    until(lambda: bool(served.seen))
    (seen,) = served.seen
    assert [header for header, _ in seen.headers] == [b"host", b"transfer-encoding"]
    assert not seen.whole


def test_trailers_after_the_response_has_begun(served: Served) -> None:
    with Wire(served) as wire:
        wire.send(CHUNKED.replace(b"plain", b"begun"))
        until(lambda: bool(served.seen))
        time.sleep(0.05)
        assert wire.send(b"0\r\nX: y\r\n\r\n").rest().endswith(b"\r\n\r\nbegun")


@pytest.mark.parametrize("step", [900, 100_000], ids=["pieces", "whole"])
@pytest.mark.parametrize(
    "body",
    [
        chunk(b"abc", b";" + b"a" * 17_000) + chunk(b""),
        chunk(b"abc") + b"0;" + b"a" * 17_000 + b"\r\n\r\n",
        chunk(b"a") * 4_000 + chunk(b""),
        chunk(b"")[:-2] + b"X: " + b"a" * 17_000,
    ],
    ids=["extension", "last extension", "small chunks", "trailer"],
)
def test_framing_of_chunks_is_limited(served: Served, body: bytes, step: int) -> None:
    with Wire(served) as wire:
        pieces = [body[at : at + step] for at in range(0, len(body), step)]
        wire.send(CHUNKED, *pieces, pause=0.0)
        refused(wire, 400, "malformed_http")
    assert not any(seen.whole for seen in served.seen)


def test_bad_chunks_after_the_response_are_not_answered(served: Served) -> None:
    for rest in (b"xyz", b"0\r\nX: y\r\n\r\n", b"0;" + b"a" * 17_000 + b"\r\n\r\n"):
        with Wire(served) as wire:
            assert wire.send(CHUNKED.replace(b"plain", b"early")).answer().status == 401
            assert wire.send(rest).rest() == b""


def test_some_framing_is_fine(served: Served) -> None:
    with Wire(served) as wire:
        body = chunk(b"a", b';name="value"' * 50) * 10 + chunk(b"b" * 60_000) + chunk(b"", b";last")
        served_well(wire.send(CHUNKED + body), b"/plain:60010")
        served_well(wire.send(GET))


@pytest.mark.parametrize("segments", [1, 40])
def test_blank_lines_in_chunks_are_limited(served: Served, segments: int) -> None:
    """Each costs a step of the parser: a body that is nothing else would hold the event loop."""
    most = CHUNK_BLANK_LINES
    with Wire(served) as wire:
        for _ in range(2):  # The count is of one request.
            served_well(
                wire.send(CHUNKED + chunk(b"-\r\n\r\n-" * most) + chunk(b"")), b"/plain:%d" % (6 * most)
            )
        body = chunk(b"-\r\n\r\n-" * (most + 50)) + chunk(b"")
        step = len(body) // segments + 1
        pieces = [body[start : start + step] for start in range(0, len(body), step)]
        refused(wire.send(CHUNKED, *pieces), 400, "malformed_http")


@pytest.mark.slow
def test_a_chunked_body_of_many_segments_has_no_blank_lines(served: Served) -> None:
    with Wire(served) as wire:
        size = CHUNK_BLANK_LINES + 500
        whole = chunk(b"x" * size) + chunk(b"")
        served_well(
            wire.send(CHUNKED, *(whole[at : at + 1] for at in range(len(whole)))), b"/plain:%d" % size
        )
