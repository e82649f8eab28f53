"""Clients that read streams of events, in a thread of their own."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from time import perf_counter, sleep
from typing import Any, TypeVar, cast

from .calls import BASE, get
from .faults import CallFailed

_OPEN_S = 60
_OPENED_AT_ONCE = 50
_EVENT_S = 10
_EVENT = b"\ndata: "

T = TypeVar("T")


class _Client(asyncio.Protocol):
    """Reads one stream: counts its events, and knows when the newest of them came."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._unread = b""
        self.opened = asyncio.get_running_loop().create_future()
        self.events = 0
        self.newest_at_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if not self.opened.done():
            self._open(data)
            return
        if _EVENT in data:
            self.events += data.count(_EVENT)
            self.newest_at_s = perf_counter()

    def _open(self, data: bytes) -> None:
        self._unread += data
        head, end, _ = self._unread.partition(b"\r\n\r\n")
        if end and head.startswith(b"HTTP/1.1 200 "):
            self.opened.set_result(None)
        elif end:
            self.opened.set_exception(CallFailed(f"A stream was refused: {self._unread!r}"))

    def connection_lost(self, _error: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(CallFailed("A stream was closed before it began."))


class StreamClients:
    """All of them, and the loop that serves them."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._clients: list[_Client] = []
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def open(self, keys: Sequence[str]) -> None:
        """A stream for each key."""
        self._run(self._open_all(keys))

    def close(self) -> None:
        async def cut() -> None:
            for client in self._clients:
                client.transport.abort()
            self._clients.clear()

        self._run(cut())

    def end(self) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def events(self) -> int:
        return sum(client.events for client in self._clients)

    def await_events(self, number: int) -> list[float]:
        """Wait until each has had that many in all. When the newest of each came."""
        give_up_at = perf_counter() + _EVENT_S
        while any(client.events < number for client in self._clients):
            if perf_counter() > give_up_at:
                raise CallFailed("An event did not reach every stream.")
            sleep(0.005)
        return [client.newest_at_s for client in self._clients]

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result(_OPEN_S)

    async def _open_all(self, keys: Sequence[str]) -> None:
        for start in range(0, len(keys), _OPENED_AT_ONCE):
            await asyncio.gather(*(self._open_one(key) for key in keys[start : start + _OPENED_AT_ONCE]))

    async def _open_one(self, key: str) -> None:
        def make() -> _Client:
            return _Client(get(f"{BASE}/events/stream", key))

        _, client = await self._loop.create_connection(make, "127.0.0.1", self._port)
        self._clients.append(client)
        await client.opened


@contextlib.contextmanager
def stream_clients(port: int) -> Iterator[StreamClients]:
    clients = StreamClients(port)
    try:
        yield clients
    finally:
        clients.end()
