"""Connections that go from one worker to another: two servers in threads, real sockets between them."""

import asyncio
import resource
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from bullion.web.connections import ConnectionCount
from bullion.web.hand_over import HandOver, Outcome
from bullion.web.protocol import GuardedProtocol
from bullion.web.received_connection import ReceivedConnection, Receiver
from bullion.workers import place_table
from bullion.workers.place import WorkerPlace, owner
from bullion.workers.place_table import SERVED_NS, PlaceTable
from tests.support.scale import SCALE
from tests.web.wire import PATIENCE, SHORT, Served, Wire, chunk, refused, served_well, until

ACCOUNTS = {place: next(number for number in range(1, 99) if owner(number, 2) == place) for place in (0, 1)}
"""An account of each place."""
CONNECTIONS = 48 if SCALE == 1 else 2_000


def key(place: int) -> bytes:
    return b"X-API-Key: key_test.main.%016x.secret\r\n" % ACCOUNTS[place]


def get(place: int, path: bytes = b"/plain", more: bytes = b"") -> bytes:
    return b"GET %b HTTP/1.1\r\nHost: t\r\n%b%b\r\n" % (path, more, key(place))


def order(place: int, body: bytes = b"order", more: bytes = b"") -> bytes:
    head = b"POST /orders HTTP/1.1\r\nHost: t\r\n%bContent-Length: %d\r\n%b\r\n"
    return head % (key(place), len(body), more) + body


class Worker(Served):
    """A server with a place."""

    def __init__(
        self, number: int, table: PlaceTable, queues: list[tuple[socket.socket, socket.socket]], **limits: Any
    ) -> None:
        most = limits.pop("most", 10_000)
        self._ends = [queues[number][0].dup(), *(each[1].dup() for each in queues)]
        self.place = WorkerPlace(number, table, self._ends[0], self._ends[1:])
        self.outcomes: Counter[Outcome] = Counter()
        self.count = ConnectionCount(most, lambda _peer: False)
        hand_over = HandOver(self.place, lambda key_id: int(key_id, 16), self.outcomes)
        kinds = [type(each.__name__, (each,), dict(limits)) for each in (GuardedProtocol, ReceivedConnection)]
        more = {"count": self.count, "hand_over": hand_over}
        super().__init__(partial(kinds[0], **more), "uvloop")
        state = self.server.server_state
        make = partial(kinds[1], self.server.config, state, {}, **more)
        self.receiver = Receiver(self.place, make, self.count, state, self.outcomes)

    async def _app(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["path"] == "/loop":
            # The test asks for something to be done in the thread of the loop.
            getattr(self.receiver, scope["query_string"].decode())()
        await super()._app(scope, receive, send)

    def stop(self) -> None:
        super().stop()
        for end in self._ends:
            end.close()

    def do(self, name: str) -> None:
        """`open`, `leave` or `close`."""
        with Wire(self) as wire:
            wire.send(b"GET /loop?%b HTTP/1.1\r\nHost: t\r\n\r\n" % name.encode())
            served_well(wire, b"/loop:0")

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self.server.servers[0].get_loop()

    @property
    def calls(self) -> list[str]:
        return [each.path for each in self.seen if each.path != "/loop"]


class Workers:
    def __init__(self, **limits: Any) -> None:
        self.table = PlaceTable.make()
        self.table.count = 2
        self.queues = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
        for end in (end for pair in self.queues for end in pair):
            end.settimeout(0)
        self.first, self.second = (Worker(number, self.table, self.queues, **limits) for number in (0, 1))
        for each in (self.first, self.second):
            each.do("open")

    def stop(self) -> None:
        for each in (self.first, self.second):
            each.do("leave")
            each.stop()
        for end in (end for pair in self.queues for end in pair):
            end.close()

    def clear(self) -> None:
        until(lambda: self.first.connections + self.second.connections == 0)  # of tests before
        until(lambda: self.table.is_served(0) and self.table.is_served(1))
        for each in (self.first, self.second):
            each.seen.clear()
            each.outcomes.clear()
            each.gate.clear()


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """On a busy machine everybody stands still for seconds."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(place_table, "SERVED_NS", 60_000_000_000)
        yield


@pytest.fixture(scope="module")
def shared_workers(patience: None) -> Iterator[Workers]:
    workers = Workers()
    yield workers
    workers.stop()


@pytest.fixture
def workers(shared_workers: Workers) -> Workers:
    shared_workers.clear()
    return shared_workers


@pytest.fixture
def start() -> Iterator[Callable[..., Workers]]:
    running: list[Workers] = []

    def start_with(**limits: Any) -> Workers:
        running.append(Workers(**limits))
        return running[-1]

    yield start_with
    for each in running:
        each.stop()


@pytest.mark.slow
def test_calls_go_on_at_the_owner(workers: Workers) -> None:
    """Half of them send another call while the connection is on its way."""

    def call(number: int) -> None:
        with Wire(workers.first) as wire:
            wire.send(get(number % 2))
            if number % 4 < 2:
                wire.send(get(1, b"/second"))
            served_well(wire)
            if number % 4 < 2:
                served_well(wire, b"/second:0")
            served_well(wire.send(get(0, b"/third")), b"/third:0")

    before = descriptors()
    for batch in range(0, CONNECTIONS, 16):
        threads = [threading.Thread(target=call, args=(batch + number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert Counter(workers.second.calls) == {
        "/plain": CONNECTIONS // 2,
        "/second": CONNECTIONS // 4,
        "/third": CONNECTIONS // 2,
    }
    assert len(workers.first.calls) == CONNECTIONS // 2 + CONNECTIONS // 4 + CONNECTIONS // 2
    assert workers.first.outcomes == {Outcome.HANDED_OVER: CONNECTIONS // 2}
    assert not workers.second.outcomes
    until(lambda: workers.first.connections + workers.second.connections == 0)
    until(lambda: workers.first.count.open == workers.second.count.open == {})
    until(lambda: descriptors() <= before)


def descriptors() -> int:
    """The lowest number that is free tells whether some stayed open."""
    with socket.socket() as one_more:
        return one_more.fileno()


def test_a_connection_moves_at_its_first_call_alone(workers: Workers) -> None:
    with Wire(workers.first) as wire:
        served_well(wire.send(get(0)))
        served_well(wire.send(order(1)), b"/orders:5")
    assert workers.first.calls == ["/plain", "/orders"]
    with Wire(workers.first) as wire:
        served_well(wire.send(get(1)))
        served_well(wire.send(order(0)), b"/orders:5")
    assert workers.second.calls == ["/plain", "/orders"]


def test_orders_sent_ahead_are_answered_in_turn_at_the_owner(workers: Workers) -> None:
    with Wire(workers.first) as wire:
        wire.send(get(1, b"/gated"), order(1, b"one") + order(0, b"three") + order(1, b""))
        until(lambda: workers.second.calls == ["/gated"])
        workers.second.gate.set()
        for body in (b"/gated:0", b"/orders:3", b"/orders:5", b"/orders:0"):
            served_well(wire, body)
    assert workers.second.calls == ["/gated", "/orders", "/orders", "/orders"]


@pytest.mark.parametrize("cut", [1, 20, 40, -6, -5])
def test_a_head_in_pieces_moves_when_it_is_complete(workers: Workers, cut: int) -> None:
    whole = order(1)
    with Wire(workers.first) as wire:
        wire.send(whole[:cut], whole[cut:])
        served_well(wire, b"/orders:5")
    assert workers.second.calls == ["/orders"]
    assert not workers.first.calls


def test_the_rest_of_a_body_is_read_by_the_owner(workers: Workers) -> None:
    pieces = [chunk(b"abc"), chunk(b"defg") + b"0\r\n\r\n" + get(0)]
    head = get(1, b"/plain", b"Transfer-Encoding: chunked\r\n").replace(b"GET", b"POST")
    with Wire(workers.first) as wire:
        wire.send(head, *pieces, pause=0.02)
        served_well(wire, b"/plain:7")
        served_well(wire)
    assert len(workers.second.calls) == 2


def test_who_waits_for_100_continue_gets_it_once(workers: Workers) -> None:
    head, _, body = order(1, more=b"Expect: 100-continue\r\n").partition(b"\r\n\r\n")
    with Wire(workers.first) as wire:
        wire.send(head + b"\r\n\r\n")
        assert wire.answer().status == 100
        served_well(wire.send(body), b"/orders:5")
    assert workers.second.calls == ["/orders"]


def test_a_client_that_sends_no_more_gets_its_answer(workers: Workers) -> None:
    with Wire(workers.first) as wire:
        wire.send(get(1, b"/gated"))
        wire.socket.shutdown(socket.SHUT_WR)
        until(lambda: workers.second.calls == ["/gated"])
        workers.second.gate.set()
        served_well(wire, b"/gated:0")
        assert wire.rest() == b""


def test_a_client_that_leaves_meanwhile_does_no_harm(workers: Workers) -> None:
    for _ in range(8):
        wire = Wire(workers.first).send(get(1))
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wire.socket.close()
    until(lambda: workers.first.connections + workers.second.connections == 0)
    until(lambda: workers.second.count.open == {})
    with Wire(workers.first) as wire:
        served_well(wire.send(get(1)))


def test_reading_is_paused_while_the_owner_answers(workers: Workers) -> None:
    with Wire(workers.first) as wire:
        wire.send(get(1, b"/gated") + get(1))
        until(lambda: workers.second.calls == ["/gated"])
        wire.socket.settimeout(0.2)
        more_than_fits = get(1) * 400_000
        with pytest.raises(TimeoutError):
            wire.send(more_than_fits)
        workers.second.gate.set()
        wire.socket.settimeout(PATIENCE)
        served_well(wire, b"/gated:0")
        for _ in range(100):
            served_well(wire)


def test_large_heads_and_large_bodies(workers: Workers) -> None:
    filler = b"X: %b\r\n" % (b"x" * 15_000)
    with Wire(workers.first) as wire:
        served_well(wire.send(order(1, more=filler)), b"/orders:5")
    assert workers.second.calls == ["/orders"]
    with Wire(workers.first) as wire:
        refused(wire.send(get(1, b"/plain", filler * 2)), 431, "headers_too_large")
    with Wire(workers.first) as wire:
        # Read in one piece or in several, and so served here or there.
        served_well(wire.send(order(1, b"x" * 500_000)), b"/orders:500000")
    assert len(workers.first.calls) == workers.first.outcomes[Outcome.TOO_LARGE]


@pytest.mark.parametrize("text", [b"", b"X-API-Key: nonsense\r\n", b"X-API-Key: key_test.main.12.x\r\n"])
def test_without_a_key_in_memory_it_stays(workers: Workers, text: bytes) -> None:
    body = key(1)
    head = b"POST /orders HTTP/1.1\r\nHost: t\r\n%bContent-Length: %d\r\n\r\n" % (text, len(body) + 2)
    with Wire(workers.first) as wire:
        served_well(wire.send(head + b"\r\n" + body), b"/orders:%d" % (len(body) + 2))
    assert workers.first.calls == ["/orders"]
    assert not workers.first.outcomes


def test_slow_senders_have_no_more_time_there(start: Callable[..., Workers]) -> None:
    workers = start(HEAD_SECONDS=SHORT, BODY_SECONDS=SHORT)
    with Wire(workers.first) as wire:
        refused(wire.send(get(1)[:-2]), 408, "request_timeout")
    with Wire(workers.first) as wire:
        refused(wire.send(order(1)[:-1]), 408, "request_timeout")
    assert workers.first.outcomes == {Outcome.HANDED_OVER: 1}


def test_the_limit_of_an_address_holds_and_nobody_is_cut_off_early(start: Callable[..., Workers]) -> None:
    workers = start(most=2)
    first, second = workers.first, workers.second
    until(lambda: first.count.open == second.count.open == {})
    wires = [Wire(first).send(get(1)) for _ in range(2)]
    for wire in wires:
        served_well(wire)
    assert second.count.open == {"127.0.0.1": 2}
    # There is no room at the owner. It is served where it came from, for good.
    wires.append(Wire(first).send(get(1)))
    served_well(wires[-1])
    served_well(wires[-1].send(order(1)), b"/orders:5")
    assert first.calls == ["/plain", "/orders"]
    until(lambda: second.outcomes == {Outcome.RETURNED: 1})  # It counts after it has sent.
    assert first.count.open == second.count.open | {"127.0.0.1": 1}
    wires.append(Wire(first).send(get(0)))
    served_well(wires[-1])
    # Neither has room now.
    with socket.create_connection(("127.0.0.1", first.port), PATIENCE) as one_more:
        with_nothing(one_more)
    assert second.count.open == {"127.0.0.1": 2}
    for wire in wires:
        served_well(wire.send(get(0)))
        wire.socket.close()
    until(lambda: first.count.open == second.count.open == {})


def test_one_that_finds_no_room_and_no_way_back_is_closed(start: Callable[..., Workers]) -> None:
    workers = start(most=1)
    first, second = workers.first, workers.second
    until(lambda: first.count.open == second.count.open == {})
    with Wire(first) as at_owner:
        served_well(at_owner.send(get(1)))
        first.loop.call_soon_threadsafe(first.loop.remove_reader, first.place._queue)
        hold(first, lambda: fill(workers.queues[0][1]))
        with Wire(first) as one_more:
            with_nothing(one_more.send(get(1)).socket)
        hold(first, lambda: say_nothing(first))
        with Wire(first) as without_sender:  # Nobody else could serve it.
            served_well(without_sender.send(get(1)))
    assert second.calls == ["/plain", "/plain"]
    assert not second.outcomes


def fill(queue: socket.socket) -> None:
    with suppress(BlockingIOError):
        while True:
            queue.send(b"full")


def say_nothing(worker: Worker) -> None:
    """Let the worker be taken for one that hangs."""
    assert worker.place._renewing is not None
    worker.place._renewing.cancel()
    worker.place._table.leave(worker.place.number, worker.place._pid)


def with_nothing(connection: socket.socket) -> None:
    try:
        assert connection.recv(100) == b""
    except ConnectionError:
        return


def test_an_owner_that_leaves_gets_no_more_and_serves_what_it_got(start: Callable[..., Workers]) -> None:
    workers = start()
    first, second = workers.first, workers.second
    with Wire(first) as early, Wire(first) as late, Wire(second) as own:
        served_well(early.send(get(1)))
        second.do("leave")
        served_well(late.send(get(1)))
        served_well(early.send(get(1)))
        served_well(own.send(get(0)))  # Nor does it hand over to others.
        assert first.outcomes == {Outcome.HANDED_OVER: 1, Outcome.OWNER_AWAY: 1}
        assert len(second.calls) == 3
        # One that was sent in the moment in which it left.
        with Wire(first) as between:
            sends = between.socket
            workers.table.serve(1, 1)
            second.gate.set()
            hold(second, lambda: served_by_nobody(second, first, sends))
            workers.table.leave(1, 1)
            second.do("close")
            served_well(between)
    assert len(second.calls) == 4


def hold(worker: Worker, then: Callable[[], None]) -> None:
    """Do something while the worker stands still."""
    held, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        held.set()
        go_on.wait(PATIENCE)

    worker.loop.call_soon_threadsafe(wait)
    assert held.wait(PATIENCE)
    try:
        then()
    finally:
        go_on.set()


def served_by_nobody(second: Worker, first: Worker, connection: socket.socket) -> None:
    before = first.outcomes[Outcome.HANDED_OVER]
    connection.sendall(get(1))
    until(lambda: first.outcomes[Outcome.HANDED_OVER] == before + 1)
    second.loop.call_soon_threadsafe(second.loop.remove_reader, second.place._queue)


def test_a_successor_takes_over_what_waits(start: Callable[..., Workers]) -> None:
    """The worker is gone without a word. Its queue stays, as the parent has it open."""
    workers = start()
    first, second = workers.first, workers.second
    second.loop.call_soon_threadsafe(second.loop.remove_reader, second.place._queue)
    second.do("leave")
    workers.table.serve(1, 1)  # As if it still served.
    waiting = [Wire(first).send(get(1), pause=0) for _ in range(8)]
    until(lambda: first.outcomes[Outcome.HANDED_OVER] == 8)
    workers.table.leave(1, 1)
    successor = Worker(1, workers.table, workers.queues)
    try:
        successor.do("open")
        for wire in waiting:
            served_well(wire)
            wire.socket.close()
        assert len(successor.calls) == 8
        assert not second.calls
    finally:
        successor.do("leave")
        successor.stop()


def test_a_full_or_closed_queue_means_serving_it_here(start: Callable[..., Workers]) -> None:
    workers = start()
    first, second = workers.first, workers.second
    second.loop.call_soon_threadsafe(second.loop.remove_reader, second.place._queue)
    waiting: list[Wire] = []
    while not first.outcomes[Outcome.QUEUE_FULL]:
        waiting.append(Wire(first).send(order(1, b"x" * 20_000)))
        until(lambda: sum(first.outcomes.values()) == len(waiting))
        assert len(waiting) < 1000
    with waiting.pop() as kept_here:
        served_well(kept_here, b"/orders:20000")
    assert first.calls == ["/orders"]
    second.loop.call_soon_threadsafe(second.loop.add_reader, second.place._queue, second.place._receive)
    for wire in waiting:
        served_well(wire, b"/orders:20000")
        wire.socket.close()
    # The service stops: nothing more is taken, by any worker.
    second.place.shut()
    with Wire(first) as wire:
        served_well(wire.send(get(1)))
    assert first.outcomes[Outcome.QUEUE_FULL] == 2


def test_a_worker_that_hangs_is_away_after_a_while(
    start: Callable[..., Workers], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SERVED_NS == 2_000_000_000
    workers = start()
    monkeypatch.setattr(place_table, "SERVED_NS", 100_000_000)

    def call() -> None:
        workers.table.serve(1, workers.table.worker(1))
        until(lambda: not workers.table.is_served(1))
        with Wire(workers.first) as wire:
            served_well(wire.send(get(1)))

    hold(workers.second, call)
    assert workers.first.outcomes == {Outcome.OWNER_AWAY: 1}


def test_one_that_runs_out_of_descriptors_is_away(workers: Workers) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert workers.second.place._descriptor_max == limit - limit // 32
    before = workers.second.place._descriptor_max
    hold(workers.second, lambda: say_nothing(workers.second))  # Until the end of this test.
    workers.table.serve(1, workers.second.place._pid)
    workers.second.place._descriptor_max = 0
    try:
        with Wire(workers.first) as wire, Wire(workers.first) as next_one:
            served_well(wire.send(get(1)))
            assert not workers.table.is_served(1)
            served_well(next_one.send(get(1)))
    finally:
        workers.second.place._descriptor_max = before
        workers.second.loop.call_soon_threadsafe(workers.second.place._renew)
    assert workers.first.outcomes == {Outcome.HANDED_OVER: 1, Outcome.OWNER_AWAY: 1}
    until(lambda: workers.table.is_served(1))


def test_accounts_are_spread_evenly_and_stay_where_they_are() -> None:
    for count in (2, 3, 4, 8):
        places = Counter(owner(account_id, count) for account_id in range(1, 2001))
        assert sorted(places) == list(range(count))
        assert min(places.values()) > 0.8 * 2000 / count
    assert [owner(account_id, 4) for account_id in range(1, 9)] == [3, 1, 3, 0, 2, 0, 2, 3]
