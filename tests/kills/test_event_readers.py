"""Nodes are killed while clients trade and the desk acts: whoever reads events hears all of them.

A list, a stream and a webhook of the same account each end with what the store's history says, every event
once and in its order.
"""

import asyncio
import contextlib
import json
import random
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx
import pytest

from tests.model import production_invariants
from tests.support.event_streams import streaming
from tests.support.hook_server import HookServer
from tests.support.node import Node, start, until
from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis
from tests.support.tcp_proxy import tcp_proxy

from .fixtures import LIVE, Client, Deployment, flood

Json = dict[str, Any]

ROUNDS = 2 * SCALE
ORDERS = 4
HEARD_S = 60


class Service:
    """The nodes that run just now."""

    def __init__(self, folder: Path, settings: dict[str, str], number: int) -> None:
        self._start: Callable[[], Node] = lambda: start(folder, **settings)
        self.nodes = [self._start() for _ in range(number)]
        self._chance = random.Random(7)  # noqa: S311 - no secret

    def any(self) -> Node:
        return self._chance.choice(self.nodes)

    def kill_one(self) -> None:
        """And start another. Between the two, a single node's clients reach nobody."""
        place = self._chance.randrange(len(self.nodes))
        self.nodes[place].stop(signal.SIGKILL)
        self.nodes[place] = self._start()

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()


class Reader(ABC):
    """Reads an account's events in a thread, from whichever node there is, until it is told to end."""

    def __init__(self, service: Service, client: Client) -> None:
        self._service = service
        self._client = client
        self.heard: list[Json] = []
        self.refused: list[str] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._leave: Callable[[], None] = lambda: None

    @property
    def after(self) -> int:
        return int(self.heard[-1]["number"]) if self.heard else 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._leave()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.is_set():
            with contextlib.suppress(httpx.TransportError), self._client.http(self._service.any()) as http:
                http.headers["X-API-Key"] = self._client.live_key
                self._read(http)
            time.sleep(0.05)

    @abstractmethod
    def _read(self, http: httpx.Client) -> None: ...


class ListReader(Reader):
    def _read(self, http: httpx.Client) -> None:
        while not self._ended.is_set():
            query = {"after": self.after, "limit": 7, "wait": 1}
            answer = http.get(f"{LIVE}/events", params=query)
            if answer.status_code != 200:
                self.refused += [answer.text] if answer.status_code < 500 else []
                return
            self.heard += answer.json()["items"]


class StreamReader(Reader):
    def _read(self, http: httpx.Client) -> None:
        position = {"Last-Event-ID": f"{self.after}"}
        with (
            contextlib.suppress(AssertionError),  # A node that cannot answer for a moment.
            streaming(http, f"{LIVE}/events/stream", **position) as stream,
        ):
            self._leave = stream.leave
            while not self._ended.is_set() and (message := stream.read()) is not None:
                if message.event == "end":
                    self.refused.append(json.dumps(message.data))
                    return
                self.heard.append(message.data)


@dataclass
class Store:
    settings: dict[str, str]
    cut: Callable[[], None]
    """Ends every connection to it for a moment."""
    address: str | None = None
    """Around what can be cut; None for a file."""


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "sqlite":
        yield Store({}, lambda: None)
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    redis: Redis = request.getfixturevalue("redis")
    address = postgres.new_database(request.getfixturevalue("schema_template"))
    with tcp_proxy(postgres.port) as line:

        def cut() -> None:
            line.cut()
            time.sleep(0.5)
            line.restore()

        through = address.replace(f":{postgres.port}/", f":{line.port}/")
        settings = {"BULLION_DATABASE_URL": through, "BULLION_REDIS_URL": redis.url}
        yield Store(settings, cut, address)
    postgres.drop(address)


def test_every_reader_hears_the_whole_story(store: Store, tmp_path: Path) -> None:
    settings = store.settings | {"BULLION_WEBHOOK_ALLOW_PRIVATE": "on"}
    deployment = Deployment(tmp_path, settings, seed=3)
    deployment.store = store.address or deployment.store
    service = Service(tmp_path, deployment.settings, number=2 if store.address else 1)
    try:
        deployment.set_up(service.any(), ("filling", "holding"))
        readers = [client for client in deployment.clients if client.login_id == "rich"]
        for node in service.nodes:  # The other one hears of the clients a moment later.
            until(lambda node=node: all(_is_known(client, node) for client in readers), within_s=HEARD_S)
        with contextlib.ExitStack() as open_:
            hooks = [open_.enter_context(HookServer()) for _ in readers]
            kinds = (ListReader, StreamReader)
            all_readers = [open_.enter_context(kind(service, client)) for client in readers for kind in kinds]
            for client, hook in zip(readers, hooks, strict=True):
                _hook_up(deployment, service.any(), client, hook)
            for number in range(ROUNDS):
                _trade(deployment, service, service.kill_one if number % 2 else store.cut)
                _act(deployment, service, number)
            deployment.settle(service.any())
            for place, client in enumerate(readers):
                _compare(service, client, all_readers[2 * place : 2 * place + 2], hooks[place])
        tables = asyncio.run(production_invariants.read(deployment.store))
        assert production_invariants.problems(tables) == []
    finally:
        service.stop()


def _is_known(client: Client, node: Node) -> bool:
    with client.http(node) as http:
        return http.get(f"{LIVE}/me", headers={"X-API-Key": client.live_key}).is_success


def _hook_up(deployment: Deployment, node: Node, client: Client, hook: HookServer) -> None:
    with deployment.desk(node, client.broker) as desk:
        scopes = ["orders:read", "webhooks:manage"]
        key = desk.key(client.login_id, "production", scopes=scopes)["key"]
    with client.http(node) as http:
        made = http.post(f"{LIVE}/webhooks", json={"url": hook.url}, headers={"X-API-Key": key})
    assert (made.status_code, made.json()["newest"]) == (201, 0), made.text


def _trade(deployment: Deployment, service: Service, disturb: Callable[[], None]) -> None:
    lists = deployment.wishes(ORDERS)
    trading = threading.Thread(target=lambda: flood([(service.any(), wishes) for wishes in lists]))
    trading.start()
    time.sleep(0.3)
    disturb()
    trading.join()
    for node in service.nodes:  # It may take a moment to find its store again.
        until(lambda node=node: httpx.get(f"{node.api_url}/health/ready").is_success, within_s=HEARD_S)


def _act(deployment: Deployment, service: Service, number: int) -> None:
    """What the desk does to every account."""
    for client in deployment.clients:
        with deployment.desk(service.any(), client.broker) as desk:
            allocation = {"gold": f"{900_000 + number}"}
            desk.do("PATCH", f"/accounts/{client.login_id}", {"allocation": allocation})
            for halted in (True, False):
                desk.do("PATCH", "/switches", {"halted": halted})
    _close_one(deployment, service.any())


def _close_one(deployment: Deployment, node: Node) -> None:
    for client in deployment.clients:
        found = client.get(node, "/orders", status="open", limit=1)["items"]
        for order in found:
            with deployment.desk(node, client.broker) as desk:
                desk.do("POST", f"/orders/{order['id']}/close")


def _compare(service: Service, client: Client, readers: list[Reader], hook: HookServer) -> None:
    """With what anybody reads who asks now, once everybody has heard as much."""
    node = service.any()
    halts = 4 * ROUNDS if client.broker == "filling" else 2 * ROUNDS
    told: list[Json] = []

    def all_told() -> bool:
        told.clear()
        page = {"next_after": 0, "has_more": True}
        while page["has_more"]:
            page = client.get(node, "/events", after=page["next_after"], limit=200)
            told.extend(page["items"])
        return len([event for event in told if event["type"].startswith("trading.")]) == halts

    until(all_told, within_s=HEARD_S)
    assert [event["number"] for event in told] == [*range(1, len(told) + 1)]
    for reader in readers:
        until(lambda reader=reader: reader.after == len(told), within_s=HEARD_S)
        assert reader.heard == told
        assert reader.refused == []
    received = hook.events(len(told))
    assert [*{event["number"]: event for event in received}.values()] == told
    numbers = [event["number"] for event in received]
    assert numbers == sorted(numbers)
