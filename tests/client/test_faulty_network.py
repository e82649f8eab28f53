"""Both clients on a network that loses requests and answers: as many orders as were meant, and each known.

`TEST_SCALE` above 1, as in a campaign, places a hundred times its number of orders.
"""

import asyncio
import logging
import random
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bullion_client import (
    AsyncClient,
    Client,
    Environment,
    Intent,
    Journal,
    Order,
    Unsettled,
    retry,
)
from tests.client.fault_proxy import FAULTS, FaultProxy, fault_proxy
from tests.client.fixtures import Deployment
from tests.support.scale import SCALE

ORDERS = 152 if SCALE == 1 else 100 * SCALE
KINDS = ["threads", "tasks"]
AT_ONCE = 24
TIMEOUT_S = 1.0
DEADLINE_S = 180.0


@pytest.fixture
def proxy(deployment: Deployment, request: pytest.FixtureRequest) -> Iterator[FaultProxy]:
    port = urlsplit(deployment.url).port
    assert port is not None
    # In a campaign another schedule each time.
    seed = len(request.node.name) if SCALE == 1 else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    with fault_proxy(port, seed) as proxy:
        yield proxy


class Seen:
    """What a caller has seen: its orders, and all that it was shown on the way."""

    def __init__(self) -> None:
        self.orders: dict[str, Order] = {}
        self.texts: list[str] = []

    def failed(self, error: Unsettled) -> Intent:
        self.texts += [*traceback.format_exception(error), repr(error), repr(error.intent)]
        return error.intent


def place_in_threads(url: str, key: str, journal: Journal, count: int) -> Seen:
    seen = Seen()
    with Client(url, key, timeout=TIMEOUT_S, deadline=DEADLINE_S, journal=journal) as client:

        def place(number: int) -> None:
            name = f"meant-{number}"
            intent: Intent | None = None
            while name not in seen.orders:
                try:
                    if intent is None:
                        seen.orders[name] = client.buy("GOLD", "0.5", client_order_id=name)
                    else:
                        seen.orders[name] = client.resume(intent)
                except Unsettled as error:
                    intent = seen.failed(error)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(place, range(count)))
        seen.texts += [repr(client), repr(vars(client)), repr(journal)]
    return seen


def place_in_tasks(url: str, key: str, journal: Journal, count: int) -> Seen:
    seen = Seen()

    async def trade() -> None:
        async with AsyncClient(url, key, timeout=TIMEOUT_S, deadline=DEADLINE_S, journal=journal) as client:
            turn = asyncio.Semaphore(AT_ONCE)

            async def place(number: int) -> None:
                name = f"meant-{number}"
                intent: Intent | None = None
                while name not in seen.orders:
                    async with turn:
                        try:
                            if intent is None:
                                seen.orders[name] = await client.buy("GOLD", "0.5", client_order_id=name)
                            else:
                                seen.orders[name] = await client.resume(intent)
                        except Unsettled as error:
                            intent = seen.failed(error)

            await asyncio.gather(*map(place, range(count)))
            seen.texts += [repr(client), repr(vars(client)), repr(journal)]

    asyncio.run(trade())
    return seen


def shows(secret: str, *texts: str) -> bool:
    return any(secret in text for text in texts)


@pytest.mark.parametrize("environment", [Environment.TEST, Environment.PRODUCTION])
@pytest.mark.parametrize("kind", KINDS)
def test_as_many_are_booked_as_were_meant_and_each_is_known(
    deployment: Deployment,
    proxy: FaultProxy,
    kind: str,
    environment: Environment,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (None, "httpx", "httpcore"):  # Other tests in this process may have made them quiet.
        caplog.set_level(logging.DEBUG, name)
    monkeypatch.setattr(retry, "_LONGEST_PAUSE_S", 0.5)  # For the time that the tests take.
    login, count = deployment.account(), ORDERS // 4
    key = deployment.key(login, environment)
    secret = key.rpartition(".")[2]
    journal = Journal(tmp_path / "orders.journal")
    place = place_in_threads if kind == "threads" else place_in_tasks
    seen = place(proxy.url, key, journal, count)

    assert len(seen.orders) == count
    with Client(deployment.url, key) as client:
        booked = list(client.orders())
        assert client.positions().gold.net * 2 == count
    assert len(booked) == count
    assert {order.id for order in booked} == {order.id for order in seen.orders.values()}
    assert Counter(order.client_order_id for order in booked) == Counter(list(seen.orders))
    assert all(order.client_order_id == name for name, order in seen.orders.items())
    assert journal.unsettled() == ()

    # It was a bad network indeed, and nothing that anybody could read shows the key.
    assert SCALE == 1 or set(proxy.done) == set(FAULTS)
    lost = proxy.done.total() - proxy.done["pass"] - proxy.done["delay"]
    assert lost > count // 5, proxy.done
    print(f"{kind}, {environment}: {count} orders, {proxy.done.total()} calls, {lost} of them lost")
    told = [caplog.text, journal.path.read_text(), *seen.texts, *deployment.node.log]
    assert not shows(secret, *told)
    assert {"bullion_client", "httpx", "httpcore.http11"} <= {record.name for record in caplog.records}
    logging.getLogger("httpcore.http11").debug("planted %s", key)
    assert shows(secret, caplog.text)
