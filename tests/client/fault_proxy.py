"""A proxy between a client and the service that loses things, as networks do: by a seed, at the level of TCP.

It reads whole requests and whole answers, so that it knows what it loses, and keeps connections open when it
is in a good mood.
"""

import asyncio
import random
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

FAULTS = {
    "pass": 50,
    "drop before": 6,
    "cut request": 6,
    "drop after": 10,
    "reset after": 8,
    "truncate": 8,
    "delay": 8,
    "late": 4,
}
"""What is done with a request, and how often of a hundred."""
LATE_S = 1.6
"""Longer than the clients of the tests wait: the request arrives after its sender has given it up."""
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *([0-9]+)")


@dataclass
class FaultProxy:
    to_port: int
    chance: random.Random
    port: int = 0
    done: Counter[str] = field(default_factory=Counter)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        opened = [writer]
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.to_port)
            opened.append(up_writer)
            going_on = True
            while going_on:
                request = await _message(reader)
                fault = self.chance.choices(list(FAULTS), list(FAULTS.values()))[0]
                self.done[fault] += 1
                going_on = await self._carry(fault, request, up_reader, up_writer, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # One side hung up: so does the proxy.
        finally:
            for each in opened:
                each.transport.abort()
            self._tasks.discard(task)

    async def _carry(
        self,
        fault: str,
        request: bytes,
        up_reader: asyncio.StreamReader,
        up_writer: asyncio.StreamWriter,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """Carry a request there and its answer back, or not. Returns whether the connection goes on."""
        if fault == "drop before":
            return False
        if fault == "cut request":
            up_writer.write(request[: self.chance.randrange(1, len(request))])
            await up_writer.drain()
            return False
        if fault in ("delay", "late"):
            await asyncio.sleep(LATE_S if fault == "late" else self.chance.uniform(0.02, 0.2))
        up_writer.write(request)
        await up_writer.drain()
        answer = await _message(up_reader)
        if fault in ("drop after", "late"):
            return False
        if fault == "reset after":
            _reset(writer)
            return False
        if fault == "truncate":
            writer.write(answer[: self.chance.randrange(1, len(answer))])
            await writer.drain()
            await asyncio.sleep(0.01)
            return False
        writer.write(answer)
        await writer.drain()
        return True

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0.05)  # The loop closes what was aborted a moment later.


async def _message(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return head + (await reader.readexactly(int(length[1])) if length else b"")


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST in place of FIN."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@contextmanager
def fault_proxy(to_port: int, seed: int) -> Iterator[FaultProxy]:
    """Run it in a thread of its own, so that both kinds of clients can use it."""
    proxy = FaultProxy(to_port, random.Random(seed))  # noqa: S311 - repeatable, not secret
    started, loop = threading.Event(), asyncio.new_event_loop()

    async def serve(stopping: asyncio.Event) -> None:
        server = await asyncio.start_server(proxy.handle, "127.0.0.1", 0)
        proxy.port = server.sockets[0].getsockname()[1]
        started.set()
        await stopping.wait()
        server.close()
        await proxy.stop()

    stopping = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(stopping),))
    thread.start()
    assert started.wait(10)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()
        loop.close()
