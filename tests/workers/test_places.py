"""The places as the parent of the workers keeps them."""

import asyncio
import json
import os
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from structlog.testing import capture_logs

from bullion.web.hand_over import HandedOver, Outcome
from bullion.workers.place import ENVIRON, WorkerPlace
from bullion.workers.places import Places


@pytest.fixture
def places() -> Iterator[Places]:
    places = Places()
    places.grow(2)
    places.spread_over(2)
    yield places
    places.shrink(0)


def worker_at(places: Places, place: int, count: int = 2) -> WorkerPlace:
    """As a process of its own would have it: with descriptors of its own."""
    environ, inherited = places.give(place, count)
    copies = {descriptor: os.dup(descriptor) for descriptor in inherited}
    given = json.loads(environ[ENVIRON])
    given |= {name: copies[given[name]] for name in ("table", "queue")}
    given["owners"] = [copies[each] for each in given["owners"]]
    worker = WorkerPlace.given({ENVIRON: json.dumps(given)})
    assert worker is not None
    return worker


def end(worker: WorkerPlace) -> None:
    for each in (worker._queue, *worker._owners):
        each.close()
    os.close(worker._table.descriptor)


def taken(worker: WorkerPlace, dropped: list[Outcome] | None = None) -> list[HandedOver]:
    """What is in the worker's queue."""
    found: list[HandedOver] = []

    async def take() -> None:
        worker.open(found.append, ([] if dropped is None else dropped).append)
        worker.leave()
        worker.close()

    asyncio.run(take())
    return found


def test_a_process_that_was_given_no_place_has_none() -> None:
    assert WorkerPlace.given({}) is None


def test_what_waits_at_a_place_that_is_removed_goes_to_the_first(places: Places) -> None:
    first, second = worker_at(places, 0), worker_at(places, 1)
    here, there = socket.socketpair()
    with closing(here), closing(there):
        places._table.serve(1, os.getpid())
        assert first.send(1, there.fileno(), b"as read") is Outcome.HANDED_OVER
        there.close()
        places.spread_over(1)
        places.shrink(1)
        # One that looked before, and sends only now, keeps its connection.
        places._table.serve(1, os.getpid())
        assert first.send(1, here.fileno(), b"late") is Outcome.QUEUE_FULL
        (moved,) = taken(first)
        assert moved[1:] == (b"as read", 0, False)
        with socket.socket(fileno=moved.descriptor) as received:
            received.sendall(b"the same connection")
        assert here.recv(100) == b"the same connection"
    end(first)
    end(second)


def test_one_that_the_first_does_not_take_is_logged(places: Places) -> None:
    first, second = worker_at(places, 0), worker_at(places, 1)
    here, there = socket.socketpair()
    with closing(here), closing(there), capture_logs() as logged:
        places._table.serve(1, os.getpid())
        assert first.send(1, there.fileno(), b"as read") is Outcome.HANDED_OVER
        there.close()
        first.shut()
        places.shrink(1)
        assert here.recv(100) == b""
    assert [entry["event"] for entry in logged] == ["connection_not_handed_over"]
    end(first)
    end(second)


def test_when_the_service_stops_what_was_sent_is_taken_and_nothing_more(places: Places) -> None:
    first, second = worker_at(places, 0), worker_at(places, 1)
    with socket.socket() as connection:
        places._table.serve(1, os.getpid())
        assert first.send(1, connection.fileno(), b"in time") is Outcome.HANDED_OVER
        places.shut()
        assert first.send(1, connection.fileno(), b"late") is Outcome.QUEUE_FULL
    (waited,) = taken(second)
    assert waited.received == b"in time"
    os.close(waited.descriptor)
    end(first)
    end(second)


@pytest.mark.parametrize("served", [0, 1])
def test_when_the_service_stops_what_waits_for_nobody_is_served_elsewhere(
    places: Places, served: int
) -> None:
    away = 1 - served
    workers = [worker_at(places, place) for place in range(2)]
    with socket.socket() as connection:
        for place in range(2):
            places._table.serve(place, 11 + place)
            assert workers[1 - place].send(place, connection.fileno(), b"%d" % place) is Outcome.HANDED_OVER
        places.forget(11 + away)
        places.shut()
        for place in range(2):
            places._table.serve(place, 11 + place)
            assert workers[1 - place].send(place, connection.fileno(), b"late") is Outcome.QUEUE_FULL
    found = taken(workers[served])
    assert [each.received for each in found] == [b"%d" % served, b"%d" % away]
    for each in found:
        os.close(each.descriptor)
    assert taken(workers[away]) == []
    for worker in workers:
        end(worker)


def test_a_place_is_cleared_for_the_process_that_had_it_alone(places: Places) -> None:
    places._table.serve(0, 11)
    places._table.serve(1, 12)
    places.forget(12)
    assert places._table.is_served(0)
    assert not places._table.is_served(1)
    places._table.serve(1, 13)  # The next one is quicker than the news of the end.
    places.forget(12)
    assert places._table.is_served(1)


def test_a_connection_that_finds_no_descriptor_is_counted_and_logged(places: Places) -> None:
    first, second = worker_at(places, 0), worker_at(places, 1)
    dropped: list[Outcome] = []

    async def receive() -> None:
        second.open(lambda _: pytest.fail("there was no descriptor"), dropped.append)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        lowest_free = os.dup(0)
        os.close(lowest_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
        try:
            assert not second._receive()
            assert not places._table.is_served(1)
            second._renew()
            assert not places._table.is_served(1)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        second._descriptor_max = lowest_free - 1
        second._renew()
        assert not places._table.is_served(1)
        second._descriptor_max = lowest_free
        second._renew()
        assert places._table.is_served(1)
        second.leave()
        second.close()

    here, there = socket.socketpair()
    places._table.serve(1, os.getpid())
    with closing(here), closing(there), capture_logs() as logged:
        assert first.send(1, there.fileno(), b"as read") is Outcome.HANDED_OVER
        there.close()
        asyncio.run(receive())
        assert here.recv(100) == b""
    assert dropped == [Outcome.LOST]
    assert [(entry["event"], entry["sender"]) for entry in logged] == [("handed_over_connection_lost", 0)]
    end(first)
    end(second)


def test_one_that_waited_for_long_is_closed(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = worker_at(places, 0), worker_at(places, 1)
    here, there = socket.socketpair()
    places._table.serve(1, os.getpid())
    with closing(here), closing(there):
        now_ns = time.monotonic_ns()
        with monkeypatch.context() as earlier:
            earlier.setattr(time, "monotonic_ns", lambda: now_ns - 10_000_000_001)
            assert first.send(1, there.fileno(), b"an order") is Outcome.HANDED_OVER
            earlier.setattr(time, "monotonic_ns", lambda: now_ns - 5_000_000_000)
            assert first.send(1, there.fileno(), b"another") is Outcome.HANDED_OVER
        there.close()
        dropped: list[Outcome] = []
        (served,) = taken(second, dropped)
        assert served.received == b"another"
        assert dropped == [Outcome.TOO_LATE]
        os.close(served.descriptor)
        assert here.recv(100) == b""
    end(first)
    end(second)


def test_one_that_left_before_it_was_opened_takes_nothing(places: Places) -> None:
    first, second, successor = (worker_at(places, place) for place in (0, 1, 1))
    with socket.socket() as connection:
        places._table.serve(1, os.getpid())
        assert first.send(1, connection.fileno(), b"as read") is Outcome.HANDED_OVER
    second.leave()
    assert taken(second) == []
    assert not places._table.is_served(1)
    (waited,) = taken(successor)
    assert waited.received == b"as read"
    os.close(waited.descriptor)
    for each in (first, second, successor):
        end(each)


def test_a_worker_does_not_send_to_a_place_that_it_does_not_know(places: Places) -> None:
    first = worker_at(places, 0)
    places.grow(3)
    places._table.serve(2, os.getpid())
    assert first.send(2, 0, b"") is Outcome.OWNER_AWAY
    assert not first.alone
    end(first)
