"""`GET {base}/events/stream`: what happens to an account, as it happens.

Streams of a book that are at the same event share one read and one encoding of what follows. All books share
the round trip of the read.
"""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

import structlog

from bullion.events.event import AccountEvent, EventsGone
from bullion.events.reader import EventReader, Start
from bullion.events.watch import EventWatch
from bullion.faults import StoreFault, StoreUnavailable
from bullion.refusals.catalogue import EVENTS_GONE, INTERNAL_ERROR
from bullion.refusals.refusal import RefusalCode
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
_STARTS_AT_ONCE = 50
"""Books and positions of one read."""
_READS_AT_ONCE = 4
"""Many clients that connect again at once must not take the store's connections from orders."""
_WRITES_AT_ONCE = 100
"""After so many streams were written to, other work has its turn."""
_PAUSE_S = 0.2
"""Between two rounds: what happens in this time, to any account, is read and sent together."""
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
    """The streams of one book. It exists while there are any."""

    def __init__(self, owner: "EventStreams", book_id: int) -> None:
        self._owner = owner
        self._book_id = book_id
        self._streams: set[AccountStream] = set()
        self._at: dict[int, set[AccountStream]] = {}
        """By position. Streams whose client is behind are left out."""
        self._newest = -1
        """The newest number of the book; -1 until it is known."""
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
        self._tell_owner()

    def _take_out(self, stream: AccountStream) -> None:
        there = self._at.get(stream.position)
        if there is not None:
            there.discard(stream)
            if not there:
                del self._at[stream.position]

    def _see(self, newest: int) -> None:
        if newest < self._newest:  # The store was restored to an older state.
            for stream in [each for each in self._streams if each.position > newest]:
                stream.refuse(EVENTS_GONE)
        self._newest = newest
        self._tell_owner()

    def _tell_owner(self) -> None:
        if any(position < self._newest for position in self._at):
            self._owner.add_news(self._book_id)

    def starts(self) -> list[Start]:
        """Where to read on.

        A position may be beyond what is known to be the newest, because a read finds what came meanwhile.
        """
        return [(self._book_id, each) for each in self._at if each < self._newest]

    async def send(self, position: int, events: Sequence[AccountEvent]) -> None:
        """Send the events after this position to the streams that are there."""
        if events:
            data = b"".join([_encode(event) for event in events])
            for number, stream in enumerate(list(self._at.get(position, ())), 1):
                self._take_out(stream)
                # One that is behind goes on from its position once it is writable.
                if stream.wire.open and not stream.wire.behind:
                    stream.position = events[-1].number
                    stream.send(data, len(events))
                    self._at.setdefault(stream.position, set()).add(stream)
                if not number % _WRITES_AT_ONCE:
                    await asyncio.sleep(0)
            self._tell_owner()

    def refuse(self, position: int, refusal: RefusalCode) -> None:
        for stream in list(self._at.get(position, ())):
            stream.refuse(refusal)


class EventStreams:
    """Of all accounts, in both environments. One task sends what is new, in rounds."""

    def __init__(self, reader: EventReader, watch: EventWatch, streams: OpenStreams) -> None:
        self._reader = reader
        self.watch = watch
        self._streams = streams
        self._feeds: dict[int, BookFeed] = {}
        self._reads = asyncio.Semaphore(_READS_AT_ONCE)
        self._news: dict[int, None] = {}
        """Books that have events to send, in the order in which they were told."""
        self._woken = asyncio.Event()

    async def open(self, request: Request) -> Response:
        key_id = request.caller.key.key_id
        self._streams.require_room(key_id)
        after = read_stream_position(request.scope["query_string"], request.scope["headers"])
        book_id = book_id_of(request)
        async with self._reads:
            position = await self._position(book_id, after)
        self._streams.require_room(key_id)  # Others of the key may have been opened meanwhile.
        first = b"%bid: %d\n: \n\n" % (RETRY_LINE, position)
        return stream_response(first, partial(self._join, request, book_id, position))

    def add_news(self, book_id: int) -> None:
        self._news[book_id] = None
        self._woken.set()

    def forget(self, book_id: int) -> None:
        del self._feeds[book_id]

    async def run(self) -> None:
        """Run for as long as the node does."""
        while True:
            await self._woken.wait()
            try:
                pause_s = await self.send_round()
            except Exception:  # noqa: BLE001 - the node must not stop because of its streams
                _log.exception("streams_failed")
                pause_s = _RETRY_S
            await asyncio.sleep(pause_s)

    async def send_round(self) -> float:
        """Send what is new by now, at most a page to each stream. In how many seconds to send again."""
        self._woken.clear()
        news, self._news = self._news, {}
        feeds = [feed for book_id in news if (feed := self._feeds.get(book_id)) is not None]
        starts = [start for feed in feeds for start in feed.starts()]
        pause_s = _PAUSE_S
        for first in range(0, len(starts), _STARTS_AT_ONCE):
            chunk = starts[first : first + _STARTS_AT_ONCE]
            for start, page in zip(chunk, await self._read(chunk), strict=True):
                if isinstance(page, StoreFault):
                    self.add_news(start[0])  # The watch logs that the store is away.
                    pause_s = _RETRY_S
                    continue
                await self._send_page(*start, page)
                if not isinstance(page, Exception) and len(page) == _PAGE:
                    pause_s = min(pause_s, 0.0)  # The client catches up.
        return pause_s

    async def _read(self, starts: Sequence[Start]) -> Sequence[Sequence[AccountEvent] | Exception]:
        """All at once, or if that fails, each for itself: one account must not hold up the others."""
        try:
            return await self._reader.read_many(starts, _PAGE)
        except Exception as error:  # noqa: BLE001 - told by what is returned
            if len(starts) == 1:
                if not isinstance(error, StoreFault):
                    _log.exception("event_stream_failed", book_id=starts[0][0])
                return [error]
        return [(await self._read([start]))[0] for start in starts]

    async def _send_page(self, book_id: int, position: int, page: Sequence[AccountEvent] | Exception) -> None:
        feed = self._feeds.get(book_id)
        if feed is None:
            return
        if isinstance(page, Exception):
            feed.refuse(position, EVENTS_GONE if isinstance(page, EventsGone) else INTERNAL_ERROR)
            return
        try:
            await feed.send(position, page)
        except Exception:  # noqa: BLE001 - these clients connect again, and the others are not affected
            _log.exception("event_stream_failed", book_id=book_id)
            feed.refuse(position, INTERNAL_ERROR)

    def _join(self, request: Request, book_id: int, position: int, wire: EventStream) -> None:
        feed = self._feeds.get(book_id)
        if feed is None:
            feed = self._feeds[book_id] = BookFeed(self, book_id)
        feed.join(AccountStream(feed, self._streams, request, position, wire))

    async def _position(self, book_id: int, after: int | None) -> int:
        """Where the stream begins. May raise RefusalError."""
        if after is None:
            found = await self._reader.newest([book_id])
            if book_id not in found:
                raise StoreUnavailable("a book is missing from the store")
            return found[book_id]
        try:
            await self._reader.read(book_id, after, 1)
        except EventsGone as gone:
            raise events_gone(gone) from None
        return after


def _encode(event: AccountEvent) -> bytes:
    return server_sent_event(event_json(event), event.type.value, event.number)
