"""WebSocket and HTTP sources on a real server, with its faults."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable

import httpx
import msgspec
import pytest
from websockets.asyncio.server import ServerConnection, serve

from bullion.market_demo.quote_server import QuoteServer, now_us
from bullion.rates.feeds.http_source import HttpSource
from bullion.rates.feeds.quote import Alive, Item, Quote, SourceLost, Unreadable
from bullion.rates.feeds.secret_text import SecretMissing, secret_of
from bullion.rates.feeds.simulated import INSTRUMENTS
from bullion.rates.feeds.source_settings import Fields, SourceInstrument, SourceSettings
from bullion.rates.feeds.websocket_source import WebSocketSource
from tests.support.servers import free_port

pytestmark = pytest.mark.anyio

SECRET = "not-for-any-log"
WAIT_S = 30.0


@pytest.fixture
async def server() -> AsyncIterator[QuoteServer]:
    async with QuoteServer(seed=3, every_s=0.02).open() as found:
        found.authorization = f"Bearer {SECRET}"
        yield found


def settings(server: QuoteServer, kind: str, path: str = "quotes") -> SourceSettings:
    found = SourceSettings(
        name="demo",
        kind="http" if kind == "http" else "websocket",
        url=f"{'http' if kind == 'http' else 'ws'}://127.0.0.1:{server.port}/{path}",
        instruments=(
            SourceInstrument(instrument="XAUUSD", symbol="XAUUSD"),
            SourceInstrument(instrument="GOLD1G", symbol="GOLD", scale="0.1"),
        ),
        fields=Fields(items="/data", time="/time"),
        secret_env="DEMO_TOKEN",
        header_name="Authorization",
        header_value="Bearer {secret}",
        poll_ms=100,
        ping_s=1,
        alive_s=3,
    )
    assert list(found.problems()) == []
    return found


def make(found: SourceSettings, secret: str = SECRET) -> WebSocketSource | HttpSource:
    return (HttpSource if found.kind == "http" else WebSocketSource)(found, secret, now_us)


class Run:
    """A source that runs, and what it delivered."""

    def __init__(self, source: WebSocketSource | HttpSource) -> None:
        self.items: list[Item] = []
        self.task = asyncio.create_task(source.run(self._take))

    def _take(self, item: Item) -> None:
        self.items.append(item)

    async def until(self, wanted: Callable[[Item], bool]) -> Item:
        """The first new item like this."""
        seen = len(self.items)
        async with asyncio.timeout(WAIT_S):
            while True:
                for item in self.items[seen:]:
                    if wanted(item):
                        return item
                assert not self.task.done(), self.task
                await asyncio.sleep(0.01)

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


def is_quote(item: Item) -> bool:
    return isinstance(item, Quote) and item.instrument == "XAUUSD"


@pytest.mark.parametrize("kind", ["websocket", "http"])
async def test_quotes_arrive_with_our_names_and_scales(server: QuoteServer, kind: str) -> None:
    run = Run(make(settings(server, kind)))
    spot = await run.until(is_quote)
    gram = await run.until(lambda item: isinstance(item, Quote) and item.instrument == "GOLD1G")
    await run.stop()
    assert isinstance(spot, Quote)
    assert isinstance(gram, Quote)
    assert spot.bid_e6 is not None
    assert spot.ask_e6 is not None
    assert 4_000_000_000 < spot.bid_e6 < spot.ask_e6 < 6_000_000_000
    assert spot.at_us is not None
    assert abs(spot.received_us - spot.at_us) < 60_000_000
    assert gram.bid_e6 is not None
    assert 10_000_000_000 < gram.bid_e6 < 20_000_000_000
    assert {item.instrument for item in run.items if isinstance(item, Quote)} == {"XAUUSD", "GOLD1G"}


@pytest.mark.parametrize("kind", ["websocket", "http"])
@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("nan", lambda item: isinstance(item, Unreadable) and item.instrument == "XAUUSD"),
        ("rubbish", lambda item: isinstance(item, Unreadable) and item.instrument is None),
        ("negative", lambda item: is_quote(item) and item.bid_e6 < 0),
        ("crossed", lambda item: is_quote(item) and item.bid_e6 > item.ask_e6),
        ("thousand", lambda item: is_quote(item) and item.bid_e6 > 10**12),
        ("old", lambda item: is_quote(item) and item.received_us - item.at_us > 10**13),
    ],
)
async def test_faults_are_delivered_as_they_are(
    server: QuoteServer, kind: str, fault: str, seen: Callable[[Item], bool]
) -> None:
    run = Run(make(settings(server, kind)))
    await run.until(is_quote)
    server.set_fault(fault)
    await run.until(seen)
    server.set_fault("none")
    await run.until(lambda item: is_quote(item) and not seen(item))
    await run.stop()


async def test_a_silent_websocket_is_alive_while_it_answers_pings(server: QuoteServer) -> None:
    run = Run(make(settings(server, "websocket")))
    await run.until(is_quote)
    server.set_fault("silence")
    # A message with quotes is one sign of life and then its quotes; two signs in a row need a ping.
    await run.until(lambda _: all(isinstance(each, Alive) for each in run.items[-2:]))
    await run.stop()


async def test_an_unchanged_answer_is_not_sent_again(server: QuoteServer) -> None:
    server.set_fault("frozen")
    run = Run(make(settings(server, "http")))
    await run.until(is_quote)
    count = sum(map(is_quote, run.items))
    for _ in range(3):  # Each is a 304.
        await run.until(lambda item: isinstance(item, Alive))
    await run.stop()
    assert sum(map(is_quote, run.items)) == count == 1


@pytest.mark.parametrize("kind", ["websocket", "http"])
@pytest.mark.parametrize("path", ["quotes", "elsewhere", "moved"])
async def test_a_lost_line_is_told_without_the_secret(server: QuoteServer, kind: str, path: str) -> None:
    """Cut, not found, and a redirect, which is not followed: the secret is for one host only."""
    found = settings(server, kind, path + "?key={secret}")
    run = Run(make(found))
    if path == "quotes":
        await run.until(is_quote)
        server.set_fault("cut")
    with pytest.raises(SourceLost) as lost:
        async with asyncio.timeout(WAIT_S):
            await run.task
    assert SECRET not in str(lost.value)
    assert {"quotes": "", "elsewhere": "404", "moved": "307"}[path] in str(lost.value)
    assert lost.value.__cause__ is None


@pytest.mark.parametrize("kind", ["websocket", "http"])
async def test_a_wrong_secret_is_refused(server: QuoteServer, kind: str) -> None:
    with pytest.raises(SourceLost, match="status 401"):
        await make(settings(server, kind), "another").run(lambda _: None)


@pytest.mark.parametrize("kind", ["websocket", "http"])
async def test_nobody_listens(server: QuoteServer, kind: str) -> None:
    found = msgspec.structs.replace(
        settings(server, kind), url=f"{'http' if kind == 'http' else 'ws'}://127.0.0.1:{free_port()}/q"
    )
    with pytest.raises(SourceLost):
        await make(found).run(lambda _: None)


async def test_a_server_that_answers_no_ping_is_left() -> None:
    """It takes the connection, answers the handshake, and then nothing."""

    async def follow(line: ServerConnection) -> None:
        line.transport.pause_reading()
        await line.wait_closed()

    async with serve(follow, "127.0.0.1", 0, close_timeout=0.1) as hung:
        port = hung.sockets[0].getsockname()[1]
        found = SourceSettings(
            name="hung",
            kind="websocket",
            url=f"ws://127.0.0.1:{port}/",
            instruments=(SourceInstrument(instrument="XAUUSD", symbol="X"),),
            ping_s=1,
            alive_s=2,
        )
        with pytest.raises(SourceLost, match="did not answer in time"):
            async with asyncio.timeout(WAIT_S):
                await WebSocketSource(found, None, now_us).run(lambda _: None)


def test_a_secret_that_is_not_there_names_its_variable() -> None:
    found = SourceSettings(name="demo", kind="websocket", instruments=(), secret_env="DEMO_TOKEN")
    assert secret_of(found, {"DEMO_TOKEN": " x\n"}) == "x"
    with pytest.raises(SecretMissing, match="Source demo: the environment variable DEMO_TOKEN is not set"):
        secret_of(found, {})


async def test_the_quote_server_is_a_process_of_its_own() -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bullion.market_demo.quote_server", "--port", str(port), "--seed", "1"),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(WAIT_S):
            line = await process.stdout.readline()
        assert line.decode() == f"Quotes on ws://127.0.0.1:{port}/quotes\n"
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            quotes = (await client.get("/quotes")).json()["data"]
            assert {each["symbol"] for each in quotes} == set(INSTRUMENTS)
            assert (await client.get("/fault/negative")).text == "negative\n"
            assert (await client.get("/fault/flood")).status_code == 404
    finally:
        process.terminate()
        await process.wait()
