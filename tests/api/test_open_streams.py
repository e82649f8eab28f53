"""What is done for all open streams: heartbeats, checks of callers, shared reads. Connections are fakes."""

import asyncio
from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from typing import Any

import pytest
from msgspec.structs import replace

from bullion.api import event_stream, open_streams
from bullion.api.event_stream import EventStreams
from bullion.api.gate import Caller
from bullion.api.open_streams import OpenStream, OpenStreams, StreamKind
from bullion.api.request import Request
from bullion.catalogue.source import Changes
from bullion.events.event import AccountEvent, EventsGone, EventType
from bullion.events.reader import Start
from bullion.events.watch import EventWatch
from bullion.faults import StoreUnavailable
from bullion.web.calls import Call
from bullion.web.event_stream import EventStream, StreamEnd
from bullion.web.response import StreamResponse

from .test_gate import ACCOUNT, Fixture, S

pytestmark = pytest.mark.anyio

ADDRESS = "203.0.113.7"


class Line:
    """A connection whose client reads when the test says so."""

    def __init__(self) -> None:
        self.write_paused = False
        self.received = b""
        self.stream = EventStream(self)
        self._closed = False

    def write(self, data: bytes) -> None:
        assert not self.write_paused, "written to a client that is behind"
        self.received += data

    def end_stream(self) -> None:
        self._closed = True

    def is_closed(self) -> bool:
        return self._closed

    def numbers(self) -> list[int]:
        lines = self.received.split(b"\n")
        return [int(line[4:]) for line in lines if line.startswith(b"id: ")]


class Plain(OpenStream):
    kind = StreamKind.QUOTES


class Streams(Fixture):
    """A gate, and streams that passed it."""

    def __init__(self) -> None:
        super().__init__()
        self.streams = OpenStreams(self.gate, per_key=5)
        self.version = 1
        self.catalogue.clients.complete = True

    def request(self, key_id: str | None = None, **headers: str) -> Request:
        if key_id is None:
            self.key()
            key_id = list(self.catalogue.keys)[-1]
        call = Call(b"0" * 24, "GET", address=ADDRESS)
        caller = Caller(self.catalogue.keys[key_id], ACCOUNT, self.catalogue.switches_of("main"), None)
        sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {"query_string": b"", "headers": sent}
        return Request(call, caller, scope, receive=never)

    def open(self, key_id: str | None = None) -> tuple[Line, str]:
        line, request = Line(), self.request(key_id)
        Plain(self.streams, request, line.stream)
        return line, request.caller.key.key_id

    def change(self, key_id: str, **fields: Any) -> None:
        self.version += 1
        key = replace(self.catalogue.keys[key_id], **fields)
        self.catalogue.apply(Changes(self.version, self.store_now_us(), [key]), self.clock())

    async def check(self) -> None:
        await self.streams._check()


async def never() -> Any:
    raise AssertionError("a stream reads no body")


async def test_every_stream_has_one_heartbeat_in_fifteen_seconds() -> None:
    it = Streams()
    lines = []
    for _ in range(3):
        lines.append(it.open()[0])
        it.streams._beat()
    lines[1].write_paused = True
    for _ in range(open_streams._SLOTS):
        it.streams._beat()
    assert [line.received for line in lines] == [b": \n\n", b"", b": \n\n"]
    assert pytest.approx(open_streams.HEARTBEAT_S) == open_streams._SLOTS * open_streams._TICK_S


async def test_nothing_is_done_while_no_stream_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_streams, "_TICK_S", 0.001)
    it = Streams()
    beats: list[None] = []
    monkeypatch.setattr(it.streams, "_beat", lambda: beats.append(None))
    running = asyncio.create_task(it.streams.run())
    await asyncio.sleep(0.05)
    assert not beats
    for _ in range(2):  # Again after the last stream was closed.
        line, key_id = it.open()
        await asyncio.sleep(0.05)
        assert beats
        it.change(key_id, revoked_at_us=1)
        await asyncio.sleep(0.05)
        assert line.is_closed()
        beats.clear()
        await asyncio.sleep(0.05)
        assert not beats
    running.cancel()


CHANGES: dict[str, dict[str, Any]] = {
    "address_not_allowed": {"allowed_addresses": (ip_network("198.51.100.0/24"),)},
    "insufficient_scope": {"scopes": frozenset()},
    "credential_revoked": {"revoked_at_us": 1},
}


@pytest.mark.parametrize("code", CHANGES)
async def test_a_caller_who_is_refused_now_is_told_at_the_next_check(code: str) -> None:
    it = Streams()
    (line, key_id), (other, _) = it.open(), it.open()
    await it.check()
    assert not line.is_closed()
    it.change(key_id, allowed_addresses=(ip_network(f"{ADDRESS}/32"),))
    await it.check()
    assert not line.is_closed()
    it.change(key_id, **CHANGES[code])
    await it.check()
    assert line.is_closed()
    assert line.received.startswith(b'event: end\ndata: {"code":"%b","message":"' % code.encode())
    assert not other.is_closed()
    assert it.streams.counts.open[StreamKind.QUOTES] == 1
    assert it.streams.counts.ended[StreamKind.QUOTES, StreamEnd.REFUSED] == 1


async def test_an_expiry_needs_no_change() -> None:
    it = Streams()
    line, key_id = it.open()
    it.change(key_id, expires_at_us=it.store_now_us() + 5_000_000)
    for _ in range(4):
        await it.check()
        it.clock.now_ns += S
    assert not line.is_closed()
    it.clock.now_ns += S
    await it.check()
    assert line.is_closed()
    assert b"credential_expired" in line.received


async def test_without_the_store_streams_end_when_memory_is_no_longer_believed() -> None:
    it = Streams()
    line, _ = it.open()
    it.clock.now_ns += 30 * S
    await it.check()
    assert not line.is_closed()
    it.clock.now_ns += 1
    await it.check()
    assert line.is_closed()
    assert b"service_unavailable" in line.received


async def test_a_key_that_was_evicted_from_memory_is_looked_up() -> None:
    it = Streams()
    line, key_id = it.open()
    it.catalogue.clients.complete = False
    it.arriving.append(it.catalogue.keys.pop(key_id))
    await it.check()
    assert it.looked_up == [key_id]
    assert not line.is_closed()
    del it.catalogue.keys[key_id]
    it.cut_off = True
    other = it.open()[1]
    it.change(other, name="another name")
    await it.check()
    assert line.is_closed()
    assert b"service_unavailable" in line.received


# --- Events ---------------------------------------------------------------------------------------------


class Store:
    """Events of one book, which a test adds; counts what is read."""

    def __init__(self) -> None:
        self.last = 0
        self.starts: list[list[Start]] = []
        self.fails = 0
        self.broken = -1

    @property
    def reads(self) -> list[int]:
        return [after for starts in self.starts for _, after in starts]

    async def range(self, _book_id: int) -> tuple[int, int]:
        return 1, self.last

    async def read(self, book_id: int, after: int | None, limit: int) -> Sequence[AccountEvent]:
        assert after is not None
        if self.fails:
            self.fails -= 1
            raise StoreUnavailable
        if after > self.last:
            raise EventsGone(1, self.last)
        numbers = range(after + 1, min(self.last, after + limit) + 1)
        return [AccountEvent(book_id, each, EventType.TRADING_HALTED, each, detail={}) for each in numbers]

    async def read_many(
        self, starts: Sequence[Start], limit: int
    ) -> Sequence[Sequence[AccountEvent] | EventsGone]:
        self.starts.append(list(starts))
        return [await self._page(book_id, after, limit) for book_id, after in starts]

    async def _page(self, book_id: int, after: int, limit: int) -> Sequence[AccountEvent] | EventsGone:
        if book_id == self.broken:
            raise ValueError("a row that cannot be read")
        try:
            return await self.read(book_id, after, limit)
        except EventsGone as gone:
            return gone

    async def newest(self, book_ids: Sequence[int]) -> Mapping[int, int]:
        return dict.fromkeys(book_ids, self.last)


class Feeds(Streams):
    def __init__(self) -> None:
        super().__init__()
        self.store = Store()
        self.watch = EventWatch(self.store)
        self.events = EventStreams(self.store, self.watch, self.streams)

    async def follow(self, after: int, account_id: int = 1) -> Line:
        request = self.request(last_event_id=str(after))
        request.caller.account = replace(ACCOUNT, id=account_id)
        response = await self.events.open(request)
        assert isinstance(response, StreamResponse)
        line = Line()
        line.write(response.body)
        response.opened(line.stream)
        return line

    async def happen(self, number: int) -> None:
        """That many events more, and time to send them."""
        self.store.last += number
        await self.watch._look()
        await self.settle()

    async def settle(self) -> None:
        while self.events._news:
            await self.events.send_round()


async def test_streams_at_one_place_share_each_read() -> None:
    it = Feeds()
    it.store.last = 10
    lines = [await it.follow(10) for _ in range(150)]
    behind = [await it.follow(4) for _ in range(3)]
    await it.watch._look()
    await it.settle()
    assert it.store.reads == [4]
    await it.happen(2)
    assert it.store.reads == [4, 10]
    assert all(line.numbers() == [10, 11, 12] for line in lines)
    assert all(line.numbers() == list(range(4, 13)) for line in behind)
    assert it.streams.counts.sent[StreamKind.EVENTS] == 150 * 2 + 3 * 8


async def test_a_client_that_is_behind_holds_up_nobody_and_misses_nothing() -> None:
    it = Feeds()
    slow, quick = await it.follow(0), await it.follow(0)
    await it.happen(1)
    slow.write_paused = True
    await it.happen(2)
    await it.happen(3)
    assert quick.numbers() == [0, 1, 2, 3, 4, 5, 6]
    assert slow.numbers() == [0, 1]
    slow.write_paused = False
    slow.stream.on_writable()
    await it.settle()
    assert slow.numbers() == quick.numbers()
    await it.happen(1)
    assert slow.numbers() == quick.numbers() == list(range(8))


async def test_a_client_that_catches_up_while_others_are_written_to_gets_nothing_twice() -> None:
    it = Feeds()
    lines = [await it.follow(0) for _ in range(250)]
    for line in lines[::2]:
        line.write_paused = True
    it.store.last += 1
    await it.watch._look()
    sending = asyncio.create_task(it.events.send_round())
    await asyncio.sleep(0)
    for line in lines:
        line.write_paused = False
        line.stream.on_writable()
    await sending
    await it.happen(1)
    assert [line.numbers() for line in lines] == [[0, 1, 2]] * 250


async def test_a_long_history_is_sent_page_by_page() -> None:
    it = Feeds()
    it.store.last = 250
    line = await it.follow(0)
    await it.watch._look()
    assert await it.events.send_round() == 0.0
    assert line.numbers() == list(range(101))
    await it.settle()
    assert it.store.reads == [0, 100, 200]
    assert line.numbers() == list(range(251))


async def test_all_accounts_share_a_read_and_one_that_is_broken_harms_no_other() -> None:
    it = Feeds()
    lines = [await it.follow(0, account_id) for account_id in range(1, 61)]
    await it.happen(1)
    assert [len(starts) for starts in it.store.starts] == [50, 10]
    assert all(line.numbers() == [0, 1] for line in lines)
    it.store.broken = list(it.events._feeds)[7]
    await it.happen(1)
    assert [number for number, line in enumerate(lines) if line.is_closed()] == [7]
    assert b"internal_error" in lines[7].received
    assert [line.numbers() for line in lines[:7] + lines[8:]] == [[0, 1, 2]] * 59


async def test_a_store_that_is_away_for_a_moment_costs_nothing() -> None:
    it = Feeds()
    line = await it.follow(0)
    it.store.fails = 3
    it.store.last += 2
    await it.watch._look()
    while it.store.fails:
        assert await it.events.send_round() == event_stream._RETRY_S
    await it.settle()
    assert line.numbers() == [0, 1, 2]
    assert not line.is_closed()


async def test_a_store_that_was_restored_ends_the_streams() -> None:
    it = Feeds()
    it.store.last = 9
    line = await it.follow(9)
    await it.watch._look()
    it.store.last = 5
    await it.watch._look()
    await it.settle()
    assert line.is_closed()
    assert b'event: end\ndata: {"code":"events_gone"' in line.received


async def test_an_error_of_ours_ends_the_streams_of_that_book_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    it = Feeds()
    line = await it.follow(0)

    def fail(_event: AccountEvent) -> bytes:
        raise ValueError("a bug")

    monkeypatch.setattr(event_stream, "_encode", fail)
    await it.happen(1)
    assert line.is_closed()
    assert b"internal_error" in line.received


async def test_nothing_is_watched_without_streams() -> None:
    it = Feeds()
    first, second = await it.follow(0), await it.follow(0)
    (book_id,) = it.events._feeds
    assert it.watch.is_watched(book_id)
    first.stream.finish(StreamEnd.LEFT)
    assert it.watch.is_watched(book_id)
    second.stream.finish(StreamEnd.LEFT)
    assert not it.watch.is_watched(book_id)
    assert it.events._feeds == {}
    await asyncio.sleep(0)
    assert it.streams.counts.open[StreamKind.EVENTS] == 0
