"""The whole program of the clients' guide, where answers get lost: one order, under one key."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from tests.docs.markdown import ROOT, blocks
from tests.support.command import environment

(PROGRAM,) = [
    block.text
    for block in blocks(ROOT / "docs/client-guide.md")
    if block.language == "python" and "def place(" in block.text
]
NO_PAUSES = """
import sys, time
time.sleep = lambda pause_s: print("paused", pause_s, file=sys.stderr)
"""

QUOTE = {
    "symbol_code": "GOLD",
    "buy": "150630.00",
    "sell": None,
    "at": None,
    "tradable": True,
    "reason": None,
}
POSITIONS = {
    "gold": {"net": "5.0000", "limit": "1000.0000", "used": "5.0000", "free": "995.0000", "unit": "g"}
}
ORDER = {
    "id": "1",
    "deal_label": "T-1",
    "status": "filled",
    "quantity": "5.0000",
    "unit": "g",
    "price": "150630.00",
}


def live(status: str) -> dict[str, Any]:
    """A production order in that state."""
    booked = status not in ("pending", "rejected", "deleted")
    return ORDER | {
        "status": status,
        "deal_no": 7 if booked else None,
        "price": ORDER["price"] if booked else None,
    }


def answer(status: str, body: object, *headers: str) -> bytes:
    text = json.dumps(body)
    lines = (f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(text)}", "Connection: close", "", text)
    return "\r\n".join(lines).encode()


def refusal(status: str, code: str, *headers: str) -> bytes:
    return answer(status, {"detail": {"code": code, "message": "No."}}, "X-Request-Id: 17", *headers)


TAKEN = answer("201 Created", ORDER)
LOST = {
    "nothing at all": b"",
    "a body that breaks off": TAKEN[:-20],
    "a head that breaks off": TAKEN[:30],
    "a broken status line": b"HTTP/1.1 what\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x00\r\n\r\n",
    "a chunk that breaks off": b'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{"id": "1"',
    "a 502 with other JSON": answer("502 Bad Gateway", {"error": "upstream"}),
    "a 502 with another detail": answer("502 Bad Gateway", {"detail": "upstream"}, "Retry-After: tomorrow"),
    "a 502 that breaks off": answer("502 Bad Gateway", {"error": "upstream"})[:-5],
    "a 503 with a list": answer("503 Service Unavailable", [{"detail": {"code": "x"}}]),
    "a 404 without a code": answer("404 Not Found", {"detail": "Not Found"}),
    "a 403 of a proxy": answer("403 Forbidden", {"message": "blocked", "detail": {"reason": 7}}),
    "a page in place of JSON": b"HTTP/1.1 504 Late\r\nContent-Length: 6\r\n\r\n<html>",
    "a 200 that is no order": answer("200 OK", {"login": "please"}),
}
AGAIN = {
    "service_unavailable": refusal("503 Service Unavailable", "service_unavailable", "Retry-After: 7"),
    "stale_rate": refusal("503 Service Unavailable", "stale_rate"),
    "internal_error": refusal("500 Internal Server Error", "internal_error"),
    "rate_limited": refusal("429 Too Many Requests", "rate_limited", "Retry-After: 3"),
}


class Fake(ThreadingHTTPServer):
    """Answers each order with the next of its answers, and keeps what it was sent."""

    def __init__(self, answers: Sequence[bytes], quote: dict[str, Any], polled: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = iter(answers)
        self.polled = iter(polled)
        """The state of the order, each time that it is asked for."""
        self.polls = 0
        self.quote = quote
        self.orders: list[tuple[str | None, bytes]] = []


class Handler(BaseHTTPRequestHandler):
    server: Fake

    def do_GET(self) -> None:
        self._send(answer("200 OK", self._read()))

    def _read(self) -> object:
        if self.path.endswith("/positions"):
            return POSITIONS
        if self.path.endswith("/orders/1"):
            self.server.polls += 1
            return live(next(self.server.polled))
        return {"items": [self.server.quote]}

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.orders.append((self.headers["Idempotency-Key"], body))
        self._send(next(self.server.answers))

    def _send(self, text: bytes) -> None:
        self.wfile.write(text)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def fake(*answers: bytes, polled: Sequence[str] = (), **quote: object) -> Iterator[Fake]:
    with Fake(answers, QUOTE | quote, polled) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def run(server: Fake, key: str = "key_test.x") -> subprocess.CompletedProcess[str]:
    """The program as it stands in the guide, but for its pauses."""
    variables = {"API": f"http://127.0.0.1:{server.server_port}", "KEY": key, "NO_PROXY": "*"}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", NO_PAUSES + PROGRAM],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def assert_one_order(done: subprocess.CompletedProcess[str], server: Fake, sent: int) -> None:
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "T-1 filled 5.0000 g at 150630.00",
        "gold: 5.0000 of 1000.0000 g",
    ]
    assert len(server.orders) == sent
    ((name, body),) = set(server.orders)
    assert name
    assert json.loads(body)["quantity"] == 5


def test_lost_answers_one_after_the_other_end_in_the_one_order() -> None:
    """As it may be in one bad minute: cut off, garbled, a proxy's, and then the order."""
    lost = (LOST["a body that breaks off"], LOST["a broken status line"], LOST["a 502 with other JSON"])
    with fake(*lost, TAKEN) as server:
        assert_one_order(run(server), server, sent=4)


@pytest.mark.parametrize("lost", LOST.values(), ids=LOST)
def test_what_is_no_answer_of_the_service_is_sent_again_under_the_same_key(lost: bytes) -> None:
    with fake(lost, TAKEN) as server:
        assert_one_order(run(server), server, sent=2)


@pytest.mark.parametrize("refused", AGAIN.values(), ids=AGAIN)
def test_a_refusal_that_passes_is_waited_out(refused: bytes) -> None:
    with fake(refused, TAKEN) as server:
        done = run(server)
        assert_one_order(done, server, sent=2)
    told = refused.partition(b"Retry-After: ")[2][:1].decode() or "1"
    assert done.stderr.splitlines() == [f"paused {told}"]


@pytest.mark.parametrize("code", ["limit_exceeded", "idempotency_key_reused", "price_moved"])
def test_a_refusal_that_stays_ends_it_at_once(code: str) -> None:
    with fake(refusal("422 Unprocessable Content", code)) as server:
        done = run(server)
        assert len(server.orders) == 1
    assert done.returncode == 1
    assert f"{code}: No. Request 17." in done.stderr


def test_when_no_answer_comes_at_all_it_says_what_to_send_again() -> None:
    with fake(*[b""] * 6) as server:
        done = run(server)
        ((name, body),) = set(server.orders)
    assert done.returncode == 1
    assert "No answer yet." in done.stderr
    assert str(name) in done.stderr
    assert body.decode() in done.stderr


@pytest.mark.parametrize("quote", [{"buy": None}, {"tradable": False, "reason": "trading_halted"}])
def test_without_a_price_or_a_market_nothing_is_sent(quote: dict[str, Any]) -> None:
    with fake(**quote) as server:
        done = run(server)
        assert not server.orders
    assert done.returncode == 1
    assert f"Not now: {quote.get('reason', 'there is no price to buy at')}." in done.stderr


# --- Production ------------------------------------------------------------------------------------------

LIVE = "key_live.x"
ACCEPTED = answer("202 Accepted", live("pending"))
DEAL = ["7 open 5.0000 g at 150630.00", "gold: 5.0000 of 1000.0000 g"]


@pytest.mark.parametrize(
    "taken",
    [answer("201 Created", live("open")), answer("200 OK", live("open"), "Idempotent-Replayed: true")],
    ids=["at once", "found again"],
)
def test_a_deal_is_not_asked_for_again(taken: bytes) -> None:
    with fake(taken) as server:
        done = run(server, LIVE)
        assert (len(server.orders), server.polls) == (1, 0)
    assert done.stdout.splitlines() == DEAL


@pytest.mark.parametrize("first", [ACCEPTED, answer("200 OK", live("pending"))], ids=["new", "found again"])
def test_a_pending_order_is_polled_until_it_is_a_deal(first: bytes) -> None:
    with fake(first, polled=["pending", "pending", "open"]) as server:
        done = run(server, LIVE)
        assert (len(server.orders), server.polls) == (1, 3)
    assert done.stdout.splitlines() == DEAL
    assert done.stderr.splitlines() == ["paused 1.5"] * 3


@pytest.mark.parametrize("end", ["rejected", "deleted"])
def test_a_pending_order_that_becomes_no_deal_is_told(end: str) -> None:
    with fake(ACCEPTED, polled=["pending", end]) as server:
        done = run(server, LIVE)
        assert len(server.orders) == 1
    assert done.returncode == 1
    assert f"It is no deal: 1 is {end}." in done.stderr


def test_after_half_a_minute_it_stops_asking_and_orders_nothing_more() -> None:
    with fake(ACCEPTED, polled=["pending"] * 100) as server:
        done = run(server, LIVE)
        assert len(server.orders) == 1
    pauses = [float(line.removeprefix("paused ")) for line in done.stderr.splitlines() if "paused" in line]
    assert done.returncode == 1
    assert sum(pauses) == 30
    assert all(1 <= pause <= 2 for pause in pauses)
    assert "ask later for 1." in done.stderr


@pytest.mark.parametrize(
    "refused",
    [
        refusal("409 Conflict", "booking_conflict"),
        refusal("503 Service Unavailable", "booking_unavailable"),
        refusal("503 Service Unavailable", "booking_busy", "Retry-After: 2"),
        refusal("503 Service Unavailable", "booking_not_completed", "Retry-After: 2"),
        refusal("503 Service Unavailable", "booking_outcome_unknown", "Retry-After: 2"),
    ],
    ids=["conflict", "unavailable", "busy", "not completed", "outcome unknown"],
)
def test_a_booking_that_failed_is_sent_again_under_the_same_key(refused: bytes) -> None:
    with fake(refused, refused, ACCEPTED, polled=["open"]) as server:
        done = run(server, LIVE)
        assert len(server.orders) == 3
        assert len(set(server.orders)) == 1
    assert done.stdout.splitlines() == DEAL


def test_an_order_that_the_hedge_refused_is_not_sent_again() -> None:
    with fake(refusal("409 Conflict", "order_rejected")) as server:
        done = run(server, LIVE)
        assert len(server.orders) == 1
    assert done.returncode == 1
    assert "order_rejected: No." in done.stderr
