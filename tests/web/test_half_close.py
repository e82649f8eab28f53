"""A client that closes its sending side after its requests gets the responses to them, then the end."""

import asyncio
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from bullion.web.protocol import GuardedProtocol
from bullion.web.response import EXCHANGE
from tests.support.receiver import certificate
from tests.web.wire import GATED, GET, PATIENCE, Serve, Served, Wire, post, refused, served_well, until

pytestmark = pytest.mark.usefixtures("quiet")

BIG = GET.replace(b"plain", b"big")


class AtOnce(Served):
    """Answers in one write, as the API does; at /gated after the request was read and the gate opened."""

    async def _app(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        await receive()
        if scope["path"] == "/gated":
            await asyncio.to_thread(self.gate.wait, PATIENCE)
        path = scope["path"].encode()
        if not scope["extensions"][EXCHANGE].send_at_once(200, b"content-length: %d\r\n" % len(path), path):
            await send(
                {
                    "type": "http.response.start",
                    "status": 200,
                    "headers": [(b"content-length", b"%d" % len(path))],
                }
            )
            await send({"type": "http.response.body", "body": path})


@pytest.fixture(params=["asyncio", "uvloop"])
def at_once(request: pytest.FixtureRequest) -> Iterator[Served]:
    # It must not linger for a client that has said that it sends no more.
    protocol = type("Limited", (GuardedProtocol,), {"__slots__": (), "LINGER_SECONDS": 60.0})
    served = AtOnce(protocol, request.param)
    yield served
    served.stop()


def half_close(wire: Wire) -> None:
    wire.socket.shutdown(socket.SHUT_WR)


def ended(wire: Wire, served: Served) -> None:
    assert wire.rest() == b""
    until(lambda: served.connections == 0)


def test_it_gets_a_response_that_is_ready_at_the_same_moment(at_once: Served) -> None:
    for number in range(400):
        with Wire(at_once) as wire:
            wire.send(GET)
            ready = time.perf_counter() + number % 100 * 2e-6
            while time.perf_counter() < ready:
                pass
            half_close(wire)
            served_well(wire, b"/plain")
            assert wire.rest() == b""


def test_it_gets_a_response_that_takes_its_time(at_once: Served) -> None:
    with Wire(at_once) as wire:
        half_close(wire.send(post("/gated", 2) + b"{}"))
        time.sleep(0.05)
        at_once.gate.set()
        answer = wire.answer()
        assert (answer.status, answer.headers["connection"], answer.body) == (200, "close", b"/gated")
        ended(wire, at_once)


def test_it_gets_the_responses_to_pipelined_requests(at_once: Served) -> None:
    with Wire(at_once) as wire:
        half_close(wire.send(GATED, GATED + GET + GATED + GET))
        time.sleep(0.05)
        at_once.gate.set()
        for body in (b"/gated", b"/gated", b"/plain", b"/gated", b"/plain"):
            served_well(wire, body)
        ended(wire, at_once)


def test_it_gets_the_response_behind_one_that_it_reads_slowly(served: Served) -> None:
    with Wire(served) as wire:
        half_close(wire.send(BIG + GET))
        time.sleep(0.1)
        assert len(wire.answer().body) == 16_000_000
        served_well(wire)
        assert wire.rest() == b""


@pytest.mark.parametrize("cut", [GET[:-3], post("/plain", 3)])
def test_a_request_that_is_cut_off_is_not_answered(at_once: Served, cut: bytes) -> None:
    with Wire(at_once) as wire:
        half_close(wire.send(cut))
        ended(wire, at_once)


def test_a_cut_off_request_behind_another_ends_the_connection(at_once: Served) -> None:
    with Wire(at_once) as wire:
        half_close(wire.send(GATED, GET[:9]))
        time.sleep(0.05)
        at_once.gate.set()
        served_well(wire, b"/gated")
        ended(wire, at_once)


def test_a_refusal_reaches_it(at_once: Served) -> None:
    with Wire(at_once) as wire:
        half_close(wire.send(GATED, b"nonsense\r\n\r\n"))
        time.sleep(0.05)
        at_once.gate.set()
        served_well(wire, b"/gated")
        refused(wire, 400, "malformed_http")
        ended(wire, at_once)


def test_the_error_of_an_application_reaches_it(serve: Serve) -> None:
    served = serve(LINGER_SECONDS=60.0)
    with Wire(served) as wire:
        half_close(wire.send(GATED + GET.replace(b"plain", b"fails")))
        time.sleep(0.05)
        served.gate.set()
        served_well(wire, b"/gated:0")
        refused(wire, 500, "internal_error")
        ended(wire, served)


def test_a_server_that_stops_answers_it_first(at_once: Served) -> None:
    with Wire(at_once) as wire:
        half_close(wire.send(GATED))
        time.sleep(0.05)
        at_once.server.should_exit = True
        time.sleep(0.3)
        at_once.gate.set()
        served_well(wire, b"/gated")
        assert wire.rest() == b""
    at_once.stop()


def test_pipelined_requests_of_a_client_that_has_left_end(at_once: Served) -> None:
    with Wire(at_once) as wire:
        wire.send(GATED, GATED * 3)
    time.sleep(0.05)
    at_once.gate.set()
    until(lambda: at_once.connections == 0)


def test_the_end_of_tls_ends_the_connection_without_a_warning(tmp_path: Path) -> None:
    """TLS of asyncio has no half close: it would warn of a connection that is to stay open."""
    asyncio.run(end_tls(tmp_path))


async def end_tls(folder: Path) -> None:
    context, trusted = certificate(folder, "localhost")
    begun = asyncio.Event()

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        await receive()
        begun.set()
        assert (await receive())["type"] == "http.disconnect"

    config, state = uvicorn.Config(app, interface="asgi3", lifespan="off", log_config=None), ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: GuardedProtocol(config, state, {}), "127.0.0.1", 0, ssl=context
    )
    tls = ssl.create_default_context(cafile=trusted)
    reader, writer = await asyncio.open_connection(
        *server.sockets[0].getsockname(), ssl=tls, server_hostname="localhost"
    )
    writer.write(GET)
    await begun.wait()
    writer.close()
    async with asyncio.timeout(PATIENCE):
        while state.connections:
            await asyncio.sleep(0.01)
    server.close()
    assert await reader.read() == b""
