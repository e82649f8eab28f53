"""A line between a service in another process and its server, cut at a chosen message and in a chosen way."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

_PIECE = 1 << 16
_PATIENCE_S = 20
_DONE = (b"Z\x00\x00\x00\x05I", b"Z\x00\x00\x00\x05T", b"Z\x00\x00\x00\x05E")
"""PostgreSQL is ready for the next message: whatever it was asked to do before, it has done."""


class Cut(Enum):
    BEFORE = "the message never arrives"
    AFTER = "it is done, and its answer is lost"
    LATER = "the service loses its line, and the message arrives when it is let go"


@dataclass
class Trap:
    """Waits for a message with these words in it; with `then`, for the next one with those on that line."""

    words: bytes
    cut: Cut
    then: bytes | None = None
    also: bytes = b""
    """What has to be in the first message too."""
    refuses: bool = False
    """Whether whoever connects anew after that is refused."""
    sprung: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    line: object = None

    def let_go(self) -> None:
        """The message arrives at the server, which does whatever it does with it."""
        self.go_on.set()
        assert self.arrived.wait(_PATIENCE_S), "the server did not answer"


class Wire:
    def __init__(self, to_port: int) -> None:
        self._to_port = to_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.refusing = False
        self._trap: Trap | None = None
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def set_trap(self, trap: Trap) -> Trap:
        with self._lock:
            self._trap = trap
        return trap

    def cut_all(self) -> None:
        """Every line that is open now."""
        for each in list(self._open):
            _abort(each)

    def close(self) -> None:
        self._listener.close()
        self.cut_all()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refusing:
                _abort(client)
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self._to_port), timeout=_PATIENCE_S)
            except OSError:
                _abort(client)
                continue
            server.settimeout(None)
            self._open |= {client, server}
            line = _Line(self, client, server)
            for work in (line.forth, line.back):
                threading.Thread(target=work, daemon=True).start()

    def _caught(self, line: "_Line", data: bytes) -> Trap | None:
        """The trap, if this message springs it."""
        with self._lock:
            trap = self._trap
            if trap is None:
                return None
            if trap.line is None and trap.words in data and trap.also in data:
                trap.line = line
                if trap.then is not None:
                    return None
            elif trap.line is not line or trap.then is None or trap.then not in data:
                return None
            if trap.line is not line:
                return None
            self._trap = None
            self.refusing = trap.refuses
            return trap

    def _forget(self, *ends: socket.socket) -> None:
        for each in ends:
            self._open.discard(each)
            _abort(each)


class _Line:
    def __init__(self, wire: Wire, client: socket.socket, server: socket.socket) -> None:
        self._wire = wire
        self._client = client
        self._server = server
        self._answers: Callable[[bytes], None] = client.sendall
        self._done = threading.Event()

    def forth(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._client.recv(_PIECE):
                trap = self._wire._caught(self, data)
                if trap is not None:
                    self._spring(trap, data)
                    break
                self._server.sendall(data)
        self._wire._forget(self._client, self._server)

    def _spring(self, trap: Trap, data: bytes) -> None:
        self._answers = self._swallow
        if trap.cut is Cut.LATER:
            _abort(self._client)
            trap.sprung.set()
            trap.go_on.wait(_PATIENCE_S * 3)
        if trap.cut is not Cut.BEFORE:
            self._server.sendall(data)
            self._done.wait(_PATIENCE_S)
        trap.arrived.set()
        trap.sprung.set()

    def back(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._server.recv(_PIECE):
                self._answers(data)
        self._done.set()
        if self._answers != self._swallow:  # Else who sprang the trap ends it.
            self._wire._forget(self._client, self._server)

    def _swallow(self, data: bytes) -> None:
        if data.endswith(_DONE):
            self._done.set()


def _abort(end: socket.socket) -> None:
    """As a line that breaks: no polite end, and whoever reads from it is woken."""
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def wire(to_port: int) -> Iterator[Wire]:
    line = Wire(to_port)
    try:
        yield line
    finally:
        line.close()
