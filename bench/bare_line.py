"""The floor of a cover: as many bytes there and back between two processes, and nothing done with them.

`python -m bench.bare_line` is the other process. It answers each order with two reports, as the venue does.
"""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

ORDER_BYTES, REPORT_BYTES = 180, 220
"""About what the messages of a cover have."""
_ORDER, _REPORT = bytes(ORDER_BYTES), bytes(REPORT_BYTES)


class BareLine(asyncio.Protocol):
    """One deal at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._missing = 0
        self._done: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment] # uvloop's are not of asyncio's class

    def data_received(self, data: bytes) -> None:
        self._missing -= len(data)
        if not self._missing and self._done is not None:
            self._done.set_result(None)

    async def deal(self) -> None:
        assert self._transport is not None
        self._missing = 2 * REPORT_BYTES
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(_ORDER)
        await self._done


class _Answers(asyncio.Protocol):
    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._size = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._size += len(data)
        while self._size >= ORDER_BYTES:
            self._size -= ORDER_BYTES
            self._transport.write(_REPORT)
            self._transport.write(_REPORT)


@contextlib.contextmanager
def bare_venue() -> Iterator[int]:
    """The port of the other process."""
    process = subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


@contextlib.asynccontextmanager
async def bare_line(port: int) -> AsyncIterator[BareLine]:
    transport, line = await asyncio.get_running_loop().create_connection(BareLine, "127.0.0.1", port)
    try:
        yield line
    finally:
        transport.close()


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Answers, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve())
