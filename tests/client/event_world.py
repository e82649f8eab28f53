"""The made-up world of `scripted_network` with streams: chunks of bytes, silences and breaks by a script."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from bullion_client.event_feed import EventFeed
from bullion_client.flow import Close, Flow, Now, Open, OpenResponse, Run, Sleep, Take
from tests.client.event_samples import event
from tests.client.scripted_network import Outcome, Value, World, caller

FIRST = b"retry: 1000\nid: %d\n: \n\n"


def told(number: int, type_: str = "trading.halted", **fields: Any) -> bytes:
    """An event as the stream writes it."""
    text = json.dumps(event(number, type_, **fields)).encode()
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, type_.encode(), text)


@dataclass
class Streamed:
    """A response of the stream. Numbers are seconds of silence; an error breaks it; at the end it ends."""

    pieces: list[bytes | float | httpx.RequestError] = field(default_factory=list)
    status: int = 200
    kind: str = "text/event-stream; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


def streamed(*pieces: bytes | float | httpx.RequestError) -> Streamed:
    return Streamed(list(pieces))


class EventWorld(World):
    """Each opened stream gets the next of `streams`, and each other request the next outcome."""

    def __init__(
        self, streams: list[Streamed | Outcome], *outcomes: Outcome | Callable[[httpx.Request], Outcome]
    ) -> None:
        super().__init__(*outcomes)
        self.streams = streams
        self.opened: list[httpx.Request] = []
        self.closed = 0

    def run(self, flow: Flow[Value]) -> Value:
        def translated() -> Flow[Value]:
            result: Any = None
            error: Exception | None = None
            while True:
                try:
                    effect = flow.send(result) if error is None else flow.throw(error)
                except StopIteration as end:
                    value: Value = end.value
                    return value
                result, error = None, None
                try:
                    if isinstance(effect, Now | Sleep | Run | httpx.Request):
                        result = yield effect
                    else:
                        result = self._do(effect)
                except Exception as raised:  # noqa: BLE001 - the flow decides
                    error = raised

        return super().run(translated())

    def _do(self, effect: Open | Take | Close) -> object:
        match effect:
            case Open(request):
                self.opened.append(request)
                self.seconds += self.try_s
                outcome = self.streams.pop(0)
                if isinstance(outcome, httpx.RequestError):
                    raise outcome
                if isinstance(outcome, httpx.Response):
                    headers = dict(outcome.headers)
                    outcome = Streamed([outcome.content], outcome.status_code, "application/json", headers)
                headers = outcome.headers | {"Content-Type": outcome.kind}
                response = httpx.Response(outcome.status, headers=headers, request=request)
                return OpenResponse(response, outcome)
            case Take(opened):
                return self._take(opened.chunks, opened.response.request.extensions["timeout"]["read"])
            case Close():
                self.closed += 1
        return None

    def _take(self, stream: Streamed, timeout_s: float) -> bytes:
        while stream.pieces:
            piece = stream.pieces.pop(0)
            if isinstance(piece, bytes):
                return piece
            if isinstance(piece, httpx.RequestError):
                raise piece
            if piece > timeout_s:
                self.seconds += timeout_s
                raise httpx.ReadTimeout("")
            self.seconds += piece
        return b""


def feed(after: int | None = None, *, deadline: float = float("inf"), first: float = 60.0) -> EventFeed:
    """A feed of a new client, whose pauses are the longest they can be."""
    return caller(deadline=first)._event_feed(after, deadline, None)


def numbers(world: World, reading: EventFeed, count: int) -> list[int]:
    """The numbers of that many events."""
    return [world.run(reading.next()).number for _ in range(count)]
