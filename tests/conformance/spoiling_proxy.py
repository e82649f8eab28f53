"""A proxy in front of a good service that spoils one thing in its answers: a service with one fault."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx


@dataclass
class Passing:
    """A call and its answer on their way through; whatever is changed here is what the caller gets."""

    method: str
    path: str
    query: str
    sent: bytes
    status: int
    headers: dict[str, str]
    body: Any
    raw: bytes | None = None
    """Sent instead of the body, when it is no JSON that is to be sent."""

    @property
    def placing(self) -> bool:
        return self.method == "POST" and self.path.endswith("/orders")

    @property
    def listing(self) -> bool:
        return self.method == "GET" and self.path.endswith("/orders") and self.status == 200

    @property
    def code(self) -> str | None:
        detail = self.body.get("detail") if isinstance(self.body, dict) else None
        return detail.get("code") if isinstance(detail, dict) else None

    def orders(self) -> list[dict[str, Any]]:
        """Every order in the answer."""
        return list(_orders(self.body))


def _orders(body: Any) -> Iterator[dict[str, Any]]:
    if isinstance(body, dict):
        if "trade_type" in body:
            yield body
        for value in body.values():
            yield from _orders(value)
    elif isinstance(body, list):
        for each in body:
            yield from _orders(each)


Spoil = Callable[[Passing], None]
Ask = Callable[[str, dict[str, str]], str]
"""Changes the headers of a request in place, and returns its target as it is sent on."""


@dataclass
class SpoilingProxy:
    to_url: str
    spoil: Spoil = lambda _passing: None
    """Of a stream, each message by itself, as `raw`."""
    ask: Ask = lambda target, _headers: target
    url: str = field(default="", init=False)

    @contextmanager
    def serving(self) -> Iterator["SpoilingProxy"]:
        with httpx.Client(base_url=self.to_url, timeout=20) as service:
            server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, service))
            server.daemon_threads = True
            self.url = f"http://127.0.0.1:{server.server_port}"
            thread = threading.Thread(target=server.serve_forever, args=(0.05,))
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()
                server.server_close()


def _messages(stream: httpx.Response) -> Iterator[bytes]:
    rest = b""
    for chunk in stream.iter_bytes():
        *whole, rest = (rest + chunk).split(b"\n\n")
        yield from (message + b"\n\n" for message in whole)


def _handler(proxy: SpoilingProxy, service: httpx.Client) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        """Head and body are written one after the other: the second must not wait for the first's receipt."""

        def _pass_on(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {
                name: value for name, value in self.headers.items() if name.lower() != "content-length"
            }
            target = proxy.ask(self.path, headers)
            path, _, query = self.path.partition("?")
            with service.stream(self.command, target, headers=headers, content=sent or None) as answer:
                if answer.headers.get("content-type", "").startswith("text/event-stream"):
                    self._answer_with_stream(answer, path)
                else:
                    answer.read()
                    self._answer(answer, path, query, sent)

        def _answer_with_stream(self, answer: httpx.Response, path: str) -> None:
            self.send_response(answer.status_code)
            self.send_header("Content-Type", answer.headers["content-type"])
            self.send_header("Connection", "close")
            self.end_headers()
            with suppress(OSError):  # The reader has heard enough.
                for message in _messages(answer):
                    passing = Passing("GET", path, "", b"", answer.status_code, {}, None, message)
                    proxy.spoil(passing)
                    self.wfile.write(passing.raw or b"")

        def _answer(self, answer: httpx.Response, path: str, query: str, sent: bytes) -> None:
            body = json.loads(answer.content) if answer.content else None
            kept = {name.lower(): value for name, value in answer.headers.items()}
            passing = Passing(self.command, path, query, sent, answer.status_code, kept, body)
            proxy.spoil(passing)
            content = json.dumps(passing.body).encode() if passing.raw is None else passing.raw
            self.send_response(passing.status)
            for name, value in passing.headers.items():
                if name not in ("content-length", "connection", "transfer-encoding", "date", "server"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _pass_on  # noqa: N815 - the names that http.server looks for

        def log_message(self, *_: object) -> None:
            """Quiet: the test says what is wrong."""

    return Handler
