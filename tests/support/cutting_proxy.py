"""A small proxy between the service and a server, which cuts the line when it is told to."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Line:
    """What the proxy does with what the service sends: `cut_before` and `cut_after` see each piece."""

    def __init__(self) -> None:
        self.cut_before: Callable[[bytes], bool] = lambda _data: False
        self.cut_after: Callable[[bytes], bool] = lambda _data: False
        self.port = 0


@asynccontextmanager
async def proxy(to_port: int) -> AsyncIterator[Line]:
    line = Line()
    running: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", to_port)
        back = asyncio.create_task(_copy(upstream_reader, writer))
        try:
            while data := await reader.read(1 << 16):
                if line.cut_before(data):
                    break
                upstream_writer.write(data)
                await upstream_writer.drain()
                if line.cut_after(data):
                    # The answer must not get back, but the server must have had the time to do it.
                    back.cancel()
                    await asyncio.sleep(0.3)
                    break
        except ConnectionError:
            pass  # One side hung up: so does the proxy.
        finally:
            back.cancel()
            for each in (writer, upstream_writer):
                each.transport.abort()
            running.discard(task)

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    line.port = server.sockets[0].getsockname()[1]
    try:
        yield line
    finally:
        server.close()
        for task in list(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass  # The other direction notices too, and ends the connection.
