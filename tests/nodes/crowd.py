"""Clients that go on placing orders whatever happens to the nodes, and note each answer and failure."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from tests.support.node import Node, own_address
from tests.support.orders import ORDERS, Trader

_ANSWER_S = 20
_CHECK_EVERY_S = 0.1
_BODY = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}


class Rotation:
    """What a load balancer does: calls go to the nodes in turn, to those that say that they are ready."""

    def __init__(self, *nodes: Node) -> None:
        self.nodes = list(nodes)
        self._up = list(nodes)

    def in_turn(self) -> Iterator[Node]:
        for number in count():
            yield self._up[number % len(self._up)]

    async def watch(self) -> None:
        while True:
            ready = await asyncio.gather(*map(_ready, self.nodes))
            # With nobody ready it goes on as it was: a failure is then to be seen, not to be hidden.
            self._up = [
                node for node, is_ready in zip(self.nodes, ready, strict=True) if is_ready
            ] or self._up
            await asyncio.sleep(_CHECK_EVERY_S)


async def _ready(node: Node) -> bool:
    with contextlib.suppress(OSError, EOFError, TimeoutError):
        async with asyncio.timeout(2), Connection.open(node) as connection:
            status, _, _ = await connection.call("GET", "/health/ready", {})
            return status == 200
    return False


class Connection:
    """Plain bytes, so that no library hides a connection that was lost, or tries again by itself."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._last = False

    @classmethod
    def open(
        cls, node: Node, address: str | None = None
    ) -> contextlib.AbstractAsyncContextManager["Connection"]:
        return cls.to(node.api_url, address)

    @classmethod
    @asynccontextmanager
    async def to(cls, url: str, address: str | None = None) -> AsyncIterator["Connection"]:
        parts = urlsplit(url)
        reader, writer = await asyncio.open_connection(
            parts.hostname, parts.port, local_addr=(address or own_address(), 0)
        )
        try:
            yield cls(reader, writer)
        finally:
            writer.transport.abort()

    @property
    def usable(self) -> bool:
        """The server may end a connection that it has said to be the last, or that nothing is sent on."""
        return not self._last and not self._reader.at_eof()

    async def call(
        self, method: str, path: str, headers: dict[str, str], body: bytes = b""
    ) -> tuple[int, dict[str, str], bytes]:
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        if "Host" not in headers:
            lines.append("Host: localhost")
        lines.append(f"Content-Length: {len(body)}")
        self._writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        status_line, *rest = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        received = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        content = await self._reader.readexactly(int(received["content-length"]))
        self._last = received.get("connection") == "close"
        return int(status_line.split()[1]), received, content


@dataclass
class Answered:
    login_id: str
    idempotency_key: str
    status: int
    body: Any

    @property
    def said(self) -> str:
        """The status of a success, the code of a refusal."""
        return str(self.status) if self.status < 400 else str(self.body["detail"]["code"])


@dataclass
class Crowd:
    rotation: Rotation
    traders: Sequence[Trader]
    keeping: int = 8
    """How many keep their connections; half as many again open one for each call."""
    pause_s: float = 0.01
    """Between a client's calls: whoever starts meanwhile needs some of the machine too."""
    answers: list[Answered] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    @asynccontextmanager
    async def calling(self) -> AsyncIterator[None]:
        """Everybody calls for as long as the body runs; then each waits for its last answer."""
        stop = asyncio.Event()
        clients = [
            asyncio.create_task(self._call(number, stop, keeps=number < self.keeping))
            for number in range(self.keeping + self.keeping // 2)
        ]
        watching = asyncio.create_task(self.rotation.watch())
        try:
            yield
        finally:
            stop.set()
            await asyncio.gather(*clients)
            watching.cancel()

    async def _call(self, number: int, stop: asyncio.Event, *, keeps: bool) -> None:
        trader = self.traders[number % len(self.traders)]
        address = own_address()
        nodes = self.rotation.in_turn()
        async with contextlib.AsyncExitStack() as opened:
            kept: dict[str, Connection] = {}
            while not stop.is_set():
                node = next(nodes)
                connection = kept.get(node.api_url)
                try:
                    async with asyncio.timeout(_ANSWER_S):
                        if connection is None or not connection.usable or not keeps:
                            connection = await opened.enter_async_context(Connection.open(node, address))
                            kept[node.api_url] = connection
                        await self._place(trader, connection, last=not keeps)
                except (OSError, EOFError, TimeoutError) as error:
                    self.failures.append(f"{'kept' if keeps else 'new'} connection: {error!r}")
                    kept.pop(node.api_url, None)
                await asyncio.sleep(self.pause_s)

    async def _place(self, trader: Trader, connection: Connection, *, last: bool) -> None:
        key = f"crowd {next(self._numbers)}"
        headers = {
            "Host": trader.http.headers["host"],
            "X-API-Key": trader.key,
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        if last:
            headers["Connection"] = "close"
        status, told, content = await connection.call("POST", ORDERS, headers, json.dumps(_BODY).encode())
        if told["content-type"] != "application/json":
            self.failures.append(f"a proxy answered by itself: {status} {content!r}")
            return
        self.answers.append(Answered(trader.login_id, key, status, json.loads(content)))

    def said(self) -> Counter[str]:
        return Counter(each.said for each in self.answers)
