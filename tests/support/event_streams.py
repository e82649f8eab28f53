"""A client that reads server-sent events, as the standard says they are read."""

import contextlib
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from .loopback_transport import SOCKET

PATIENCE_S = 30.0


@dataclass(frozen=True)
class Message:
    event: str
    data: Any
    id: str | None


class StreamReader:
    """A client's end of one stream."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.iter_lines()
        self.last_id: str | None = None
        self.comments = 0
        self.retry_ms: int | None = None

    def leave(self) -> None:
        """Close the connection, also from another thread."""
        with contextlib.suppress(OSError):
            self.answer.extensions[SOCKET].shutdown(socket.SHUT_RDWR)

    def read(self) -> Message | None:
        """The next event; None at the end of the stream."""
        return self._next()

    def next(self) -> Message:
        """The next event; fails if the stream ends before."""
        found = self._next()
        assert found is not None, "the stream ended"
        return found

    def take(self, number: int) -> list[Message]:
        return [self.next() for _ in range(number)]

    def rest(self) -> list[Message]:
        """Everything until the server closes."""
        return list(iter(self._next, None))

    def comment(self) -> None:
        """Read on until the next comment."""
        before = self.comments
        while self.comments == before:
            assert self._field(next(self._lines)) is None

    def begin(self) -> "StreamReader":
        """Read the first lines, which have no event."""
        while line := next(self._lines):
            assert self._field(line) is None
        return self

    def _next(self) -> Message | None:
        event, data = "message", []
        for line in self._lines:
            if line:
                name, value = self._field(line) or ("", "")
                event = value if name == "event" else event
                data += [value] if name == "data" else []
            elif data:
                return Message(event, json.loads("\n".join(data)), self.last_id)
            else:
                event = "message"
        return None

    def _field(self, line: str) -> tuple[str, str] | None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line.startswith(":"):
            self.comments += 1
        elif name == "id":
            self.last_id = value
        elif name == "retry":
            self.retry_ms = int(value)
        elif line:
            return name, value
        return None


@contextlib.contextmanager
def streaming(http: httpx.Client, path: str, **headers: str) -> Iterator[StreamReader]:
    """An open stream whose first bytes have come."""
    with http.stream("GET", path, headers=headers, timeout=PATIENCE_S) as answer:
        if answer.status_code != 200:
            answer.read()
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/event-stream"
        yield StreamReader(answer).begin()
