"""A source of live quotes for trials and tests, over WebSocket and HTTP, with faults on request.

    python -m bullion.market_demo.quote_server --port 8801 --seed 1

`ws://127.0.0.1:8801/quotes` pushes quotes, `http://127.0.0.1:8801/quotes` answers with the newest, and
`http://127.0.0.1:8801/fault/<name>` sets a fault; `none` ends it. The prices are those of the simulated feed.
"""

import argparse
import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from http import HTTPStatus

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from bullion.metals.scaled import plain
from bullion.rates.feeds.simulated import SimulatedFeed
from bullion.rates.tick import PLACES, Tick

NONE = "none"
FAULTS = (
    NONE,
    "nan",
    "negative",
    "crossed",
    "wide",
    "frozen",
    "old",
    "thousand",
    "rubbish",
    "silence",
    "cut",
)
_EVERY_S = 0.25
_US_PER_S = 1_000_000
_US_PER_MS = 1000
_YEAR_US = 365 * 86_400 * _US_PER_S
_HOST = "127.0.0.1"


def now_us() -> int:
    return time.time_ns() // 1000


class QuoteServer:
    def __init__(self, seed: int, every_s: float = _EVERY_S) -> None:
        self.fault = NONE
        self.port = 0
        self.authorization: str | None = None
        """If set, calls without this header are refused."""
        self._feed = SimulatedFeed(seed)
        self._every_s = every_s
        self.lines: set[ServerConnection] = set()
        self._message = message(self._feed.step(now_us()), NONE)

    @contextlib.asynccontextmanager
    async def open(self, port: int = 0) -> AsyncIterator["QuoteServer"]:
        async with serve(self._follow, _HOST, port, process_request=self._answer) as server:
            self.port = _port(server)
            steps = asyncio.create_task(self._run())
            try:
                yield self
            finally:
                steps.cancel()

    def set_fault(self, fault: str) -> None:
        self.fault = fault
        if fault == "cut":
            for line in self.lines:
                line.transport.abort()

    async def _run(self) -> None:
        while True:
            ticks = self._feed.step(now_us())
            if self.fault != "frozen":
                self._message = message(ticks, self.fault)
            if self.fault not in ("silence", "cut"):
                for line in tuple(self.lines):
                    with contextlib.suppress(ConnectionClosed):
                        await line.send(self._message)
            await asyncio.sleep(self._every_s)

    async def _follow(self, line: ServerConnection) -> None:
        self.lines.add(line)
        try:
            await line.wait_closed()
        finally:
            self.lines.discard(line)

    async def _answer(self, line: ServerConnection, request: Request) -> Response | None:
        """Answer plain calls. None: it becomes a WebSocket."""
        path = request.path.partition("?")[0]
        if path.startswith("/fault/"):
            return self._answer_fault(path.removeprefix("/fault/"))
        if self.authorization is not None and request.headers.get("Authorization") != self.authorization:
            return _response(HTTPStatus.UNAUTHORIZED, "The header Authorization is missing or wrong.\n")
        if path == "/moved":
            moved = _response(HTTPStatus.TEMPORARY_REDIRECT, "")
            moved.headers["Location"] = f"ws://{_HOST}:{self.port}/quotes"
            return moved
        if path != "/quotes":
            return _response(HTTPStatus.NOT_FOUND, "There are /quotes and /fault/<name>.\n")
        if self.fault == "cut":
            line.transport.abort()
            return _response(HTTPStatus.SERVICE_UNAVAILABLE, "")
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return None
        if self.fault == "silence":
            await asyncio.sleep(3600)
        return self._answer_quotes(request)

    def _answer_quotes(self, request: Request) -> Response:
        etag = f'"{hash(self._message):x}"'
        if request.headers.get("If-None-Match") == etag:
            return _response(HTTPStatus.NOT_MODIFIED, "")
        found = _response(HTTPStatus.OK, self._message)
        found.headers["ETag"] = etag
        return found

    def _answer_fault(self, name: str) -> Response:
        if name not in FAULTS:
            return _response(HTTPStatus.NOT_FOUND, f"The faults are: {', '.join(FAULTS)}.\n")
        self.set_fault(name)
        return _response(HTTPStatus.OK, f"{name}\n")


def message(ticks: Sequence[Tick], fault: str) -> str:
    """All quotes as one JSON document; prices are numbers, as most vendors send them."""
    if fault == "rubbish":
        return '{"data": ['
    return '{"data": [' + ", ".join(_quote(tick, fault) for tick in ticks) + "]}"


def _quote(tick: Tick, fault: str) -> str:
    bid_e6, ask_e6, at_us = tick.bid_e6, tick.ask_e6, tick.at_us
    if fault == "negative":
        bid_e6 = -bid_e6
    elif fault == "crossed":
        bid_e6, ask_e6 = ask_e6, bid_e6
    elif fault == "wide":
        bid_e6 = bid_e6 * 995 // 1000
    elif fault == "thousand":
        bid_e6, ask_e6 = bid_e6 * 1000, ask_e6 * 1000
    elif fault == "old":
        at_us -= _YEAR_US
    bid = "NaN" if fault == "nan" else plain(bid_e6, PLACES)
    ask = plain(ask_e6, PLACES)
    return f'{{"symbol": "{tick.instrument}", "bid": {bid}, "ask": {ask}, "time": {at_us // _US_PER_MS}}}'


def _response(status: HTTPStatus, body: str) -> Response:
    data = body.encode()
    headers = Headers({"Content-Type": "application/json", "Content-Length": str(len(data))})
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, data)


def _port(server: Server) -> int:
    (listener,) = server.sockets
    return int(listener.getsockname()[1])


async def _serve(port: int, seed: int) -> None:
    async with QuoteServer(seed).open(port) as server:
        print(f"Quotes on ws://{_HOST}:{server.port}/quotes", flush=True)  # noqa: T201 - its only output
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="bullion.market_demo.quote_server", description="Serve quotes.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(given.port, given.seed))


if __name__ == "__main__":
    main()
