"""Events of the real service: what each client reads is what the service has written, whatever breaks."""

import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from decimal import Decimal
from typing import Any

import httpx
import pytest

from bullion_client import (
    AllocationEvent,
    AsyncClient,
    Client,
    CredentialRefused,
    Environment,
    EventsGone,
    KeyEvent,
    OrderEvent,
    OrderStatus,
)
from tests.client.fixtures import Deployment
from tests.client.test_event_calls import Reader

Kind = type[Client | AsyncClient]


@pytest.fixture
def login(deployment: Deployment) -> str:
    return deployment.account()


@contextmanager
def reading(kind: Kind, deployment: Deployment, key: str, url: str | None = None) -> Iterator[Reader]:
    reader = Reader(kind, url or deployment.url, key)
    try:
        yield reader
    finally:
        reader.close()


def test_the_list_and_the_stream_tell_the_same(kind: Kind, deployment: Deployment, login: str) -> None:
    key = deployment.key(login)
    with Client(deployment.url, key) as trader, reading(kind, deployment, key) as reader:
        first = trader.buy("GOLD", 5)
        streamed = reader.stream(count=2, then=lambda: [trader.sell("GOLD", 1) for _ in range(2)])
        assert streamed == [2, 3]
        assert reader.listed() == reader.stream(0, count=3) == [1, 2, 3]
        assert reader.listed(1, page_size=1) == [2, 3]
        (event,) = reader.page(0, limit=1).items
        assert isinstance(event, OrderEvent)
        assert (event.data, event.type, event.environment) == (first, "order.created", Environment.TEST)
        with pytest.raises(EventsGone) as caught:
            reader.listed(4)
        assert (caught.value.oldest, caught.value.newest) == (1, 3)
        with pytest.raises(EventsGone):
            reader.stream(4, count=1)


def test_what_the_desk_does_is_told(deployment: Deployment, login: str) -> None:
    key = deployment.key(login)
    with Client(deployment.url, key) as client, client.stream() as stream:
        deployment.desk.do("PATCH", f"/accounts/{login}", {"allocation": {"gold": "7", "silver": "0"}})
        changed = next(stream)
        assert isinstance(changed, AllocationEvent)
        assert changed.data.gold.limit == Decimal(7)
        other = deployment.desk.key(login, "test")
        deployment.desk.do("POST", f"/keys/{other['key_id']}/revoke")
        revoked = next(stream)
        assert isinstance(revoked, KeyEvent)
        assert (revoked.type, revoked.data.key_id) == ("key.revoked", other["key_id"])


def test_a_revoked_key_ends_its_stream(kind: Kind, deployment: Deployment, login: str) -> None:
    issued = deployment.desk.key(login, "test")
    revoke = f"/keys/{issued['key_id']}/revoke"
    with reading(kind, deployment, issued["key"]) as reader:
        began = time.monotonic()
        with pytest.raises(CredentialRefused):
            # The event of the revocation itself may come before the end.
            reader.stream(count=5, then=lambda: deployment.desk.do("POST", revoke))
        assert time.monotonic() - began < 10


def test_a_pending_order_is_decided_while_it_is_waited_for(
    kind: Kind, deployment: Deployment, login: str
) -> None:
    key = deployment.key(login, Environment.PRODUCTION)
    reads: list[str] = []
    with reading(kind, deployment, key) as reader:
        client = reader.client

        def note(response: httpx.Response) -> httpx.Response:
            reads.append(response.request.url.path.rpartition("/")[2])
            return response

        client._note = note
        deployment.venue("hold")
        try:
            order = reader.run(client.buy("GOLD", 5))
            assert order.status == OrderStatus.PENDING
            fill = threading.Timer(0.7, deployment.venue, ["fill"])
            fill.start()
            done = reader.run(client.wait(order))
            fill.join()
        finally:
            deployment.venue("fill")
        assert (done.status, done.id) == (OrderStatus.OPEN, order.id)
        # Placed; where the events are; the order; held until the event; the order.
        assert reads == ["orders", "events", order.id, "events", order.id]
        reads.clear()
        assert reader.run(client.wait(order.id)).status == OrderStatus.OPEN
        assert reads == [order.id]


class CuttingProxy:
    """Carries bytes, and cuts each of its first connections after some bytes of the response."""

    def __init__(self, to: tuple[str, int], chance: random.Random, cuts: int) -> None:
        self._to = to
        self._chance = chance
        self.cuts = cuts
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                theirs, _ = self._listener.accept()
                threading.Thread(target=self._carry, args=(theirs,), daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _carry(self, theirs: socket.socket) -> None:
        left = self._chance.randint(100, 6_000) if self.cuts > 0 else None
        self.cuts -= 1
        with closing(theirs), closing(socket.create_connection(self._to)) as ours:
            threading.Thread(target=_copy, args=(theirs, ours), daemon=True).start()
            _copy(ours, theirs, left)
            for each in (ours, theirs):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)


def _copy(source: socket.socket, target: socket.socket, left: int | None = None) -> None:
    with suppress(OSError):
        while (left is None or left > 0) and (data := source.recv(4096)):
            target.sendall(data[:left])
            left = None if left is None else left - len(data)


def test_a_network_that_cuts_streams_anywhere(
    kind: Kind, deployment: Deployment, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bullion_client.retry._FIRST_PAUSE_S", 0.02)
    key = deployment.key(login)
    address = deployment.node.api_url.removeprefix("http://").split(":")
    proxy = CuttingProxy((address[0], int(address[1])), random.Random(22), cuts=12)  # noqa: S311 - repeatable
    threading.Thread(target=proxy.serve, daemon=True).start()

    def trade() -> None:
        with Client(deployment.url, key) as trader:
            for _ in range(30):
                trader.buy("GOLD", 5)

    placing = threading.Thread(target=trade)
    with reading(kind, deployment, key, proxy.url) as reader:
        numbers: list[Any] = reader.stream(0, count=30, then=placing.start)
        placing.join()
        assert numbers == reader.listed() == list(range(1, 31))
    proxy.close()
    assert proxy.cuts < 10
