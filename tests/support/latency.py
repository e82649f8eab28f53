"""A TCP proxy that delays every byte, and every end of a connection, by the same time in both directions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def latency_proxy(host: str, port: int, delay_s: float) -> AsyncIterator[int]:
    """Yield the port of a proxy in front of `host` and `port`."""
    tasks: set[asyncio.Task[None]] = set()

    async def handle(client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        server, to_server = await asyncio.open_connection(host, port)
        try:
            await asyncio.gather(_copy(client, to_server, delay_s), _copy(server, to_client, delay_s))
        finally:
            for each in (to_client, to_server):
                each.transport.abort()
            tasks.discard(task)

    proxy = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=1024)
    try:
        yield proxy.sockets[0].getsockname()[1]
    finally:
        proxy.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # Aborted transports close their sockets in the next turn of the loop.


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter, delay_s: float) -> None:
    loop = asyncio.get_running_loop()
    close = sink.close
    try:
        while data := await source.read(1 << 16):
            loop.call_later(delay_s, sink.write, data)
    except ConnectionError:
        close = sink.transport.abort
    await asyncio.sleep(delay_s)
    close()
