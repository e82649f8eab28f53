"""`GET {base}/events/stream`: what happens to an account, as it happens.

Streams of a book that are at the same event share one read and one encoding of what follows.
"""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from time import monotonic

import structlog

from bullion.events.event import AccountEvent, EventsGone
from bullion.events.reader import EventReader
from bullion.events.watch import EventWatch
from bullion.faults import StoreFault, StoreUnavailable
from bullion.refusals.catalogue import EVENTS_GONE, INTERNAL_ERROR
from bullion.web.event_stream import EventStream, server_sent_event
from bullion.web.response import Response, stream_response

from .events import events_gone
from .list_query import read_stream_position
from .open_streams import RETRY_LINE, OpenStream, OpenStreams, StreamKind
from .orders import book_id_of
from .request import Request
from .wire.events import event_json

_PAGE = 100
"""Events of one read. About as many bytes as a client may leave unread before it counts as behind."""
_READS_AT_ONCE = 4
"""Many clients that connect again at once must not take the store's connections from orders."""
_WRITES_AT_ONCE = 100
"""After so many streams were written to, other work has its turn."""
_PAUSE_S = 0.2
"""Between two reads for a book: what a busy account does in this time is read and sent together."""
_RETRY_S = 0.5

_log = structlog.get_logger("streams")


class AccountStream(OpenStream):
    """A stream of the events of one account."""

    __slots__ = ("_feed", "position")

    kind = StreamKind.EVENTS

    def __init__(
        self, feed: "BookFeed", streams: OpenStreams, request: Request, position: int, wire: EventStream
    ) -> None:
        super().__init__(streams, request, wire)
        self._feed = feed
        self.position = position
        """The number of the last event that was sent."""

    def on_writable(self) -> None:
        self._feed.place(self)

    def on_end(self) -> None:
        self._feed.leave(self)


class BookFeed:
    """The streams of one book. It exists while there are any, and has a task only while there is news."""

    def __init__(self, owner: "EventStreams", book_id: int) -> None:
        self._owner = owner
        self._book_id = book_id
        self._streams: set[AccountStream] = set()
        self._at: dict[int, set[AccountStream]] = {}
        """By position. Streams whose client is behind are left out."""
        self._newest = -1
        """The newest number of the book; -1 until it is known."""
        self._sender: asyncio.Task[None] | None = None
        self._pause_until_s = 0.0
        self._restored = False
        """Whether the newest number went down: the store was restored to an older state."""
        self._watching = ExitStack()
        self._watching.enter_context(owner.watch.watch(book_id, self._see))

    def join(self, stream: AccountStream) -> None:
        self._streams.add(stream)
        self.place(stream)

    def leave(self, stream: AccountStream) -> None:
        self._streams.discard(stream)
        self._take_out(stream)
        if not self._streams:
            self._watching.close()
            self._owner.forget(self._book_id)

    def place(self, stream: AccountStream) -> None:
        """The stream can be sent what follows its position."""
        self._at.setdefault(stream.position, set()).add(stream)
        self._send_news()

    def _take_out(self, stream: AccountStream) -> None:
        there = self._at.get(stream.position)
        if there is not None:
            there.discard(stream)
            if not there:
                del self._at[stream.position]

    def _see(self, newest: int) -> None:
        if newest < self._newest:
            self._restored = True
        self._newest = newest
        self._send_news()

    def _send_news(self) -> None:
        if self._sender is None and self._waiting():
            self._sender = asyncio.create_task(self._send_all(), name="event stream")

    def _waiting(self) -> list[int]:
        """The positions after which there is something to read. Those nearest to the newest event come first.

        A position may be beyond what is known to be the newest: a read finds events that came meanwhile.
        """
        waiting = [place for place in self._at if place < self._newest or self._restored]
        return sorted(waiting, reverse=True)

    async def _send_all(self) -> None:
        try:
            while waiting := self._waiting():
                pause_s = self._pause_until_s - monotonic()
                if pause_s > 0:
                    await asyncio.sleep(pause_s)
                    waiting = self._waiting()
                self._restored = False
                for position in waiting:
                    await self._send_page(position)
        except Exception:  # noqa: BLE001 - the clients connect again, and the node goes on
            _log.exception("event_stream_failed", book_id=self._book_id)
            for stream in list(self._streams):
                stream.refuse(INTERNAL_ERROR)
        finally:
            self._sender = None

    async def _send_page(self, position: int) -> None:
        """Send the next events to the streams at this position."""
        try:
            events = await self._owner.read(self._book_id, position, _PAGE)
        except EventsGone:
            for stream in list(self._at.get(position, ())):
                stream.refuse(EVENTS_GONE)
            return
        except StoreFault:
            await asyncio.sleep(_RETRY_S)  # The watch has logged it, and callers are told when it goes on.
            return
        if len(events) < _PAGE:
            self._pause_until_s = monotonic() + _PAUSE_S
        if not events:
            return
        data = b"".join([_encode(event) for event in events])
        streams = self._at.pop(position, set())
        for number, stream in enumerate(streams, 1):
            # One that is behind goes on from its position once it is writable.
            if stream.wire.open and not stream.wire.behind:
                stream.position = events[-1].number
                stream.send(data, len(events))
                self._at.setdefault(stream.position, set()).add(stream)
            if not number % _WRITES_AT_ONCE:
                await asyncio.sleep(0)


class EventStreams:
    """Of all accounts, in both environments."""

    def __init__(self, reader: EventReader, watch: EventWatch, streams: OpenStreams) -> None:
        self._reader = reader
        self.watch = watch
        self._streams = streams
        self._feeds: dict[int, BookFeed] = {}
        self._reads = asyncio.Semaphore(_READS_AT_ONCE)

    async def open(self, request: Request) -> Response:
        key_id = request.caller.key.key_id
        self._streams.require_room(key_id)
        after = read_stream_position(request.scope["query_string"], request.scope["headers"])
        book_id = book_id_of(request)
        position = await self._newest(book_id) if after is None else await self._checked(book_id, after)
        self._streams.require_room(key_id)  # Others of the key may have been opened meanwhile.
        first = b"%bid: %d\n: \n\n" % (RETRY_LINE, position)
        return stream_response(first, partial(self._join, request, book_id, position))

    async def read(self, book_id: int, after: int, limit: int) -> Sequence[AccountEvent]:
        async with self._reads:
            return await self._reader.read(book_id, after, limit)

    def forget(self, book_id: int) -> None:
        del self._feeds[book_id]

    def _join(self, request: Request, book_id: int, position: int, wire: EventStream) -> None:
        feed = self._feeds.get(book_id)
        if feed is None:
            feed = self._feeds[book_id] = BookFeed(self, book_id)
        feed.join(AccountStream(feed, self._streams, request, position, wire))

    async def _newest(self, book_id: int) -> int:
        async with self._reads:
            found = await self._reader.newest([book_id])
        if book_id not in found:
            raise StoreUnavailable("a book is missing from the store")
        return found[book_id]

    async def _checked(self, book_id: int, after: int) -> int:
        try:
            await self.read(book_id, after, 1)
        except EventsGone as gone:
            raise events_gone(gone) from None
        return after


def _encode(event: AccountEvent) -> bytes:
    return server_sent_event(event_json(event), event.type.value, event.number)
