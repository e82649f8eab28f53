"""A TCP proxy between the service and a server, which can be cut off and restored, or go silent."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator


class TcpProxy:
    def __init__(self, to_port: int) -> None:
        self._to_port = to_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._connected = True
        self._open: set[socket.socket] = set()
        self._silent: set[socket.socket] = set()
        self._swallows = False
        self.delay_s = 0.0
        """How late it passes on what it got, in each direction."""
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def cut(self) -> None:
        """End every connection, and refuse new ones."""
        self._connected = False
        for line in list(self._open):
            _end(line)

    def restore(self) -> None:
        self._connected = True

    def silence(self) -> None:
        """Keep the open connections, but pass nothing on, not even their end."""
        self._silent |= self._open

    def swallow_new(self) -> None:
        """Let new connections be silent from the start."""
        self._swallows = True

    def pass_new(self) -> None:
        """Let new connections through again. Those that are silent stay silent."""
        self._swallows = False

    def remove(self) -> None:
        self.cut()
        _end(self._listener)
        self._accepting.join(timeout=5)
        for line in (self._listener, *self._open):
            line.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if not self._connected:
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self._to_port))
            self._open |= {near, far}
            if self._swallows:
                self._silent |= {near, far}
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                time.sleep(self.delay_s)
                if source not in self._silent:
                    sink.sendall(data)
        if source in self._silent and self._connected:
            return
        for line in (source, sink):
            _end(line)
            self._open.discard(line)
            line.close()


def _end(line: socket.socket) -> None:
    """Also for whoever is just reading from it."""
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def tcp_proxy(to_port: int) -> Iterator[TcpProxy]:
    proxy = TcpProxy(to_port)
    try:
        yield proxy
    finally:
        proxy.remove()
