"""Our service as it is measured: a real `bullion serve` in a temporary folder, set up through its desk."""

import contextlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.support.node import DeskClient, Node, running
from tests.support.servers import Postgres, Redis

from .calls import BASE
from .endpoint import Endpoint

PLAIN = "bench.plain"
_ACCOUNTS = 32
"""Clients of a busy hour. Each has two keys, for the most that the desk may allow one is soon used up."""
_KEYS_EACH = 2
_BUDGETS = {
    "reads_per_minute": 1_000_000,
    "orders_per_minute": 1_000_000,
    "orders_per_10_seconds": 1_000_000,
}
_GOLD = {
    "metal": "gold",
    "quoted_weight": "10",
    "minimum": "1",
    "maximum": "10000",
    "step": "1",
    "pricing": {"kind": "direct", "instrument": "GOLD"},
}


@dataclass(frozen=True, slots=True)
class Service:
    api_url: str
    endpoint: Endpoint
    keys: tuple[str, ...]

    def get(self, path: str) -> bytes:
        """What a client reads there, with the first key."""
        answer = httpx.get(f"{self.api_url}{BASE}{path}", headers={"X-API-Key": self.keys[0]})
        return answer.raise_for_status().content


@contextlib.contextmanager
def servers() -> Iterator[tuple[Postgres, Redis]]:
    """PostgreSQL and Redis of our own. May raise NotInstalled."""
    with contextlib.ExitStack() as stack:
        redis = Redis()
        stack.callback(redis.remove)
        redis.start()
        postgres = Postgres()
        stack.callback(postgres.remove)
        yield postgres.make(), redis


@contextlib.contextmanager
def running_service(module: str = "bullion", **settings: str) -> Iterator[Service]:
    with (
        tempfile.TemporaryDirectory(prefix="bullion-bench-") as folder,
        running(Path(folder), module, **settings) as node,
    ):
        with node.desk() as desk:
            keys = _set_up(desk)
        service = Service(node.api_url, _endpoint(node), keys)
        _await_rates(service)
        yield service


def _endpoint(node: Node) -> Endpoint:
    port = urlsplit(node.api_url).port
    assert port is not None
    return Endpoint(port, node.process.pid)


def _set_up(desk: DeskClient) -> tuple[str, ...]:
    desk.furnish()
    desk.do("PUT", "/symbols/GOLD", _GOLD)
    desk.do("PATCH", "/switches", {"budgets": _BUDGETS})
    logins = [f"bench{number}" for number in range(_ACCOUNTS)]
    for login_id in logins:
        desk.account(login_id, firm_name="Bench and Sons", allocation={"gold": "100000000"})
    # Neighbours are of different accounts, as callers are who do not know each other.
    return tuple(desk.key(login_id)["key"] for _ in range(_KEYS_EACH) for login_id in logins)


def _await_rates(service: Service) -> None:
    give_up_at = time.monotonic() + 10
    while b'"tradable":true' not in service.get("/quotes"):
        if time.monotonic() > give_up_at:
            raise RuntimeError("the feed did not start")
        time.sleep(0.05)
