"""Statements for PostgreSQL without a program or a library: a process of psql takes 20 ms of a core."""

import contextlib
import select
import socket
import struct
from collections.abc import Callable, Iterator

_VERSION = 3 << 16
_HEAD = struct.Struct("!ci")
_CONNECT_S = 30.0


class QueryFailed(Exception):
    """PostgreSQL's own message."""


class SimpleSession:
    """A connection that takes one text of statements after the other."""

    def __init__(self, port: int, database: str) -> None:
        """May raise QueryFailed."""
        self._link = socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_S)
        self._link.settimeout(None)
        settings = ("user", "bullion", "database", database, "client_encoding", "UTF8", "")
        startup = struct.pack("!i", _VERSION) + b"".join(each.encode() + b"\0" for each in settings)
        self._stream = self._link.makefile("rb")
        self._received = _messages(self._stream.read)
        try:
            self._link.sendall(struct.pack("!i", len(startup) + 4) + startup)
            _until_ready(self._received)
        except BaseException:
            self._stream.close()
            self._link.close()
            raise

    def query(self, statement: str) -> list[tuple[str, ...]]:
        """The rows of all statements, each value as text; a null is empty. May raise QueryFailed."""
        text = statement.encode() + b"\0"
        self._link.sendall(_HEAD.pack(b"Q", len(text) + 4) + text)
        return _until_ready(self._received)

    def is_open(self) -> bool:
        """A server that ends a session says so, unasked."""
        return not select.select([self._link], [], [], 0)[0]

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._link.sendall(_HEAD.pack(b"X", 4))
        self._stream.close()
        self._link.close()


def query(port: int, database: str, statement: str) -> list[tuple[str, ...]]:
    """The same in a session of its own."""
    with contextlib.closing(SimpleSession(port, database)) as session:
        return session.query(statement)


def _until_ready(received: Iterator[tuple[bytes, bytes]]) -> list[tuple[str, ...]]:
    rows, problem = [], None
    for kind, content in received:
        if kind == b"Z":
            break
        if kind == b"D":
            rows.append(tuple(_values(content)))
        elif kind == b"E":
            fields = {part[:1]: part[1:].decode() for part in content.split(b"\0") if part}
            problem = fields[b"M"]
            if fields[b"S"] == "FATAL":  # It says no more.
                break
        elif kind == b"R" and content != struct.pack("!i", 0):
            problem = "PostgreSQL asks for a password"
            break
    if problem is not None:
        raise QueryFailed(problem)
    return rows


def _messages(read: Callable[[int], bytes]) -> Iterator[tuple[bytes, bytes]]:
    while head := read(_HEAD.size):
        kind, size = _HEAD.unpack(head)
        yield kind, read(size - 4)
    raise QueryFailed("PostgreSQL has ended the connection")


def _values(content: bytes) -> Iterator[str]:
    (columns,) = struct.unpack_from("!h", content)
    place = 2
    for _ in range(columns):
        (size,) = struct.unpack_from("!i", content, place)
        place += 4
        yield content[place : place + max(size, 0)].decode()
        place += max(size, 0)
