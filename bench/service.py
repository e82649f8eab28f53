"""Our service as it is measured: a real `bullion serve` in a temporary folder, set up through its desk."""

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import httpx

from bullion.environment import Environment
from tests.support.node import DeskClient, Node, interpreter, start
from tests.support.servers import Postgres, Redis

from .calls import BASE, LIVE_BASE
from .endpoint import Endpoint
from .market import await_tradable, open_market
from .processes import workers_of
from .store import add_traders, make_store

PLAIN = "bench.plain"
_KEYS_EACH = 2
"""For the most that the desk may allow one is soon used up."""
_PAGE = 60


@dataclass(slots=True)
class Service:
    folder: Path
    keys: tuple[str, ...]
    live_keys: tuple[str, ...]
    """Empty where production is off."""
    many_keys: tuple[str, ...]
    """Test keys of accounts that are many, each of another one. Empty unless they are asked for."""
    _module: str
    _node: Node

    @property
    def api_url(self) -> str:
        return self._node.api_url

    @property
    def desk_url(self) -> str:
        return self._node.desk_url

    @property
    def pid(self) -> int:
        """Of the process that started all others of it."""
        return self._node.process.pid

    @property
    def endpoint(self) -> Endpoint:
        port = urlsplit(self.api_url).port
        assert port is not None
        return Endpoint(port, workers_of(self.pid) if self._workers > 1 else (self.pid,))

    @property
    def _workers(self) -> int:
        return int(self._node.settings.get("BULLION_WORKERS", "1"))

    def launch_again(self) -> None:
        """On the same store, at another port. Each launch of a program has its luck: see docs/scaling.md."""
        self._node.stop()
        self._node = start(self.folder, self._module, interpreter, **self._node.settings)
        self.await_tradable()

    def await_tradable(self) -> None:
        await_tradable(self.api_url, BASE, self.keys[0], self._workers)
        if self.live_keys:
            await_tradable(self.api_url, LIVE_BASE, self.live_keys[0], self._workers)

    def stop(self) -> None:
        self._node.stop()

    def get(self, path: str) -> bytes:
        """What a client reads there, with the first key."""
        answer = httpx.get(f"{self.api_url}{BASE}{path}", headers={"X-API-Key": self.keys[0]})
        return answer.raise_for_status().content

    def fill(self) -> str:
        """Give the first account a page of orders; the id of one of them."""
        headers = {"X-API-Key": self.keys[0]}
        order_id = ""
        with httpx.Client(base_url=f"{self.api_url}{BASE}", headers=headers) as client:
            for number in range(_PAGE):
                body = {
                    "symbol_code": "GOLD",
                    "trade_type": "buy" if number % 2 else "sell",
                    "quantity": 1,
                    "client_order_id": f"ref-{number:04d}",
                }
                answer = client.post("/orders", json=body, headers={"Idempotency-Key": str(uuid4())})
                order_id = json.loads(answer.raise_for_status().content)["id"]
        return order_id


@contextlib.contextmanager
def servers() -> Iterator[tuple[Postgres, Redis]]:
    """PostgreSQL and Redis of our own. May raise NotInstalled."""
    with contextlib.ExitStack() as stack:
        redis = Redis()
        stack.callback(redis.remove)
        redis.start()
        postgres = Postgres(durable=True)
        stack.callback(postgres.remove)
        yield postgres.make(), redis


@contextlib.contextmanager
def running_service(
    module: str,
    clients: int,
    symbols: int = 0,
    many: int = 0,
    /,
    *,
    live: bool = False,
    book: bool = False,
    **settings: str,
) -> Iterator[Service]:
    """With `live`, open for production as well, with the simulated venue that answers at once.

    With `book`, the house's own book confirms those orders. With `many`, the store is PostgreSQL, and has so
    many accounts besides.
    """
    if live:
        settings["BULLION_PRODUCTION"] = "on"
    many_keys: tuple[str, ...] = ()
    if many:
        make_store(settings["BULLION_DATABASE_URL"], 0)
        many_keys = add_traders(settings["BULLION_DATABASE_URL"], many)
    with tempfile.TemporaryDirectory(prefix="bullion-bench-") as folder:
        node = start(Path(folder), module, interpreter, **settings)
        service = Service(Path(folder), (), (), many_keys, module, node)
        try:
            with node.desk() as desk:
                open_market(desk, live=live, book=book, symbols=symbols)
                service.keys, service.live_keys = _accounts(desk, clients, live=live)
            service.await_tradable()
            yield service
        finally:
            service.stop()


def _accounts(desk: DeskClient, clients: int, *, live: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Their test keys and their live keys."""
    logins = [f"bench{number}" for number in range(clients)]
    for login_id in logins:
        desk.account(
            login_id,
            firm_name="Bench and Sons",
            allocation={"gold": "100000000"},
            production_trading=live,
        )
    # Neighbours are of different accounts, as callers are who do not know each other.
    return (
        _keys(desk, logins, Environment.TEST),
        _keys(desk, logins, Environment.PRODUCTION) if live else (),
    )


def _keys(desk: DeskClient, logins: list[str], environment: Environment) -> tuple[str, ...]:
    return tuple(desk.key(each, environment.value)["key"] for _ in range(_KEYS_EACH) for each in logins)
