"""The quote server's port for plain HTTP calls: one call for each connection."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple

_HEAD_S = 10


class Answer(NamedTuple):
    status: HTTPStatus
    body: str
    headers: Mapping[str, str] = {}

    def all_headers(self) -> dict[str, str]:
        length = str(len(self.body.encode()))
        more = {"Content-Type": "application/json", "Content-Length": length, "Connection": "close"}
        return {**self.headers, **more}


Answering = Callable[[str, Mapping[str, str]], Awaitable[Answer | None]]
"""Of a path and headers."""


@dataclass(frozen=True, eq=False)
class Line:
    """A line that quotes are pushed to."""

    send: Callable[[str], Awaitable[None]]
    abort: Callable[[], None]


@asynccontextmanager
async def listen(answer: Answering, host: str, port: int) -> AsyncIterator[int]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Whoever hangs up or sends no call gets no answer.
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            async with asyncio.timeout(_HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
            path, headers = _read_head(head)
            found = await answer(path, headers)
            if found is None:
                writer.transport.abort()
                return
            if found.status is HTTPStatus.SWITCHING_PROTOCOLS:
                found = Answer(HTTPStatus.NOT_IMPLEMENTED, "WebSockets need the extra 'market'.\n")
            writer.write(_text(found).encode())
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, host, port)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


def _read_head(head: bytes) -> tuple[str, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = (line.partition(":") for line in lines if line)
    path = first.partition(" ")[2].partition(" ")[0].partition("?")[0]
    return path, {name.strip().lower(): value.strip() for name, _, value in fields}


def _text(answer: Answer) -> str:
    headers = "".join(f"{name}: {value}\r\n" for name, value in answer.all_headers().items())
    return f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\n{headers}\r\n{answer.body}"
