"""Events over real HTTP, with both clients: pages, streams, and whatever may happen to a connection."""

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

from bullion_client import (
    AsyncClient,
    Client,
    CredentialRefused,
    Event,
    EventPage,
    EventsGone,
    NoAnswer,
    UnexpectedAnswer,
    event_feed,
)
from tests.client.calls import TEST_KEY
from tests.client.event_server import EventServer, Fault, event_server
from tests.client.event_world import FIRST, told
from tests.support.scale import SCALE

Kind = type[Client | AsyncClient]


class Reader:
    """A client of either kind, to be used alike."""

    def __init__(self, kind: Kind, url: str, key: str = TEST_KEY, **options: Any) -> None:
        self._runner = asyncio.Runner() if kind is AsyncClient else None
        self.client: Any = kind(url, key, **options)
        # No test has to wait for a pause.
        self.client._chance = lambda: 0.0

    def run(self, made: Any) -> Any:
        """What a call returns, awaited where it must be."""
        return made if self._runner is None else self._runner.run(made)

    def page(self, *arguments: Any, **options: Any) -> Any:
        return self.run(self.client.event_page(*arguments, **options))

    def listed(self, *arguments: Any, **options: Any) -> list[int]:
        made = self.client.events(*arguments, **options)

        async def collected() -> list[Event]:
            return [each async for each in made]

        return [
            each.number for each in (list(made) if self._runner is None else self._runner.run(collected()))
        ]

    def stream(self, *arguments: Any, count: int, then: Any = None, **options: Any) -> list[int]:
        """The numbers of so many events; `then` is called when it is connected."""
        stream = self.client.stream(*arguments, **options)

        async def collected() -> list[int]:
            async with stream:
                if then is not None:
                    then()
                return [(await anext(stream)).number for _ in range(count)]

        if self._runner is not None:
            return self._runner.run(collected())
        with stream:
            if then is not None:
                then()
            return [next(stream).number for _ in range(count)]

    def close(self) -> None:
        if self._runner is None:
            self.client.close()
        else:
            self._runner.run(self.client.aclose())
            self._runner.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[EventServer]:
    with event_server() as server:
        yield server


@pytest.fixture
def server(shared: EventServer, monkeypatch: pytest.MonkeyPatch) -> EventServer:
    """With times that a test can wait for."""
    monkeypatch.setattr(event_feed, "FIRST_BYTES_S", 0.3)
    monkeypatch.setattr(event_feed, "SILENCE_S", 0.5)
    monkeypatch.setattr("bullion_client.retry._FIRST_PAUSE_S", 0.02)
    shared.newest, shared.oldest, shared.stream, shared.page_limit = 0, 1, True, 200
    shared.chance = None
    for each in (shared.faults, shared.list_faults, shared.opened, shared.listed):
        each.clear()
    return shared


@pytest.fixture
def reader(kind: Kind, server: EventServer) -> Iterator[Reader]:
    reader = Reader(kind, server.url)
    yield reader
    reader.close()


def test_a_page(reader: Reader, server: EventServer) -> None:
    server.newest = 5
    page = reader.page(2, limit=2)
    assert [each.number for each in page.items] == [3, 4]
    assert (page.next_after, page.has_more) == (4, True)
    assert reader.page(5) == EventPage((), 5, has_more=False)
    assert server.listed == ["after=2&limit=2", "after=5&limit=50"]


def test_all_pages(reader: Reader, server: EventServer) -> None:
    server.newest, server.oldest = 12, 3
    assert reader.listed(page_size=4) == list(range(3, 13))
    assert reader.listed(10) == [11, 12]
    assert reader.listed(12) == []
    assert len(server.listed) == 5


def test_with_a_wait_it_ends_when_nothing_happens(reader: Reader, server: EventServer) -> None:
    server.newest = 3
    assert reader.listed(1, wait=1) == [2, 3]
    assert server.listed == ["after=1&limit=200&wait=1", "after=3&limit=200&wait=1"]


def test_events_that_are_gone(reader: Reader, server: EventServer) -> None:
    server.newest, server.oldest = 12, 5
    for after in (1, 13):
        with pytest.raises(EventsGone) as caught:
            reader.listed(after)
        assert (caught.value.oldest, caught.value.newest, caught.value.status) == (5, 12, 410)
        with pytest.raises(EventsGone):
            reader.stream(after, count=1)
    assert reader.listed(caught.value.newest) == []


@pytest.mark.parametrize("begins_after", [0, 4])
def test_a_page_with_other_events_than_were_asked_for(
    reader: Reader, server: EventServer, begins_after: int
) -> None:
    server.newest = 6
    server.list_faults = [Fault(from_number=begins_after)]
    with pytest.raises(UnexpectedAnswer, match=f"after 2 comes {begins_after + 1}"):
        reader.listed(2)


@pytest.mark.parametrize(
    "options", [{"limit": 0}, {"limit": 201}, {"wait": 31}, {"wait": -1}, {"wait": 0.5}, {"after": -1}]
)
def test_arguments_that_no_service_takes(reader: Reader, server: EventServer, options: Any) -> None:
    name = next(iter(options))
    with pytest.raises(ValueError, match=f"{name} must be"):
        reader.page(**options)
    if name != "limit":
        with pytest.raises(ValueError, match=f"{name} must be"):
            reader.listed(**options)
    assert server.listed == []


def test_a_stream_gives_what_happens_from_now_on(reader: Reader, server: EventServer) -> None:
    server.newest = 7
    assert reader.stream(count=3, then=lambda: server.happen(3)) == [8, 9, 10]
    assert reader.stream(8, count=2) == [9, 10]
    assert server.opened == ["", "after=8"]


def test_every_cut_of_a_stream_leaves_no_gap_and_no_double(reader: Reader, server: EventServer) -> None:
    server.newest = 3
    length = len(told(2))
    cuts = [1, 10, 25, 26, 27, 40, length, length + 24, length + 25, length + 26, 2 * length - 1]
    server.faults = [Fault(cut_after=cut) for cut in cuts]
    assert reader.stream(0, count=3) == [1, 2, 3]
    assert 2 <= len(server.opened) <= len(cuts) + 1


@pytest.mark.parametrize("seed", range(2 if SCALE == 1 else 40))
def test_anything_that_may_happen_to_a_stream(
    reader: Reader, server: EventServer, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cuts, doubles, gaps, refusals that pass and silences, and the stream in pieces of any size."""
    chance = random.Random(seed)  # noqa: S311 - to be the same each time
    server.chance = chance
    monkeypatch.setattr(event_feed, "STREAM_AGAIN_S", 0.02)

    def fault() -> Fault:
        match chance.randint(0, 5):
            case 0:
                return Fault(503, "service_unavailable")
            case 1:
                return Fault(cut_after=chance.randint(0, 2_000), from_number=chance.randint(0, 20))
            case 2 if server.opened:
                return Fault(silent=True)
            case _:
                return Fault(cut_after=chance.randint(0, 3_000))

    server.newest = 20
    server.faults = [Fault(cut_after=500), *(fault() for _ in range(12))]
    server.list_faults = [Fault(cut_after=100), Fault(503, "service_unavailable")]
    assert reader.stream(0, count=20) == list(range(1, 21))


def test_a_silent_stream_is_replaced(reader: Reader, server: EventServer) -> None:
    server.newest = 1
    assert reader.stream(0, count=1) == [1]
    server.faults = [Fault(silent=True)]
    assert reader.stream(0, count=1) == [1]
    assert server.opened == ["after=0"] * 3
    assert server.listed == []


def test_a_stream_that_a_proxy_holds_back_is_left_for_the_list(reader: Reader, server: EventServer) -> None:
    server.newest = 2
    server.faults = [Fault(silent=True)]
    assert reader.stream(0, count=2) == [1, 2]
    assert (server.opened, server.listed) == (["after=0"], ["after=0&limit=200"])


def test_where_there_is_no_stream(reader: Reader, server: EventServer) -> None:
    server.newest, server.stream, server.page_limit = 7, False, 2
    assert reader.stream(count=5, then=lambda: server.happen(5)) == [8, 9, 10, 11, 12]
    assert len(server.opened) == 1


def test_a_revoked_key_ends_it(reader: Reader, server: EventServer) -> None:
    server.newest = 1
    server.faults = [Fault(cut_after=len(FIRST % 0 + told(1))), Fault(401, "credential_revoked")]
    with pytest.raises(CredentialRefused):
        reader.stream(0, count=2)


def test_a_service_that_is_not_there(kind: Kind) -> None:
    reader = Reader(kind, "http://127.0.0.1:1", deadline=0)
    with pytest.raises(NoAnswer):
        reader.stream(count=1)
    reader.close()


def test_an_event_that_is_not_awaited_to_the_end_comes_at_the_next_wait(server: EventServer) -> None:
    """A timeout around a wait loses nothing, wherever it strikes."""

    async def read() -> list[int]:
        numbers: list[int] = []
        async with AsyncClient(server.url, TEST_KEY) as client, client.stream(0) as stream:
            for step in range(10):
                server.happen()
                with_patience = 0.002 * step if step % 2 else 5.0
                try:
                    numbers.append((await asyncio.wait_for(anext(stream), with_patience)).number)
                except TimeoutError:
                    continue
            while len(numbers) < 10:
                numbers.append((await anext(stream)).number)
        return numbers

    assert asyncio.run(read()) == list(range(1, 11))


def test_streams_share_a_client_with_other_calls(server: EventServer) -> None:
    server.newest = 3
    with Client(server.url, TEST_KEY) as client, client.stream(0) as first, client.stream(1) as second:
        assert (next(first).number, next(second).number, next(first).number) == (1, 2, 2)
        assert [each.number for each in client.events(2)] == [3]
        assert (first.position, second.position) == (2, 2)
