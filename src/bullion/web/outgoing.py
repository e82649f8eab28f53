"""What goes out on a connection. Whole answers wait for each other until the turn of the loop ends.

The kernel's work for a write leaves little of ours in the processor's caches. Done between every two answers,
it made each of them half as dear again; so it is done for all of them together.
"""

import asyncio
from collections import deque
from weakref import WeakKeyDictionary


class Outbox:
    """The answers of one turn. There is one for each loop."""

    def __init__(self) -> None:
        self._waiting: deque[Outgoing] = deque()

    def add(self, outgoing: "Outgoing", loop: asyncio.AbstractEventLoop) -> None:
        if not self._waiting:
            loop.call_soon(self._send)
        self._waiting.append(outgoing)

    def _send(self) -> None:
        try:
            while self._waiting:
                self._waiting.popleft().send()
        finally:
            if self._waiting:  # One could not be sent. That is not the others' fault.
                asyncio.get_running_loop().call_soon(self._send)


_OUTBOXES: WeakKeyDictionary[asyncio.AbstractEventLoop, Outbox] = WeakKeyDictionary()


class Outgoing:
    """In the order in which it was given, whichever way: nothing overtakes an answer that waits."""

    __slots__ = ("_loop", "_outbox", "_transport", "_unsent")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._outbox = _OUTBOXES.setdefault(loop, Outbox())
        self._unsent = b""

    def put(self, data: bytes) -> None:
        """To be sent with the others of this turn."""
        if self._unsent:
            self._unsent += data
        else:
            self._unsent = data
            self._outbox.add(self, self._loop)

    def write(self, data: bytes) -> None:
        """To be sent now."""
        self.send()
        self._transport.write(data)

    def send(self) -> None:
        unsent, self._unsent = self._unsent, b""
        if unsent:
            self._transport.write(unsent)

    def end(self) -> None:
        """Say that nothing will follow. Only where the transport can."""
        self.send()
        self._transport.write_eof()

    def close(self) -> None:
        self.send()
        self._transport.close()

    def abort(self) -> None:
        """At once: what the client has not taken by now it will not get."""
        self.send()
        self._transport.abort()

    def forget(self) -> None:
        """The connection is gone."""
        self._unsent = b""
