"""A client's server that takes webhooks, in a thread of the test."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

WAIT_S = 60


class HookServer:
    def __init__(self) -> None:
        self.status = 200
        self.pause_s = 0.0
        """Before each answer."""
        self.received: list[tuple[dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
                time.sleep(outer.pause_s)
                self.send_response(outer.status)
                self.send_header("content-length", "5")
                self.end_headers()
                self.wfile.write(b"hello")

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign] # A node that was killed.
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def numbers(self) -> list[int]:
        """Of the events, in the order in which they came."""
        return [json.loads(body)["number"] for _, body in list(self.received)]

    def events(self, number: int) -> list[dict[str, Any]]:
        """Waits until there are so many different ones."""
        give_up_at = time.monotonic() + WAIT_S
        while len({*self.numbers}) < number and time.monotonic() < give_up_at:
            time.sleep(0.02)
        return [json.loads(body) for _, body in list(self.received)]
