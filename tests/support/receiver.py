"""A receiver of webhooks on loopback that behaves as the test says."""

import asyncio
import contextlib
import json
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .servers import find


@dataclass(frozen=True)
class Received:
    """One request."""

    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.body)
        return event


Behaviour = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


def answer(status: int = 200, body: bytes = b"ok", *headers: str) -> Behaviour:
    lines = "".join(f"{each}\r\n" for each in headers)
    head = f"HTTP/1.1 {status} Status\r\ncontent-length: {len(body)}\r\n{lines}\r\n".encode()

    async def behave(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(head + body)
        await writer.drain()

    return behave


@dataclass
class Receiver:
    address: str
    port: int
    scheme: str
    behave: Behaviour
    received: list[Received] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.address}:{self.port}/hook?a=b"

    @property
    def numbers(self) -> list[int]:
        """Of the events, in the order in which they came."""
        return [each.event["number"] for each in self.received]


@asynccontextmanager
async def receiving(
    behave: Behaviour | None = None, *, address: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    receiver = Receiver(address, 0, "http" if tls is None else "https", behave or answer())
    open_: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_.add(writer)
        receiver.connections += 1
        # The other side is gone: uvloop raises RuntimeError for that.
        with contextlib.suppress(EOFError, ConnectionError, RuntimeError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            pairs = [line.split(": ", 1) for line in head[1:-2]]
            headers = {":request": head[0], **{name.lower(): value for name, value in pairs}}
            request = Received(headers, await reader.readexactly(int(headers["content-length"])))
            receiver.received.append(request)
            await receiver.behave(request, writer)
        writer.close()
        open_.discard(writer)

    server = await asyncio.start_server(serve, address, 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for writer in open_:
            writer.transport.abort()


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, Path]:
    """A context of a server with a certificate of its own for this name, and the file to verify it by."""
    key, made = folder / f"{name}.key", folder / f"{name}.crt"
    request = [find("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    request += ["-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    subprocess.run([*request, "-keyout", str(key), "-out", str(made)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    return context, made
