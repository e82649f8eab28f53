"""A source of live quotes for trials and tests, over WebSocket and HTTP, with faults on request.

    python -m bullion.market_demo.quote_server --port 8801 --seed 1

`ws://127.0.0.1:8801/quotes` pushes quotes, `http://127.0.0.1:8801/quotes` answers with the newest, and
`http://127.0.0.1:8801/fault/<name>` sets a fault; `none` ends it. The prices are those of the simulated feed.
Without the extra `market` there is no WebSocket; HTTP needs nothing more.
"""

import argparse
import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus

from bullion.metals.scaled import plain
from bullion.rates.feeds.simulated import SimulatedFeed
from bullion.rates.tick import PLACES, Tick

from .quote_port import Answer, Line

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
    "jump",
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
        self.lines: set[Line] = set()
        """The WebSockets that are open."""
        self._message = message(self._feed.step(now_us()), NONE)

    @contextlib.asynccontextmanager
    async def open(self, port: int = 0) -> AsyncIterator["QuoteServer"]:
        async with _listen(self, port) as self.port:
            steps = asyncio.create_task(self._run())
            try:
                yield self
            finally:
                steps.cancel()

    def set_fault(self, fault: str) -> None:
        self.fault = fault
        if fault == "cut":
            for line in self.lines:
                line.abort()

    async def answer(self, path: str, headers: Mapping[str, str]) -> Answer | None:
        """The answer to a call; None: its line is cut. The names of headers are in small letters."""
        if path.startswith("/fault/"):
            return self._answer_fault(path.removeprefix("/fault/"))
        if self.authorization is not None and headers.get("authorization") != self.authorization:
            return Answer(HTTPStatus.UNAUTHORIZED, "The header Authorization is missing or wrong.\n")
        if path == "/moved":
            place = f"ws://{_HOST}:{self.port}/quotes"
            return Answer(HTTPStatus.TEMPORARY_REDIRECT, "", {"Location": place})
        if path != "/quotes":
            return Answer(HTTPStatus.NOT_FOUND, "There are /quotes and /fault/<name>.\n")
        if self.fault == "cut":
            return None
        if headers.get("upgrade", "").lower() == "websocket":
            return Answer(HTTPStatus.SWITCHING_PROTOCOLS, "")
        if self.fault == "silence":
            await asyncio.sleep(3600)
        return self._answer_quotes(headers)

    async def _run(self) -> None:
        while True:
            ticks = self._feed.step(now_us())
            if self.fault != "frozen":
                self._message = message(ticks, self.fault)
            if self.fault not in ("silence", "cut"):
                for line in tuple(self.lines):
                    await line.send(self._message)
            await asyncio.sleep(self._every_s)

    def _answer_quotes(self, headers: Mapping[str, str]) -> Answer:
        etag = f'"{hash(self._message):x}"'
        if headers.get("if-none-match") == etag:
            return Answer(HTTPStatus.NOT_MODIFIED, "")
        return Answer(HTTPStatus.OK, self._message, {"ETag": etag})

    def _answer_fault(self, name: str) -> Answer:
        if name not in FAULTS:
            return Answer(HTTPStatus.NOT_FOUND, f"The faults are: {', '.join(FAULTS)}.\n")
        self.set_fault(name)
        return Answer(HTTPStatus.OK, f"{name}\n")


def _listen(server: QuoteServer, port: int) -> AbstractAsyncContextManager[int]:
    """The way into the server; its value is the port that it listens at."""
    try:
        from . import quote_websocket
    except ModuleNotFoundError:
        from . import quote_port

        return quote_port.listen(server.answer, _HOST, port)
    return quote_websocket.listen(server.answer, server.lines, _HOST, port)


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
    elif fault == "jump":
        bid_e6, ask_e6 = bid_e6 * 11 // 10, ask_e6 * 11 // 10
    elif fault == "old":
        at_us -= _YEAR_US
    bid = "NaN" if fault == "nan" else plain(bid_e6, PLACES)
    ask = plain(ask_e6, PLACES)
    return f'{{"symbol": "{tick.instrument}", "bid": {bid}, "ask": {ask}, "time": {at_us // _US_PER_MS}}}'


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
