"""Nodes are stopped, restarted, upgraded and put back behind nginx and haproxy: no call fails."""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.node import SECRET, Node, own_address, start
from tests.support.orders import Market
from tests.support.proxies import proxies
from tests.support.release import Installation, command, later, older
from tests.support.scale import SCALE
from tests.support.servers import NotInstalled, Postgres, Redis, free_port, missing

from .crowd import Crowd, Rotation
from .ledger import Ledger

CALLS = 200 if SCALE == 1 else 5_000
_PAUSE_S = 1.0 if SCALE == 1 else 0.04
_CALLS_MEANWHILE = CALLS // 4
"""At least as many calls while nodes are replaced."""
_DRAIN_S = "3"
"""As the page says of its examples."""


class _Proxies(Rotation):
    """Clients call the proxies in turn, which alone know of the nodes."""

    async def watch(self) -> None:
        return


@dataclass
class Deployment:
    """Two nodes with addresses of their own, the first with two workers."""

    installed: Installation
    settings: dict[str, str]
    nodes: list[Node]

    @classmethod
    @contextlib.contextmanager
    def open(cls, installed: Installation, **settings: str) -> Iterator["Deployment"]:
        given = {"BULLION_DRAIN_S": _DRAIN_S, "BULLION_TRUSTED_PROXIES": "127.0.0.1", **settings}
        deployment = cls(installed, given | installed.settings, [])
        try:
            for workers in ("2", "1"):
                # An address that nobody else uses: whoever calls from 127.0.0.1 could take the port while the
                # node is away.
                own = {"BULLION_HOST": own_address(), "BULLION_PORT": str(free_port())}
                deployment.nodes.append(deployment.start(BULLION_WORKERS=workers, **own))
            yield deployment
        finally:
            for node in deployment.nodes:
                node.stop(signal.SIGKILL if node.process.poll() is None else signal.SIGTERM)

    def start(self, **settings: str) -> Node:
        return start(self.installed.folder, "bullion", self.installed.launch, **self.settings, **settings)

    @property
    def addresses(self) -> list[str]:
        return [urlsplit(node.api_url).netloc for node in self.nodes]

    async def stop_and_start(self, place: int) -> None:
        """As a person does it: the next node is touched when this one is ready."""
        node = self.nodes[place]
        assert await asyncio.to_thread(node.stop) == 0
        assert not node.entries("calls_aborted")
        own = {name: value for name, value in node.settings.items() if name not in self.settings}
        self.nodes[place] = await asyncio.to_thread(lambda: self.start(**own))

    async def hang_up(self, place: int) -> None:
        node = self.nodes[place]
        before = len(node.entries("restarted"))
        node.process.send_signal(signal.SIGHUP)
        async with asyncio.timeout(120):
            while len(node.entries("restarted")) == before:
                assert not node.entries("restart_failed"), "".join(node.log)
                await asyncio.sleep(0.05)


@pytest.fixture
def settings(postgres: Postgres, redis: Redis, schema_template: str) -> dict[str, str]:
    return {"BULLION_DATABASE_URL": postgres.new_database(schema_template), "BULLION_REDIS_URL": redis.url}


def _trade_through_proxies(deployment: Deployment, during: Callable[[], Awaitable[None]]) -> Crowd:
    """Call until `during` is over, and there were as many calls as there should be."""

    async def run(crowd: Crowd) -> None:
        async with crowd.calling():
            await during()
            assert len(crowd.answers) >= _CALLS_MEANWHILE
            async with asyncio.timeout(600):
                while len(crowd.answers) < CALLS:
                    await asyncio.sleep(0.05)

    first = deployment.nodes[0]
    try:
        with proxies(deployment.addresses) as urls, Market.open(first) as market:
            rotation = _Proxies(*(replace(first, api_url=url) for url in urls))
            crowd = Crowd(rotation, [market.trader() for _ in range(5)], pause_s=_PAUSE_S)
            asyncio.run(run(crowd))
    except NotInstalled as error:
        missing(error, "nginx haproxy")
    print(f"\n{len(crowd.answers)} calls, {len(crowd.failures)} failures")
    return crowd


def _check(crowd: Crowd, postgres: Postgres, settings: dict[str, str]) -> None:
    """No call failed, and each order that was asked for is booked once."""
    assert crowd.failures == []
    assert crowd.said() == {"201": len(crowd.answers)}
    assert len(crowd.answers) >= CALLS
    ledger = Ledger(postgres, settings["BULLION_DATABASE_URL"])
    ledger.check()
    ledger.check_answers(crowd.answers)


def test_an_upgrade_that_is_put_back(postgres: Postgres, settings: dict[str, str], tmp_path: Path) -> None:
    """By the steps of docs/deployment.md: the store, then the code, then one node after the other."""
    newer = later(tmp_path)
    database = settings["BULLION_DATABASE_URL"].rpartition("/")[2]
    installed = Installation(tmp_path)
    installed.install(older())
    with Deployment.open(installed, **settings) as deployment:

        async def upgrade_and_put_back() -> None:
            done = await asyncio.to_thread(
                command, newer, tmp_path, "migrate", **settings, BULLION_SECRET=SECRET
            )
            assert (done.returncode, done.stderr) == (0, ""), done
            # Each node is replaced in both ways: it is told to restart, and it is stopped and started.
            installed.install(newer)
            await deployment.hang_up(0)
            await deployment.stop_and_start(1)
            installed.install(older())
            await deployment.stop_and_start(0)
            await deployment.hang_up(1)

        crowd = _trade_through_proxies(deployment, upgrade_and_put_back)
        assert not any(node.entries("schema_unfit") for node in deployment.nodes)
    assert postgres.sql("SELECT note FROM orders LIMIT 1", database) == ""
    _check(crowd, postgres, settings)
