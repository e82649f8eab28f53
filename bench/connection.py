"""One keep-alive connection of the load generator: sends a request, waits for its answer, sends the next."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from random import getrandbits
from time import perf_counter_ns
from typing import cast

MORE_TO_COME = "more to come"

FRESH_KEY = b"<a key for each order, as long as>!!"
"""In a request: where a new idempotency key goes each time it is sent. As long as a UUID."""

_OK = (b"HTTP/1.1 200 ", b"HTTP/1.1 201 ")
_LENGTH = b"\r\ncontent-length:"


class JobState:
    """What all connections of a job have in common."""

    def __init__(self, *, fresh_keys: bool) -> None:
        self.fresh_keys = fresh_keys
        """Whether requests are forms, into which a key goes each time."""
        self.took_ns: list[int] = []
        self.errors: Counter[str] = Counter()
        self.stopping = False


class Connection(asyncio.Protocol):
    def __init__(self, requests: Sequence[bytes], state: JobState) -> None:
        self._requests = cycle(requests)
        self._state = state
        self._received = b""
        self._sent_ns = 0
        self._transport: asyncio.Transport
        self.ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are not of asyncio's class
        self._send()

    def data_received(self, data: bytes) -> None:
        received = self._received + data if self._received else data
        fault = fault_of(received)
        if fault is MORE_TO_COME:
            self._received = received
            return
        self._received = b""
        if fault is not None:
            self._end(fault)
            return
        self._state.took_ns.append(perf_counter_ns() - self._sent_ns)
        if self._state.stopping:
            self._end(None)
        else:
            self._send()

    def connection_lost(self, _exc: Exception | None) -> None:
        if not self.ended.is_set():
            self._end("connection lost")

    def cut(self) -> None:
        """Give up on an answer, so that it does not arrive in the middle of the next job."""
        self.ended.set()
        self._transport.abort()

    def _send(self) -> None:
        self._sent_ns = perf_counter_ns()
        request = next(self._requests)
        # Keys are random, as a client's UUIDs are: in a row, they would all go to the same page of an index.
        self._transport.write(request % getrandbits(144) if self._state.fresh_keys else request)

    def _end(self, fault: str | None) -> None:
        if fault is not None:
            self._state.errors[fault] += 1
        self.ended.set()
        self._transport.close()


def form_of(request: bytes) -> bytes:
    """Everything but the key is put together once: what the generator spends, the server cannot have."""
    before, _, after = request.partition(FRESH_KEY)
    return before.replace(b"%", b"%%") + b"%036x" + after.replace(b"%", b"%%")


def fault_of(received: bytes) -> str | None:
    """None when this is one whole answer 200 or 201 and nothing else; otherwise what is wrong with it."""
    head_end = received.find(b"\r\n\r\n")
    if head_end < 0:
        return MORE_TO_COME
    at = received.find(_LENGTH, 0, head_end)
    if at < 0:  # Servers write it in small letters; this is for one that does not.
        at = received[:head_end].lower().find(_LENGTH)
        if at < 0:
            return "no Content-Length"
    at += len(_LENGTH)
    length = received[at : received.find(b"\r", at)].strip()
    if not length.isdigit():
        return "unreadable Content-Length"
    missing = head_end + 4 + int(length) - len(received)
    if missing > 0:
        return MORE_TO_COME
    if not received.startswith(_OK):
        return f"status {received[9:12].decode('ascii', 'replace')}"
    return None if missing == 0 else "more than one answer"
