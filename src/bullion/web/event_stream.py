"""A response of server-sent events: it stays open until the client or the service ends it.

No task waits for it. Whoever has something to send writes to the stream; the connection says when it is over.
"""

import contextlib
import socket
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

_SEND_BUFFER_BYTES = 64 * 1024
"""The kernel alone would hold megabytes for a client that does not read."""
_UNACKNOWLEDGED_MS = 30_000
"""A client that acknowledges nothing for so long is gone. The kernel alone would wait for 15 minutes."""


class StreamEnd(StrEnum):
    """Why a stream ended."""

    LEFT = "left"
    """The client closed the connection, or it was lost."""
    SLOW_READER = "slow_reader"
    REFUSED = "refused"
    """The caller would be refused now."""
    STOPPING = "stopping"
    """The process stops: the client finds another one when it connects again."""


class StreamConnection(Protocol):
    """The part of the connection that a stream uses."""

    write_paused: bool

    def write(self, data: bytes) -> None: ...
    def end_stream(self) -> None: ...


class EventStream:
    __slots__ = ("_connection", "_on_end", "_on_writable", "open")

    def __init__(self, connection: StreamConnection) -> None:
        self._connection: StreamConnection | None = connection
        self._on_end: Callable[[StreamEnd], None] | None = None
        self._on_writable: Callable[[], None] | None = None
        self.open = True

    def follow(self, on_end: Callable[[StreamEnd], None], on_writable: Callable[[], None]) -> None:
        """`on_end` is called once. `on_writable`: when a client that was behind has read enough."""
        self._on_end, self._on_writable = on_end, on_writable

    @property
    def behind(self) -> bool:
        """Whether the client has not read what was sent. Nothing more should be written then.

        A client that stays behind is cut off by the connection.
        """
        return self._connection is not None and self._connection.write_paused

    def write(self, data: bytes) -> None:
        """Send whole events. No-op once the stream has ended."""
        if self._connection is not None:
            self._connection.write(data)

    def end(self, why: StreamEnd, last: bytes = b"") -> None:
        """Send `last`, then close the connection."""
        connection = self._connection
        if connection is not None:
            if last and not connection.write_paused:
                connection.write(last)
            self.finish(why)
            connection.end_stream()

    # Called by the connection

    def on_writable(self) -> None:
        if self._on_writable is not None:
            self._on_writable()

    def finish(self, why: StreamEnd) -> None:
        """The stream is over. No-op if it was before."""
        on_end, self._on_end = self._on_end, None
        self.open = False
        self._connection = self._on_writable = None
        if on_end is not None:
            on_end(why)


def limit_unread(connection: socket.socket) -> None:
    """Bound what the kernel keeps for a client that does not read, or is gone."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
    # Where the system has no such option, a lost client is noticed later.
    with contextlib.suppress(AttributeError, OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNACKNOWLEDGED_MS)


def server_sent_event(data: bytes, event: str | None = None, number: int | None = None) -> bytes:
    """One event. The data is one line, as JSON is."""
    lines = b"" if number is None else b"id: %d\n" % number
    if event is not None:
        lines += b"event: %b\n" % event.encode("ascii")
    return b"%bdata: %b\n\n" % (lines, data)
