"""nginx and haproxy keep all keys of an account on one node, and find another one while that one is away."""

import asyncio
import contextlib
import os
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import pytest

from bullion.environment import Environment
from bullion.keys.hashing import Hasher
from bullion.keys.issuer import KeyIssuer
from bullion.keys.text import write_key
from bullion.web.listener_shutdown import ignore_new_connections
from tests.support.node import own_address
from tests.support.proxies import proxies
from tests.support.servers import NotInstalled, free_port, missing

from .crowd import Connection

pytestmark = pytest.mark.anyio

ISSUER = KeyIssuer(*(Hasher(b"a secret of the deployment", purpose) for purpose in ("keys", "lanes")))
ORDERS = "/api/trading/test/v1/orders"
WITHIN_S = 30
Places = dict[int, str]
"""The node of each account."""


def key_of(account_id: int, environment: Environment) -> str:
    new = ISSUER.new_key(account_id)
    return write_key(environment, "main", new.key_id, new.secret)


KEYS = {
    account_id: [key_of(account_id, each) for each in (*Environment, *Environment)]
    for account_id in range(50)
}


@dataclass
class Upstream:
    """Answers like a node: with its name, and not ready for a while before it goes."""

    name: str
    host: str = field(default_factory=own_address)
    port: int = field(default_factory=free_port)
    draining: bool = False
    _server: asyncio.Server | None = None
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    async def start(self) -> None:
        self.draining = False
        self._server = await asyncio.start_server(self._serve, self.host, self.port)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None
        for writer in self._open:
            writer.close()

    async def vanish(self) -> None:
        """Let go of every connection, and answer nobody who wants a new one."""
        assert self._server is not None
        with socket.socket(fileno=os.dup(self._server.sockets[0].fileno())) as listener:
            ignore_new_connections(listener)
        for writer in self._open:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with contextlib.suppress(OSError, EOFError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                if "content-length: " in head:
                    await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
                checks = head.startswith("get /health/ready")
                status = "503 Service Unavailable" if checks and self.draining else "200 OK"
                last = "Connection: close\r\n" if self.draining else ""
                name = self.name.encode()
                writer.write(
                    f"HTTP/1.1 {status}\r\n{last}Content-Length: {len(name)}\r\n\r\n".encode() + name
                )
                if self.draining:
                    break
        self._open.discard(writer)
        writer.close()


@pytest.fixture
async def nodes() -> AsyncIterator[list[Upstream]]:
    started = [Upstream(name) for name in ("one", "two", "three")]
    for each in started:
        await each.start()
    try:
        yield started
    finally:
        for each in started:
            await each.stop()


async def node_for(connection: Connection, key: str | None, method: str = "POST") -> str:
    status, _, content = await connection.call(method, ORDERS, {} if key is None else {"X-API-Key": key})
    assert status == 200, content
    return content.decode()


async def nodes_through(url: str) -> dict[int, set[str]]:
    """Call with every key of every account."""
    async with Connection.to(url) as connection:
        return {
            account_id: {await node_for(connection, key) for key in keys} for account_id, keys in KEYS.items()
        }


async def places_through(url: str) -> Places:
    found = await nodes_through(url)
    assert all(len(names) == 1 for names in found.values()), found
    return {account_id: names.pop() for account_id, names in found.items()}


async def until(ready: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not await ready():
            await asyncio.sleep(0.1)


async def read_all_the_time(urls: Sequence[str], failures: list[str], stop: asyncio.Event) -> None:
    """Reads with all keys in turn, on connections that are kept."""
    async with contextlib.AsyncExitStack() as stack:
        kept = {url: await stack.enter_async_context(Connection.to(url)) for url in urls}
        while not stop.is_set():
            for keys in KEYS.values():
                for url in urls:
                    if not kept[url].usable:  # nginx ends a connection after a thousand calls.
                        kept[url] = await stack.enter_async_context(Connection.to(url))
                    try:
                        await node_for(kept[url], keys[0], "GET")
                    except (AssertionError, OSError, EOFError) as error:
                        failures.append(repr(error))
                        return
            await asyncio.sleep(0.05)


async def test_only_the_accounts_of_a_node_that_leaves_move_and_they_come_back(nodes: list[Upstream]) -> None:
    with contextlib.ExitStack() as stack:
        try:
            urls = stack.enter_context(proxies([f"{each.host}:{each.port}" for each in nodes]))
        except NotInstalled as error:
            missing(error, "nginx haproxy")
        before = [await places_through(url) for url in urls]
        for places in before:
            assert min(Counter(places.values()).values()) >= 5
            assert len(set(places.values())) == 3
        for url in urls:
            async with Connection.to(url) as connection:
                assert {await node_for(connection, None) for _ in range(60)} == {"one", "two", "three"}

        failures: list[str] = []
        stop = asyncio.Event()
        reading = asyncio.create_task(read_all_the_time(urls, failures, stop))
        leaving = nodes[1]
        leaving.draining = True

        async def left_by_haproxy() -> bool:
            return not any("two" in names for names in (await nodes_through(urls[1])).values())

        await until(left_by_haproxy)
        await leaving.stop()
        for url, old in zip(urls, before, strict=True):
            now = await places_through(url)
            assert "two" not in now.values()
            assert {each for each in KEYS if now[each] != old[each]} == {
                each for each in KEYS if old[each] == "two"
            }
            assert {now[each] for each in KEYS if old[each] == "two"} == {"one", "three"}

        await leaving.start()

        async def as_before() -> bool:
            now = [await nodes_through(url) for url in urls]
            return now == [{each: {node} for each, node in places.items()} for places in before]

        await until(as_before)
        stop.set()
        await reading
        assert failures == []


@contextlib.asynccontextmanager
async def nginx_before(nodes: Sequence[Upstream]) -> AsyncIterator[tuple[str, Places]]:
    """Its address, and where its accounts are."""
    with contextlib.ExitStack() as stack:
        try:
            url, _ = stack.enter_context(proxies([f"{each.host}:{each.port}" for each in nodes]))
        except NotInstalled as error:
            missing(error, "nginx haproxy")
        yield url, await places_through(url)


async def answers_at_once(url: str, keys: Sequence[str]) -> list[str]:
    """The nodes that answer, when each key is used on a connection of its own."""
    async with contextlib.AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(Connection.to(url)) for _ in keys]
        return await asyncio.gather(*map(node_for, connections, keys))


async def test_nginx_uses_a_node_that_came_back_before_anybody_called_it(nodes: list[Upstream]) -> None:
    """It knows of a stopped node by a refused call, and nothing tells it that the node is back."""
    one, two, _ = nodes
    async with nginx_before([one, two]) as (url, places):
        keys = {name: [KEYS[each][0] for each in KEYS if places[each] == name] for name in ("one", "two")}
        await two.stop()
        assert set(await answers_at_once(url, keys["two"])) == {"one"}
        await two.start()
        await one.stop()
        assert set(await answers_at_once(url, keys["one"])) == {"two"}


async def test_nginx_asks_another_node_when_one_does_not_take_connections(nodes: list[Upstream]) -> None:
    """As when its machine is gone."""
    one, two, _ = nodes
    async with nginx_before([one, two]) as (url, places):
        keys = [KEYS[each][0] for each in KEYS if places[each] == "two"]
        await two.vanish()
        for _ in range(2):
            assert set(await answers_at_once(url, keys)) == {"one"}
