"""A real HTTP server with a list and a stream of events, whose connections fail by a script."""

import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.client.event_samples import event
from tests.client.event_world import FIRST, told

HEARTBEAT_S = 0.05
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass
class Fault:
    """What goes wrong with one connection."""

    status: int = 200
    code: str = ""
    cut_after: int | None = None
    """Bytes of the stream after which the connection is cut, perhaps in the middle of an event."""
    from_number: int | None = None
    """Begin after this event, whatever was asked for: events come twice, or are left out."""
    silent: bool = False
    """Nothing comes after the head."""


@dataclass
class EventServer:
    """Gives the events up to `newest`. Each connection of a stream takes the next fault."""

    newest: int = 0
    oldest: int = 1
    stream: bool = True
    page_limit: int = 200
    port: int = 0
    faults: list[Fault] = field(default_factory=list)
    list_faults: list[Fault] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    """The queries of the streams."""
    listed: list[str] = field(default_factory=list)
    chance: random.Random | None = None
    """To write the stream in pieces of any size."""
    changed: threading.Condition = field(default_factory=threading.Condition)
    ending: bool = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def happen(self, count: int = 1) -> None:
        with self.changed:
            self.newest += count
            self.changed.notify_all()

    def wait_beyond(self, number: int, within_s: float) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.newest > number or self.ending, within_s)


class _Cut(Exception):
    """The script cuts the connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        try:
            if parts.path.endswith("/events/stream"):
                self._stream(parts.query, query)
            elif parts.path.endswith("/events"):
                self._list(parts.query, query)
            else:
                self._answer(404, {"detail": "Not Found"})
        except (_Cut, OSError):
            self.close_connection = True

    def _list(self, text: str, query: dict[str, str]) -> None:
        events: EventServer = self.server.events
        events.listed.append(text)
        fault = events.list_faults.pop(0) if events.list_faults else Fault()
        if fault.status != 200:
            self._refuse(fault)
            return
        after = int(query.get("after", events.oldest - 1))
        if after > events.newest or after < events.oldest - 1:
            self._gone()
            return
        events.wait_beyond(after, float(query.get("wait", 0)))
        first = (after if fault.from_number is None else fault.from_number) + 1
        last = min(events.newest, first + min(int(query["limit"]), events.page_limit) - 1)
        items = [event(number) for number in range(first, last + 1)]
        more = last < events.newest
        self._answer(
            200, {"items": items, "next_after": last if items else after, "has_more": more}, fault.cut_after
        )

    def _stream(self, text: str, query: dict[str, str]) -> None:
        events: EventServer = self.server.events
        events.opened.append(text)
        fault = events.faults.pop(0) if events.faults else Fault()
        if not events.stream:
            self._answer(404, {"detail": "Not Found"})
        elif fault.status != 200:
            self._refuse(fault)
        elif int(query.get("after", events.newest)) not in range(events.oldest - 1, events.newest + 1):
            self._gone()
        else:
            self._play(int(query.get("after", events.newest)), fault, events)

    def _play(self, after: int, fault: Fault, events: EventServer) -> None:
        self.wfile.write(_HEAD)
        self.left = fault.cut_after
        if fault.silent:
            with events.changed:
                events.changed.wait_for(lambda: events.ending, 10)
            raise _Cut
        self._write(FIRST % after)
        given = after if fault.from_number is None else fault.from_number
        while not events.ending:
            while given < events.newest:
                given += 1
                self._write(told(given))
            self._write(b": \n\n")
            events.wait_beyond(given, HEARTBEAT_S)

    def _write(self, data: bytes) -> None:
        chance = self.server.events.chance
        while data:
            size = len(data) if chance is None else chance.randint(1, len(data))
            piece, data = data[:size], data[size:]
            cut = self.left is not None and len(piece) >= self.left
            if cut:
                piece = piece[: self.left]
            if piece:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            if cut:
                raise _Cut
            if self.left is not None:
                self.left -= len(piece)

    def _refuse(self, fault: Fault) -> None:
        self._answer(fault.status, {"detail": {"code": fault.code, "message": "No."}})

    def _gone(self) -> None:
        events: EventServer = self.server.events
        detail = {"code": "events_gone", "message": "No.", "oldest": events.oldest, "newest": events.newest}
        self._answer(410, {"detail": detail})

    def _answer(self, status: int, body: object, cut_after: int | None = None) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text[:cut_after])
        if cut_after is not None:
            raise _Cut

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep quiet."""


@contextmanager
def event_server(**options: Any) -> Iterator[EventServer]:
    """Run a server in a thread."""
    events = EventServer(**options)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        events: EventServer

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that closes its stream is part of the tests, not an error."""

    with Server(("127.0.0.1", 0), _Handler) as server:
        server.events = events
        events.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield events
        finally:
            with events.changed:
                events.ending = True
                events.changed.notify_all()
            server.shutdown()
            thread.join()
