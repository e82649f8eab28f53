"""Statements for PostgreSQL without a program or a library: a process of psql takes 20 ms of a core."""

import socket
import struct
from collections.abc import Callable, Iterator

_VERSION = 3 << 16
_HEAD = struct.Struct("!ci")
_CONNECT_S = 30.0


class QueryFailed(Exception):
    """PostgreSQL's own message."""


def query(port: int, database: str, statement: str) -> list[tuple[str, ...]]:
    """The rows of all statements in the text, each value as text; a null is empty. May raise QueryFailed."""
    with socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_S) as link:
        link.settimeout(None)
        settings = ("user", "bullion", "database", database, "client_encoding", "UTF8", "")
        startup = struct.pack("!i", _VERSION) + b"".join(each.encode() + b"\0" for each in settings)
        link.sendall(struct.pack("!i", len(startup) + 4) + startup)
        with link.makefile("rb") as stream:
            received = _messages(stream.read)
            _until_ready(received)
            text = statement.encode() + b"\0"
            link.sendall(_HEAD.pack(b"Q", len(text) + 4) + text)
            rows = _until_ready(received)
        link.sendall(_HEAD.pack(b"X", 4))
    return rows


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
