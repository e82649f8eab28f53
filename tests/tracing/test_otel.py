"""Spans of real calls, as a real receiver of OTLP gets them."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.docs.markdown import blocks
from tests.support.command import bullion, environment, sentence
from tests.support.node import Node, running, until
from tests.support.orders import Market, Trader
from tests.support.otlp import ReceivedSpan, Receiver, running_receiver
from tests.support.production import LiveMarket
from tests.support.stacks import STACKS, stack

PAGE = Path(__file__).parents[2] / "docs/logs-and-traces.md"
ORDERS = "/api/trading/v1/orders"
TEST_ORDERS = "/api/trading/test/v1/orders"
CALLER_TRACE, CALLER_SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with running_receiver() as received:
        yield received


@pytest.fixture(scope="module", params=STACKS)
def node(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, receiver: Receiver
) -> Iterator[Node]:
    settings = stack(request.param, request)
    with running(
        tmp_path_factory.mktemp("node"),
        BULLION_OTEL="on",
        BULLION_PRODUCTION="on",
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
        OTEL_BSP_SCHEDULE_DELAY="100",
        **settings,
    ) as started:
        yield started


@pytest.fixture(scope="module")
def market(node: Node) -> Iterator[LiveMarket]:
    with LiveMarket.open(node) as opened:
        yield opened


class Trace:
    """The spans of one call, once they are all there: that of the call ends last."""

    def __init__(self, receiver: Receiver, answer: httpx.Response) -> None:
        request_id = answer.headers["x-request-id"]
        until(lambda: receiver.of_request(request_id), within_s=20)
        self.spans = receiver.of_request(request_id)
        self._by_id = {each.span_id: each for each in self.spans}
        (self.call,) = [
            each for each in self.spans if each.attributes.get("bullion.request_id") == request_id
        ]

    def ways(self) -> set[str]:
        """The names from the call down to each span."""
        return {" > ".join(self._names(each)) for each in self.spans}

    def _names(self, span: ReceivedSpan) -> list[str]:
        parent = self._by_id.get(span.parent_id)
        return [*([] if parent is None else self._names(parent)), span.name]


def test_the_settings_of_the_page_work(node: Node) -> None:
    (block,) = [each for each in blocks(PAGE) if each.text.startswith("BULLION_OTEL=")]
    shown = dict(line.split("=", 1) for line in block.text.splitlines())
    assert shown["BULLION_OTEL"] == node.settings["BULLION_OTEL"]
    assert shown.keys() <= node.settings.keys()


def test_the_page_shows_the_spans_of_an_order(market: LiveMarket, node: Node, receiver: Receiver) -> None:
    """With the names of PostgreSQL's statements."""
    (block,) = [each for each in blocks(PAGE) if each.text.startswith("POST ")]
    text = block.text
    if "BULLION_REDIS_URL" not in node.settings:
        text = text.replace("record_plans", "record_locked").replace("confirm_newest", "confirm_orders")
    shown: list[list[str]] = []
    for line in text.splitlines():
        tree, name = re.fullmatch(r"([│├└─ ]*)(\S+(?: \S+)*) {2,}.*", line).groups()  # type: ignore[union-attr]
        shown.append([*_above(shown, len(tree) // 3), name])
    assert {" > ".join(way) for way in shown} <= Trace(receiver, market.trader().place()).ways()


def _above(shown: list[list[str]], depth: int) -> list[str]:
    """The names that a line of the tree is below."""
    return next((way for way in reversed(shown) if len(way) == depth), [])


def recording_of(node: Node) -> str:
    return "record_plans" if "BULLION_REDIS_URL" in node.settings else "record_locked"


def test_the_spans_of_a_production_order_lead_to_the_store_and_the_venue(
    market: LiveMarket, node: Node, receiver: Receiver
) -> None:
    answer = market.trader().place()
    assert answer.status_code == 201
    answered = "confirm_newest" if "BULLION_REDIS_URL" in node.settings else "confirm_orders"
    trace = Trace(receiver, answer)
    call = f"POST {ORDERS}"
    ways = trace.ways()
    assert {
        call,
        f"{call} > gate",
        f"{call} > gate > rate limits",
        f"{call} > booking",
        f"{call} > booking > store {recording_of(node)}",
        f"{call} > booking > venue submit",
        f"{call} > booking > venue submit > store take_venue_orders",
        f"{call} > booking > store {answered}",
    } <= ways
    assert trace.call.kind == Span.SPAN_KIND_SERVER
    assert trace.call.parent_id == ""
    assert trace.call.service == "bullion"
    assert trace.call.attributes == {
        "http.request.method": "POST",
        "http.route": ORDERS,
        "http.response.status_code": 201,
        "bullion.request_id": answer.headers["x-request-id"],
    }
    (venue,) = [each for each in trace.spans if each.name == "venue submit"]
    assert venue.kind == Span.SPAN_KIND_CLIENT
    stored = {each.attributes["db.system.name"] for each in trace.spans if each.name.startswith("store ")}
    assert stored == {"postgresql" if "BULLION_REDIS_URL" in node.settings else "sqlite"}


def test_a_read_and_a_call_of_the_desk_lead_to_the_store(market: LiveMarket, receiver: Receiver) -> None:
    trader = market.tester()
    order_id = trader.place().json()["id"]
    market.desk.patch(f"/accounts/{trader.login_id}", json={"note": None})  # The next read is not cached.
    listed = Trace(receiver, trader.http.get(f"{TEST_ORDERS}?limit=1"))
    assert any(way.startswith(f"GET {TEST_ORDERS} > store ") for way in listed.ways()), listed.ways()
    at_desk = Trace(receiver, market.desk.get(f"/orders/{order_id}"))
    route = at_desk.call.name
    assert route.startswith("GET /desk/v1/orders/{")
    assert {route, f"{route} > gate"} <= at_desk.ways()
    assert any(way.startswith(f"{route} > store ") for way in at_desk.ways())


def test_the_trace_of_a_caller_goes_on(market: LiveMarket, receiver: Receiver) -> None:
    parent = {"traceparent": f"00-{CALLER_TRACE}-{CALLER_SPAN}-01", "tracestate": "vendor=1"}
    trace = Trace(receiver, _me(market.tester(), parent))
    assert (trace.call.trace_id, trace.call.parent_id) == (CALLER_TRACE, CALLER_SPAN)


@pytest.mark.parametrize(
    "traceparent",
    [
        f"00-{'0' * 32}-{CALLER_SPAN}-01",
        f"00-{CALLER_TRACE}-{'0' * 16}-01",
        f"ff-{CALLER_TRACE}-{CALLER_SPAN}-01",
        f"00-{CALLER_TRACE}-{CALLER_SPAN}-01-more",
        f"00-{CALLER_TRACE[:-1]}-{CALLER_SPAN}-01",
        f"00-{CALLER_TRACE}-{CALLER_SPAN}-01" + "-x" * 300,
        "nonsense",
        "",
    ],
)
def test_a_traceparent_that_is_not_valid_is_ignored(
    market: LiveMarket, receiver: Receiver, traceparent: str
) -> None:
    trace = Trace(receiver, _me(market.tester(), {"traceparent": traceparent}))
    assert trace.call.parent_id == ""
    assert trace.call.trace_id != CALLER_TRACE


def test_two_traceparents_are_ignored(market: LiveMarket, receiver: Receiver) -> None:
    value = f"00-{CALLER_TRACE}-{CALLER_SPAN}-01"
    trader = market.tester()
    headers = [*trader.http.headers.items(), ("traceparent", value), ("traceparent", value)]
    answer = trader.http.get("/api/trading/test/v1/me", headers=headers)
    assert Trace(receiver, answer).call.parent_id == ""


def test_a_caller_that_is_not_sampled_leaves_no_spans(market: LiveMarket, receiver: Receiver) -> None:
    trace_id = uuid4().hex
    answer = _me(market.tester(), {"traceparent": f"00-{trace_id}-{CALLER_SPAN}-00"})
    Trace(receiver, _me(market.tester(), {}))  # Exported after the other would have been.
    assert receiver.of_request(answer.headers["x-request-id"]) == []
    assert not any(each.trace_id == trace_id for each in receiver.spans)


def test_a_refused_call_says_why(market: LiveMarket, receiver: Receiver) -> None:
    with market.node.api("no key") as stranger:
        trace = Trace(receiver, stranger.get("/api/trading/test/v1/me"))
    (gate,) = [each for each in trace.spans if each.name == "gate"]
    assert gate.attributes["bullion.code"] == trace.call.attributes["bullion.code"] == "malformed_credential"
    assert trace.call.attributes["http.response.status_code"] == 401
    assert trace.call.status == Status.STATUS_CODE_UNSET


def test_orders_that_are_recorded_together_share_the_span_of_the_store(
    market: LiveMarket, node: Node, receiver: Receiver
) -> None:
    """It is in the trace of one of them, and the others have links to it."""
    traders = [market.tester() for _ in range(12)]
    with ThreadPoolExecutor(len(traders)) as pool:
        answers = list(pool.map(lambda trader: trader.place(), traders))
    traces = [Trace(receiver, answer) for answer in answers]
    recorded = {
        each.span_id: each for trace in traces for each in trace.spans if each.name.startswith("store record")
    }
    for trace in traces:
        (booking,) = [each for each in trace.spans if each.name == "booking"]
        mine = [each for each in recorded.values() if each.parent_id == booking.span_id]
        linked = [recorded[each] for each in booking.links if each in recorded]
        assert mine or linked
        assert all(booking.span_id in each.links for each in linked)


def test_what_belongs_to_no_call_has_no_span(market: LiveMarket, receiver: Receiver) -> None:
    with market.node.api() as stranger:
        for path in ("/health/ready", "/openapi.json", "/nowhere"):
            stranger.get(path)
    Trace(receiver, _me(market.tester(), {}))
    first = {each.name for each in receiver.spans if each.parent_id == ""}
    assert all(name.split()[1].startswith(("/api/trading/", "/desk/v1/")) for name in first), first


def test_the_next_call_on_a_connection_is_not_in_the_trace(
    market: LiveMarket, node: Node, receiver: Receiver
) -> None:
    """Both are sent at once: the second one begins when the first is answered."""
    trader = market.tester()
    lines = f"Host: {market.host}\r\nX-API-Key: {trader.key}\r\n\r\n"
    paths = ("/api/trading/test/v1/me", "/health/ready", "/api/trading/test/v1/symbols", "/health/live")
    with socket.create_connection((trader.http.base_url.host, trader.http.base_url.port or 0)) as line:
        line.sendall("".join(f"GET {path} HTTP/1.1\r\n{lines}" for path in paths).encode())
        received = b""
        while received.count(b"x-request-id") < len(paths):
            received += line.recv(65536)
    ids = re.findall(rb"x-request-id: (\w+)", received)
    until(lambda: receiver.of_request(ids[2].decode()), within_s=20)
    names = [
        sorted(each.name for each in receiver.of_request(request_id.decode()) if each.parent_id == "")
        for request_id in ids
    ]
    assert names == [[f"GET {paths[0]}"], [], [f"GET {paths[2]}"], []]
    assert not any("ended span" in entry for entry in node.log)


def _me(trader: Trader, headers: dict[str, str]) -> httpx.Response:
    return trader.http.get("/api/trading/test/v1/me", headers=headers)


# --- Off, and what cannot work ------------------------------------------------------------------------


def test_without_the_setting_nothing_of_opentelemetry_is_imported(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from bullion.settings import Settings\n"
        "from bullion.serve import run_node\n"
        "from bullion.wiring.node import open_node\n"
        "from bullion.wiring.tracing import require_tracing\n"
        "async def run():\n"
        "    settings = Settings()\n"
        "    require_tracing(settings)\n"
        "    async with open_node(settings) as node:\n"
        "        assert type(node.api).__name__ == 'TradingApi'\n"
        "asyncio.run(run())\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry', 'google', 'requests'))])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert (done.stdout.splitlines()[-1:], done.returncode) == (["[]"], 0), done.stderr


def test_without_the_package_the_start_says_what_to_install(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden/opentelemetry"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError('opentelemetry')\n")
    done = subprocess.run(
        [sys.executable, "-m", "bullion", "serve"],
        cwd=tmp_path,
        env=environment(BULLION_OTEL="on", PYTHONPATH=str(hidden.parent)),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "bullion: BULLION_OTEL is on, but OpenTelemetry is not installed: pip install 'bullion[otel]'.\n"
    )


def test_a_wrong_variable_of_opentelemetry_stops_the_start(tmp_path: Path) -> None:
    wrong = {"OTEL_BSP_MAX_QUEUE_SIZE": "-1"}
    assert "OTEL_ variable is wrong" in sentence(bullion(tmp_path, "serve", BULLION_OTEL="on", **wrong))


def test_a_receiver_that_is_away_harms_no_call_and_no_stop(tmp_path: Path) -> None:
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_BSP_SCHEDULE_DELAY": "100"}
    with running(tmp_path, BULLION_OTEL="on", **settings) as node, Market.open(node) as market:
        trader = market.trader()
        assert trader.place().status_code == 201
        until(lambda: any("opentelemetry" in line for line in node.log), within_s=20)
        assert trader.place().status_code == 201
        assert node.stop() == 0
