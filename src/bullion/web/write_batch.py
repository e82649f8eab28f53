"""Writes the responses of one turn of the event loop together, at its end.

Faster than writing each response at once, which costs 1.5 times the CPU for `/me`, 1.06 times for an order.
"""

import asyncio
from collections import deque
from weakref import WeakKeyDictionary


class WriteBatch:
    """The connections with responses to write at the end of this turn. There is one for each event loop."""

    def __init__(self) -> None:
        self._writers: deque[BatchedWriter] = deque()

    def add(self, writer: "BatchedWriter", loop: asyncio.AbstractEventLoop) -> None:
        if not self._writers:
            loop.call_soon(self._flush)
        self._writers.append(writer)

    def _flush(self) -> None:
        try:
            while self._writers:
                self._writers.popleft().flush()
        finally:
            if self._writers:  # One write failed. The others are still due.
                asyncio.get_running_loop().call_soon(self._flush)


_BATCHES: WeakKeyDictionary[asyncio.AbstractEventLoop, WriteBatch] = WeakKeyDictionary()


class BatchedWriter:
    """Writes to one connection, always in the order in which it was called."""

    __slots__ = ("_batch", "_loop", "_transport", "_unsent")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._batch = _BATCHES.setdefault(loop, WriteBatch())
        self._unsent = b""

    def put(self, data: bytes) -> None:
        """Write at the end of this turn."""
        if self._unsent:
            self._unsent += data
        else:
            self._unsent = data
            self._batch.add(self, self._loop)

    def write(self, data: bytes) -> None:
        """Write now."""
        self.flush()
        self._transport.write(data)

    def flush(self) -> None:
        unsent, self._unsent = self._unsent, b""
        if unsent:
            self._transport.write(unsent)

    def write_eof(self) -> None:
        """Tell the client that nothing will follow. Only where the transport can."""
        self.flush()
        self._transport.write_eof()

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once: what the client has not read by now, it will not get."""
        self.flush()
        self._transport.abort()

    def discard(self) -> None:
        """The connection is lost."""
        self._unsent = b""
