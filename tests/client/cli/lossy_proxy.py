"""A line to the service on which answers to orders get lost, or hang, when it is told so."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit


class LossyProxy(ThreadingTCPServer):
    """Passes everything on until it is told otherwise."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, to_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        to = urlsplit(to_url)
        self.service = (to.hostname or "", to.port or 0)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.loses = False
        """Answers to orders are dropped, and the line with them."""
        self.holds = False
        """Answers to orders are kept back, and the line stays open."""
        self.cuts = False
        """Orders are not even passed on."""
        self.kept_back = threading.Event()
        """The service has answered an order, and nobody was told."""
        self.answers = 0
        """How many were passed on."""
        self.over = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """A command that was killed is part of the tests, not an error."""


class _Passing(BaseRequestHandler):
    server: LossyProxy
    request: socket.socket

    def handle(self) -> None:
        self.ordered = False
        with socket.create_connection(self.server.service) as service:
            there = threading.Thread(target=self._pass_on, args=(service,), daemon=True)
            there.start()
            with suppress(OSError):
                while data := service.recv(65536):
                    if self.ordered and (self.server.loses or self.server.holds):
                        self.server.kept_back.set()
                        if self.server.holds:
                            self.server.over.wait()
                        break
                    self.request.sendall(data)
                    self.server.answers += 1
            with suppress(OSError):
                self.request.shutdown(socket.SHUT_RDWR)
            there.join()

    def _pass_on(self, service: socket.socket) -> None:
        with suppress(OSError):
            while data := self.request.recv(65536):
                self.ordered = self.ordered or data.startswith(b"POST ")
                if self.ordered and self.server.cuts:
                    break
                service.sendall(data)
        with suppress(OSError):
            service.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(url: str) -> Iterator[LossyProxy]:
    with LossyProxy(url) as line:
        thread = threading.Thread(target=line.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield line
        finally:
            line.over.set()
            line.shutdown()
            thread.join()
