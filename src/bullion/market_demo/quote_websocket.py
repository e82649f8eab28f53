"""The quote server's port for WebSockets and plain HTTP calls; needs the extra `market`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from .quote_port import Answer, Answering, Line


@asynccontextmanager
async def listen(answer: Answering, lines: set[Line], host: str, port: int) -> AsyncIterator[int]:
    """`lines`: where the lines that are open are kept."""

    async def answer_call(connection: ServerConnection, request: Request) -> Response | None:
        """None: it becomes a WebSocket."""
        headers = {name.lower(): value for name, value in request.headers.raw_items()}
        found = await answer(request.path.partition("?")[0], headers)
        if found is None:
            connection.transport.abort()
            found = Answer(HTTPStatus.SERVICE_UNAVAILABLE, "")
        if found.status is HTTPStatus.SWITCHING_PROTOCOLS:
            return None
        status, all_headers = found.status, Headers(found.all_headers())
        return Response(status.value, status.phrase, all_headers, found.body.encode())

    async def follow(connection: ServerConnection) -> None:
        async def send(text: str) -> None:
            with suppress(ConnectionClosed):
                await connection.send(text)

        line = Line(send, connection.transport.abort)
        lines.add(line)
        try:
            await connection.wait_closed()
        finally:
            lines.discard(line)

    async with serve(follow, host, port, process_request=answer_call) as server:
        (listener,) = server.sockets
        yield int(listener.getsockname()[1])
