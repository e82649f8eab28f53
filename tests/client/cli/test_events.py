"""`watch` and `listen`, at a real service: at a terminal, in a pipe, and with a receiver of webhooks."""

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from bullion_client import Event, verify_webhook
from bullion_client.cli import webhook_forwarder
from tests.client.cli.shell import Shell
from tests.client.cli.shop import Shop

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class Receiver:
    """A program that gets webhooks, verifies each, and answers as it is told."""

    def __init__(self) -> None:
        self.url = ""
        self.secret = SECRET
        self.answers: list[int] = []
        self.received: list[Event] = []
        self.arrived = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.received.append(verify_webhook(body, dict(self.headers.items()), receiver.secret))
            receiver.arrived.set()
            receiver.may_answer.wait(30)
            self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}/hooks"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(webhook_forwarder, "PAUSES_S", (0.01, 0.02, 0.03))
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def trader(shell: Shell) -> Shell:
    """Somebody with two orders, and so two events."""
    for number in (1, 2):
        shell.done("buy", "GOLD", str(number), "--client-order-id", "till\x1b[2J")
    return shell


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_in_a_pipe_each_event_is_a_line(trader: Shell) -> None:
    done = trader.done("watch", "--after", "0", "--for", "0.5")
    heading, *orders_and_events = done.out.splitlines()
    assert heading.startswith("deal  time")
    assert [line.split("  ")[0] for line in orders_and_events[:2]] == ["T-2", "T-1"]
    for number, line in enumerate(orders_and_events[2:], 1):
        assert f"  {number}  order.created " in line
        assert f"buy {number}.0000 g GOLD at ₹ 71,240.00  filled  deal T-{number}  " in line
        assert "+05:30" in line


def test_without_orders_it_says_so(shell: Shell) -> None:
    assert shell.done("watch", "--for", "0.2").out == "No orders yet.\n"


def test_as_json_each_line_is_the_event_of_the_api(trader: Shell, shop: Shop) -> None:
    done = trader.done("watch", "--after", "0", "--for", "0.5", "--json")
    assert lines(done.out) == shop.answer(trader.key, "/events")["items"]
    assert lines(trader.done("watch", "--after", "1", "--for", "0.5", "--json").out) == lines(done.out)[1:]


def test_events_that_are_gone_are_told_with_what_to_do(trader: Shell) -> None:
    done = trader.failed(3, "watch", "--after", "7", "--for", "5")
    assert "events_gone (410)" in done.err
    assert "Run 'bullion-client orders'" in done.err
    assert "then go on with --after 2." in done.err
    assert trader.failed(3, "listen", "--after", "7", "--json").error["detail"]["newest"] == 2


def test_a_service_without_events_or_key(shell: Shell) -> None:
    assert shell.failed(6, "watch", "--deadline", "0.1", BULLION_BASE_URL="http://127.0.0.1:1").out == ""
    shell.key = f"{shell.key[:-8]}00000000"
    assert "(401)" in shell.failed(3, "watch").err
    assert "BULLION_BASE_URL" in shell.failed(2, "listen", BULLION_BASE_URL="ftp://x").err


def test_a_table_at_a_terminal_that_ctrl_c_ends(shell: Shell, shop: Shop) -> None:
    terminal = shell.terminal("watch", columns=120)
    terminal.sees("No orders yet.").sees("No events yet.")
    shell.done("buy", "GOLD", "5")
    terminal.sees("order.created").sees("T-1").sees("71,240.00")
    shop.desk.do("PATCH", "/switches", {"halted": True})
    try:
        terminal.sees("trading.halted").sees("orders are refused")
    finally:
        shop.desk.do("PATCH", "/switches", {"halted": False})
    terminal.sees("trading.resumed").interrupt()
    terminal.sees("To go on from here: bullion-client watch --after 3")
    assert terminal.ends() == 0
    assert "Traceback" not in terminal.screen


def test_a_pipe_gets_each_line_at_once_and_ctrl_c_ends_it(trader: Shell) -> None:
    with trader.process("watch", "--after", "0", "--json") as process:
        assert process.stdout is not None
        assert [json.loads(process.stdout.readline())["number"] for _ in range(2)] == [1, 2]
        process.send_signal(signal.SIGINT)
        assert (*process.communicate(timeout=30), process.returncode) == ("", "", 0)


def test_a_reader_who_has_enough_ends_it(trader: Shell) -> None:
    with trader.process("watch", "--after", "0", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        trader.done("buy", "GOLD", "5")
        assert (process.stderr.read(), process.wait(timeout=30)) == ("", 0)


def test_webhooks_reach_a_program_on_this_machine(trader: Shell, receiver: Receiver, shop: Shop) -> None:
    words = ("listen", "--after", "0", "--for", "0.5", "--forward-to", receiver.url)
    done = trader.done(*words, "--secret", SECRET)
    assert done.out.splitlines()[0] == "Listening for events in test, after number 0. Ctrl+C ends this."
    assert done.out.splitlines()[1] == f"Forwarding to {receiver.url}, signed with your secret"
    assert done.out.count("  -> status 204 (") == 2
    events = shop.answer(trader.key, "/events")["items"]
    assert [event.raw for event in receiver.received] == events
    assert all(event["id"] in done.out for event in events)


def test_a_secret_of_yours_is_not_printed(trader: Shell, receiver: Receiver) -> None:
    words = ("listen", "--after", "1", "--for", "0.3", "--forward-to", receiver.url, "--json")
    begun, told = lines(trader.done(*words, BULLION_WEBHOOK_SECRET=SECRET).out)
    assert begun["secret"] is None
    assert told["tries"][0]["status"] == 204


def test_failed_deliveries_are_tried_again_and_the_order_is_kept(trader: Shell, receiver: Receiver) -> None:
    receiver.answers = [500, 302, 204, 503, 503, 503, 503]
    done = trader.done(
        "listen", "--after", "0", "--for", "1", "--forward-to", receiver.url, BULLION_WEBHOOK_SECRET=SECRET
    )
    assert [event.number for event in receiver.received] == [1, 1, 1, 2, 2, 2, 2]
    results = [line.split(" (")[0] + line.split(")")[-1] for line in done.out.splitlines() if "->" in line]
    assert results == [
        "  -> status 500, trying again",
        "  -> status 302, trying again",
        "  -> status 204",
        *["  -> status 503, trying again"] * 3,
        "  -> status 503, given up",
    ]


def test_ctrl_c_names_the_last_event_that_was_delivered(trader: Shell, receiver: Receiver) -> None:
    words = ("listen", "--after", "1", "--forward-to", receiver.url, "--secret", SECRET)
    receiver.may_answer.clear()
    terminal = trader.terminal(*words, columns=120)
    try:
        assert receiver.arrived.wait(30)
        terminal.interrupt().sees("To go on from here: bullion-client listen --after 1\r")
        assert terminal.ends() == 0
    finally:
        receiver.may_answer.set()


def test_a_program_that_is_not_there(trader: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_forwarder, "PAUSES_S", (0.01,))
    done = trader.done(
        "listen", "--after", "1", "--for", "0.5", "--forward-to", "http://127.0.0.1:1/", "--json"
    )
    begun, told = lines(done.out)
    assert (begun["listening"], begun["environment"], begun["after"]) == (True, "test", 1)
    assert begun["secret"].startswith("whsec_")
    assert (told["event"]["number"], len(told["tries"])) == (2, 2)
    assert told["tries"][0]["status"] is None
    assert told["tries"][0]["error"]


def test_without_an_address_events_are_only_shown_and_types_may_be_chosen(trader: Shell) -> None:
    done = trader.done("listen", "--after", "0", "--for", "0.3")
    assert [line.split()[4] for line in done.out.splitlines()[1:]] == ["order.created"] * 2
    chosen = trader.done("listen", "--after", "0", "--for", "0.3", "--type", "order.closed")
    assert len(chosen.out.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--forward-to", "localhost:4242"), "--forward-to must be an address"),
        (("--forward-to", "http://x", "--secret", "abc!"), "--secret must be the text whsec_"),
        (("--type", "order.lost"), "'--type'"),
        (("--after", "-1"), "'--after'"),
    ],
)
def test_wrong_options(shell: Shell, words: tuple[str, ...], message: str) -> None:
    done = shell.failed(2, "listen", *words)
    assert message in done.err
    assert "abc!" not in done.err
