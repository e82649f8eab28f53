"""A real HTTP server on a free loopback port that gives canned answers and records what it was asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Recorded:
    """A request as it arrived."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclass
class StubServer:
    """Gives every request the same answer, until told another."""

    port: int = 0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    # Announced length less the length sent: above 0, the answer breaks off.
    missing_bytes: int = 0
    # While clear, answers are held back.
    answering: threading.Event = field(default_factory=threading.Event)
    requests: list[Recorded] = field(default_factory=list)
    connections: set[int] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, status: int, body: object, **headers: str) -> None:
        """Answer with this from now on: bytes as they are, anything else as JSON."""
        self.status = status
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def serving() -> Iterator[StubServer]:
    """Run a stub server in a thread."""
    stub = StubServer()
    stub.answering.set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            stub.requests.append(Recorded(self.command, self.path, tuple(self.headers.items())))
            stub.connections.add(self.client_address[1])
            stub.answering.wait()
            if stub.missing_bytes:
                self.close_connection = True
            self.send_response(stub.status)
            for name, value in stub.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(stub.body) + stub.missing_bytes))
            self.end_headers()
            self.wfile.write(stub.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Keep quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that gave up waiting is part of the tests, not an error."""

    with Server(("127.0.0.1", 0), Handler) as server:
        stub.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield stub
        finally:
            stub.answering.set()
            server.shutdown()
            thread.join()
