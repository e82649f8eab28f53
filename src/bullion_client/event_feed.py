"""Events one after the other: from the stream, or by long polling where there is no stream.

A feed gives each event once, in the order of their numbers, and leaves none out. It knows the number of the
last event it has read. After a break it continues after that number; an event that comes again is dropped. If
one is missing in the stream, the feed reads it from the list; if it is missing there too, that is an error.

There may be no stream: an older service, a proxy that buffers or refuses it, or too many streams of the key.
Then the feed asks for the list with `wait`, and tries the stream again later. Whether the stream comes
through is tried with the first connection of a client: a short timeout shows whether the service's first
bytes arrive at once. The timeout of a connection cannot be changed, so the next one gets the long timeout,
which only ends connections without heartbeats.
"""

import re
from collections import deque
from dataclasses import dataclass, field

import httpx

from bullion_client.calls import Call, log, no_answer
from bullion_client.errors import BullionError, NoAnswer, Refusal, UnexpectedAnswer
from bullion_client.event_calls import HOLD_S, EventCalls
from bullion_client.event_models import Event, EventPage
from bullion_client.event_reader import MISSING, event_answer, gap_after, read_event
from bullion_client.flow import Flow, OpenResponse, close, now, open_response, sleep, take
from bullion_client.paths import EVENT_LIMIT_MAX, event_number
from bullion_client.responses import accepted, unexpected
from bullion_client.retry import Tries, judge_read
from bullion_client.sse import Message, MessageReader, TooLong

FIRST_BYTES_S = 5.0
"""The service sends the first bytes at once. If none come within this time, a proxy holds them back."""
SILENCE_S = 45.0
"""The service sends a heartbeat every 15 seconds. After this long without a byte the connection is dead."""
STREAM_AGAIN_S = 300.0
"""How long to use the list before the stream is tried again."""
_HEALTHY_S = 10.0
"""A connection that lasts this long, or brings an event, is not counted as one more failure."""
_ERROR_BYTES_MAX = 65_536
_NOT_THERE = {404, 405}
_QUICK_S = 1.0
"""An empty answer to a call that should be held, and comes sooner than this, is not held at all."""


@dataclass(slots=True)
class _Connection:
    """An open stream, and how much of it was understood."""

    opened: OpenResponse
    on_trial: bool
    began: float
    reader: MessageReader = field(default_factory=MessageReader)
    heard: bool = False
    """Whether any byte came."""
    taking: bool = False
    """A read has begun and not ended: it was interrupted, and what it read is lost."""


class EventFeed:
    """The state of a feed. Each call of `next` returns one more event."""

    def __init__(self, calls: EventCalls, after: int | None, deadline_s: float) -> None:
        event_number(after)
        self.position = after
        """The number of the last event that was given; before the first, where the feed begins."""
        self._calls = calls
        self._support = calls.support
        self._read_to = after
        self._events: deque[Event] = deque()
        self._connection: _Connection | None = None
        self._ready = False
        self._deadline_s = deadline_s
        self._tries: Tries | None = None
        self._streaming = True
        self._retry_s = 0.0

    def open(self) -> Flow[None]:
        """Connect, so that nothing is missed from now on."""
        while not self._ready and not self._events:
            yield from self._step()

    def next(self) -> Flow[Event]:
        """The next event, whenever it comes."""
        while not self._events:
            yield from self._step()
        event = self._events.popleft()
        self.position = event.number
        return event

    def close(self) -> Flow[None]:
        """Close the connection. The feed can go on afterwards: it connects again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            yield from close(connection.opened)

    def _step(self) -> Flow[None]:
        """Read once, from wherever events come at the moment."""
        moment = yield from now()
        again = moment.seconds >= self._support.stream_again_at
        self._streaming = self._connection is not None or again
        try:
            if self._streaming:
                yield from self._read_stream()
            else:
                yield from self._read_list()
        except BullionError as error:
            yield from self._recover(error)

    # --- The stream ---------------------------------------------------------------------------------------

    def _read_stream(self) -> Flow[None]:
        if self._connection is not None and self._connection.taking:
            yield from self.close()
        if self._connection is None:
            self._connection = yield from self._connect()
        connection = self._connection
        request = connection.opened.response.request
        connection.taking = True
        try:
            chunk = yield from take(connection.opened)
        except httpx.ReadTimeout as error:
            if connection.on_trial and connection.heard:
                yield from self.close()
                return
            if connection.heard:
                raise no_answer(request, error) from error
            raise self._nothing_came(connection.on_trial, request, error) from error
        except httpx.RequestError as error:
            raise no_answer(request, error) from error
        connection.taking = False
        if not chunk:
            raise NoAnswer(str(request.url), "the stream ended")
        connection.heard = self._support.stream_works = True
        self._understand(connection, chunk)
        moment = yield from now()
        # Where a stream without a position begins is known from its first id, or its first event.
        begins = not self._ready and self._read_to is not None
        self._ready = self._ready or begins
        if begins or self._events or moment.seconds - connection.began >= _HEALTHY_S:
            self._tries = None

    def _connect(self) -> Flow[_Connection]:
        on_trial = not self._support.stream_works
        request = self._calls.stream_request(self._read_to, FIRST_BYTES_S if on_trial else SILENCE_S)
        try:
            opened = yield from open_response(request)
        except httpx.ReadTimeout as error:
            raise self._nothing_came(on_trial, request, error) from error
        except httpx.RequestError as error:
            raise no_answer(request, error) from error
        response = opened.response
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if response.status_code == httpx.codes.OK and kind == "text/event-stream":
            moment = yield from now()
            return _Connection(opened, on_trial, moment.seconds)
        refused = yield from _whole(request, opened)
        accepted(refused)
        raise unexpected(refused, "it is not an event stream", "Check base_url, and any proxy on the way")

    def _nothing_came(self, on_trial: bool, request: httpx.Request, error: httpx.ReadTimeout) -> BullionError:
        """The error for a stream without a byte. If streams have worked before, the next one is on trial."""
        self._support.stream_works = False
        return _held_back(request) if on_trial else no_answer(request, error)

    def _understand(self, connection: _Connection, chunk: bytes) -> None:
        reader, response = connection.reader, connection.opened.response
        try:
            messages = reader.feed(chunk)
        except TooLong:
            raise unexpected(response, "an event in it does not end", MISSING) from None
        if reader.retry_ms is not None:
            self._retry_s = reader.retry_ms / 1000
        if self._read_to is None and not messages and reader.last_id is not None:
            self._begin_at(reader.last_id)
        for message in messages:
            if message.event == "end":
                log.debug("the service ends the stream: %s", message.data)
            else:
                self._accept_message(response, message)

    def _begin_at(self, last_id: str) -> None:
        if re.fullmatch("[0-9]{1,18}", last_id):
            self._read_to = self.position = int(last_id)

    def _accept_message(self, response: httpx.Response, message: Message) -> None:
        event = read_event(event_answer(response, message.data))
        if self._read_to is None or event.number > self._read_to:
            problem = gap_after(self._read_to, [event.number])
            if problem:
                raise unexpected(response, problem, MISSING)
            self._accept(event)

    def _accept(self, event: Event) -> None:
        self._events.append(event)
        self._read_to = event.number

    # --- The list -----------------------------------------------------------------------------------------

    def _read_list(self) -> Flow[None]:
        moment = yield from now()
        tries = self._calls.tries(moment.seconds, 0.0)
        if self._read_to is None:
            self._read_to = self.position = yield from self._calls.newest(tries)
        elif not self._ready:
            # Whether there is a list at all shows without being held.
            yield from self._take_page(self._calls.page(self._read_to, EVENT_LIMIT_MAX, 0), tries)
        else:
            held = self._calls.page(self._read_to, EVENT_LIMIT_MAX, HOLD_S)
            yield from self._take_page(held, tries)
            ended = yield from now()
            if not self._events and ended.seconds - moment.seconds < _QUICK_S:
                yield from sleep(_QUICK_S * (1 + self._calls.chance()))
        self._ready, self._tries = True, None

    def _take_page(self, call: Call[EventPage], tries: Tries) -> Flow[None]:
        page = yield from call.once(tries)
        for event in page.items:
            self._accept(event)

    # --- Breaks -------------------------------------------------------------------------------------------

    def _recover(self, error: BullionError) -> Flow[None]:
        """Return, after a pause, if it makes sense to go on. Otherwise raise the error."""
        yield from self.close()
        moment = yield from now()
        if self._streaming and _says_no_stream(error):
            log.debug("events are read from the list, because of the stream: %s", str(error))
            self._support.stream_again_at = moment.seconds + STREAM_AGAIN_S
            return
        verdict = judge_read(error)
        if not verdict.again:
            raise error
        if self._tries is None:
            deadline_s = self._deadline_s if self._ready else self._calls.deadline_s
            self._tries = self._calls.tries(moment.seconds, deadline_s)
        pause = self._tries.pause(verdict, moment.seconds)
        if pause is None:
            raise error
        if self._ready and self._streaming:
            # All streams of a node that stops end at once: they should not all come back at once.
            pause = max(pause, self._retry_s * self._calls.chance())
        log.debug("reading events after %s again in %.2f s: %s", self._read_to, pause, error)
        yield from sleep(pause)


def _held_back(request: httpx.Request) -> UnexpectedAnswer:
    return UnexpectedAnswer(
        f"no bytes of the stream came within {FIRST_BYTES_S:g} s",
        "A proxy on the way seems to hold it back",
        str(request.url),
    )


def _whole(request: httpx.Request, opened: OpenResponse) -> Flow[httpx.Response]:
    """The response with its body, as far as a refusal needs it; closed."""
    body = b""
    try:
        while len(body) < _ERROR_BYTES_MAX and (chunk := (yield from take(opened))):
            body += chunk
    except httpx.RequestError as error:
        raise no_answer(request, error) from error
    yield from close(opened)
    headers = {
        name: value
        for name, value in opened.response.headers.items()
        if name not in ("content-encoding", "content-length", "transfer-encoding")
    }
    return httpx.Response(opened.response.status_code, headers=headers, content=body, request=request)


def _says_no_stream(error: BullionError) -> bool:
    """Whether there is no stream for this client now, or none that can be used. The list may be there."""
    if isinstance(error, Refusal):
        return error.status in _NOT_THERE or error.code == "too_many_streams"
    return isinstance(error, UnexpectedAnswer)
