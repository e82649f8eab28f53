"""The open streams of a node: how many a key may have, heartbeats, and the end of those that are refused now.

One timer serves all of them, so that an idle stream costs no more than its connection.
"""

import asyncio
from collections import Counter
from enum import StrEnum
from functools import lru_cache
from time import monotonic

import structlog

from bullion.faults import StoreFault
from bullion.keys.key import Scope
from bullion.refusals.catalogue import SERVICE_UNAVAILABLE, TOO_MANY_STREAMS
from bullion.refusals.refusal import RefusalCode, RefusalError
from bullion.web.event_stream import EventStream, StreamEnd, server_sent_event
from bullion.web.response import encode_json

from .gate import MEMORY_AGE_NS_MAX, Gate
from .request import Request

HEARTBEAT_S = 15.0
_TICK_S = 0.2
"""How often callers are checked again, if anything has changed."""
_SLOTS = round(HEARTBEAT_S / _TICK_S)
_HEARTBEAT = b": \n\n"
_LOOK_UP_S = 1.0
_RETRY_AFTER_S = 5
"""A stream that broke without a word may count for longer than this."""
RETRY_LINE = b"retry: 1000\n"
"""The first line of every stream: after how many milliseconds a browser connects again."""

_log = structlog.get_logger("streams")


class StreamKind(StrEnum):
    EVENTS = "events"
    QUOTES = "quotes"


class OpenStream:
    """A stream and its caller. Subclasses say what is sent."""

    __slots__ = (
        "_since_s",
        "_streams",
        "address",
        "environment",
        "key_id",
        "request_id",
        "sent",
        "slot",
        "wire",
    )

    kind: StreamKind

    def __init__(self, streams: "OpenStreams", request: Request, wire: EventStream) -> None:
        self._streams = streams
        self.wire = wire
        self.key_id = request.caller.key.key_id
        self.environment = request.caller.key.environment
        self.address = request.call.address
        self.request_id = request.call.request_id
        self.sent = 0
        self.slot = streams.add(self)
        self._since_s = monotonic()
        wire.follow(self._ended, self.on_writable)

    def send(self, data: bytes, number: int = 1) -> None:
        """Send this many events."""
        self.sent += number
        self._streams.counts.sent[self.kind] += number
        self.wire.write(data)

    def refuse(self, refusal: RefusalCode) -> None:
        self.wire.end(StreamEnd.REFUSED, _last_event(refusal))

    def refused(self) -> RefusalCode | None:
        """Why this kind of stream would be refused now, for reasons other than the caller's."""
        return None

    def on_writable(self) -> None:
        """The client was behind and has read what was sent."""

    def on_end(self) -> None:
        """The stream is over."""

    def _ended(self, why: StreamEnd) -> None:
        self._streams.remove(self, why)
        self.on_end()
        told = {
            "request_id": self.request_id.decode("ascii"),
            "kind": self.kind.value,
            "why": why.value,
            "key_id": self.key_id,
            "events": self.sent,
            "seconds": round(monotonic() - self._since_s, 1),
        }
        # Slow readers and refused callers are worth a line; that a client left is not.
        if why in (StreamEnd.SLOW_READER, StreamEnd.REFUSED):
            _log.info("stream_ended", **told)
        else:
            _log.debug("stream_ended", **told)


class StreamCounts:
    """For the metrics."""

    def __init__(self) -> None:
        self.open: dict[StreamKind, int] = dict.fromkeys(StreamKind, 0)
        self.sent: dict[StreamKind, int] = dict.fromkeys(StreamKind, 0)
        self.ended: dict[tuple[StreamKind, StreamEnd], int] = {
            (kind, why): 0 for kind in StreamKind for why in StreamEnd
        }


class OpenStreams:
    def __init__(self, gate: Gate, per_key: int) -> None:
        self._gate = gate
        self._per_key = per_key
        self._by_key: Counter[str] = Counter()
        self._opened = asyncio.Event()
        self._slots: list[set[OpenStream]] = [set() for _ in range(_SLOTS)]
        """A timer wheel: each tick is the heartbeat of one slot."""
        self._slot = 0
        self._checked: int | None = None
        """The version of the catalogue that callers were last checked with."""
        self._check_at_us = 0
        """When the first key expires of those that have streams."""
        self.counts = StreamCounts()

    def require_room(self, key_id: str) -> None:
        """Raise RefusalError if the key has as many streams as it may."""
        if self._by_key[key_id] >= self._per_key:
            message = (
                f"This API key has {self._per_key} streams open, which is all that it may have. Close one."
            )
            raise RefusalError(TOO_MANY_STREAMS, message, retry_after_s=_RETRY_AFTER_S)

    def add(self, stream: OpenStream) -> int:
        """Return the slot of its heartbeat."""
        self._by_key[stream.key_id] += 1
        self._opened.set()
        self.counts.open[stream.kind] += 1
        self._slots[self._slot].add(stream)
        self._checked = None  # The next tick learns when its key expires.
        return self._slot

    def remove(self, stream: OpenStream, why: StreamEnd) -> None:
        self._slots[stream.slot].discard(stream)
        self.counts.open[stream.kind] -= 1
        self.counts.ended[stream.kind, why] += 1
        self._by_key[stream.key_id] -= 1
        if not self._by_key[stream.key_id]:
            del self._by_key[stream.key_id]

    async def run(self) -> None:
        """Run for as long as the node does."""
        while True:
            if not self._by_key:
                self._opened.clear()
                await self._opened.wait()
            await asyncio.sleep(_TICK_S)
            try:
                self._beat()
                if self._by_key:
                    await self._check()
            except Exception:  # noqa: BLE001 - the node must not stop because of its streams
                _log.exception("streams_failed")

    def _beat(self) -> None:
        self._slot = (self._slot + 1) % _SLOTS
        for stream in list(self._slots[self._slot]):
            if not stream.wire.behind:
                stream.wire.write(_HEARTBEAT)

    async def _check(self) -> None:
        """End the streams of callers who would be refused now, as the gate does: from memory."""
        catalogue = self._gate.catalogue
        if catalogue.older_than(MEMORY_AGE_NS_MAX):
            for stream in self._all():
                stream.refuse(SERVICE_UNAVAILABLE)
            return
        if catalogue.serial == self._checked and catalogue.now_us() < self._check_at_us:
            return
        catalogue.clients.mark_used(self._by_key)
        missing = {key_id for key_id in self._by_key if key_id not in catalogue.keys}
        if missing and not catalogue.clients.complete:
            await self._look_up(missing)
        self._checked = catalogue.serial
        self._check_at_us = self._next_expiry_us()
        for stream in self._all():
            refusal = self._refusal(stream)
            if refusal is not None:
                stream.refuse(refusal)

    def _all(self) -> list[OpenStream]:
        return [stream for slot in self._slots for stream in slot]

    def _refusal(self, stream: OpenStream) -> RefusalCode | None:
        checked = self._gate.recheck(stream.key_id, stream.environment, stream.address, Scope.ORDERS_READ)
        return checked if isinstance(checked, RefusalCode) else stream.refused()

    async def _look_up(self, key_ids: set[str]) -> None:
        """Load keys that were evicted from memory. If the store cannot be read, their streams end."""
        for key_id in key_ids:
            try:
                async with asyncio.timeout(_LOOK_UP_S):
                    await self._gate.look_up(key_id)
            except (StoreFault, TimeoutError):
                return

    def _next_expiry_us(self) -> int:
        now_us = self._gate.catalogue.now_us()
        keys = [key for key_id in self._by_key if (key := self._gate.catalogue.keys.get(key_id)) is not None]
        ends = [end_us for key in keys for end_us in (key.expires_at_us, key.overlap_ends_at_us)]
        return min((end_us for end_us in ends if end_us is not None and end_us > now_us), default=2**63)


@lru_cache(maxsize=64)
def _last_event(refusal: RefusalCode) -> bytes:
    return server_sent_event(encode_json({"code": refusal.code, "message": refusal.message}), "end")
