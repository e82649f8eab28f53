"""Orders that wait for their venue while lines are cut, the server stops and nodes stand still, over HTTP."""

import os
import signal
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.support.node import Node, running, until
from tests.support.production import LiveTrader
from tests.support.servers import Postgres, Redis
from tests.support.wire import Cut, Trap

from .production_deployment import PATIENCE_S, Deployment, open_deployment

EXECUTION = b"SIM-"
"""An execution's id begins so: in what the venue writes, and then in what makes a deal of the order."""
BY_THE_VENUE = b"venue"


@pytest.fixture(scope="module")
def deployment(
    tmp_path_factory: pytest.TempPathFactory, postgres: Postgres, redis: Redis
) -> Iterator[Deployment]:
    assert postgres.port, "skipped, or failed, where there is none"
    with open_deployment(tmp_path_factory.mktemp("settle"), redis) as deployment:
        yield deployment


@pytest.fixture(scope="module")
def other_node(deployment: Deployment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """Another node on the same store, without the line between."""
    settings = {
        name: value for name, value in deployment.node.settings.items() if name.startswith("BULLION_")
    }
    url = f"postgresql://bullion@127.0.0.1:{deployment.server.port}/{deployment.database}"
    settings = settings | {"BULLION_DATABASE_URL": url, "BULLION_PORT": "0", "BULLION_DESK_PORT": "0"}
    with running(tmp_path_factory.mktemp("other"), **settings) as node:
        yield node


@pytest.fixture
def trader(deployment: Deployment) -> Iterator[LiveTrader]:
    yield deployment.market.trader()
    deployment.market.venue(mode="fill", delay_ms=0)
    deployment.nothing_strange_was_executed()


@pytest.fixture
def key() -> str:
    return f"key-{uuid4().hex}"


def sent(deployment: Deployment, order_id: str) -> str:
    """How often the venue was sent it, and how it decided."""
    return deployment.sql(f"SELECT submissions, outcome FROM venue_orders WHERE order_id = '{order_id}'")


def became(deployment: Deployment, order_id: str) -> list[list[str]]:
    """What happened to the order after it was recorded, each thing once."""
    return deployment.rows(
        "SELECT events.status FROM order_events AS events INNER JOIN orders USING (book_id, ordinal) "
        f"WHERE orders.id = '{order_id}' ORDER BY at_us"
    )


@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER])
def test_the_venue_answered_and_our_second_commit_is_lost(
    deployment: Deployment, trader: LiveTrader, key: str, cut: Cut
) -> None:
    trap = deployment.wire.set_trap(Trap(EXECUTION, cut, also=BY_THE_VENUE))
    answer = trader.place(key)
    assert trap.sprung.is_set()
    assert answer.status_code == 202, answer.text
    assert deployment.told(trader, answer, key) == "order"
    order = trader.becomes(answer.json()["id"], "open")
    assert sent(deployment, order["id"]) == "1|confirmed", "it was asked for, not sent again"
    assert became(deployment, order["id"]) == [["open"]]
    deployment.same_key_tells(trader, key)


def test_the_venues_answer_is_lost(deployment: Deployment, trader: LiveTrader, key: str) -> None:
    trap = deployment.wire.set_trap(Trap(EXECUTION, Cut.AFTER))
    answer = trader.place(key)
    assert trap.sprung.is_set()
    assert answer.status_code == 202, answer.text
    order = trader.becomes(answer.json()["id"], "open")
    assert sent(deployment, order["id"]) == "1|confirmed"
    deployment.same_key_tells(trader, key)


def test_the_order_never_reaches_the_venue(deployment: Deployment, trader: LiveTrader, key: str) -> None:
    trap = deployment.wire.set_trap(Trap(EXECUTION, Cut.BEFORE))
    answer = trader.place(key)
    assert trap.sprung.is_set()
    assert answer.status_code == 202, answer.text
    order = trader.becomes(answer.json()["id"], "open")
    assert sent(deployment, order["id"]) == "1|confirmed"
    deployment.same_key_tells(trader, key)


def test_the_store_stops_while_orders_wait(deployment: Deployment, trader: LiveTrader) -> None:
    deployment.market.venue(mode="hold")
    answers = {f"waits-{number}": trader.place(f"waits-{number}") for number in range(5)}
    assert {answer.status_code for answer in answers.values()} == {202}
    deployment.server.stop(signal.SIGQUIT)
    until(lambda: trader.http.get("/health/ready").status_code == 503, within_s=PATIENCE_S)
    deployment.server.start()
    until(lambda: trader.http.get("/health/ready").status_code == 200, within_s=PATIENCE_S)
    until(lambda: trader.order(answers["waits-0"].json()["id"]).status_code == 200, within_s=PATIENCE_S)
    for answer in answers.values():
        assert trader.read(answer.json()["id"])["status"] == "pending"
    deployment.market.venue(mode="fill")
    for key, answer in answers.items():
        order = trader.becomes(answer.json()["id"], "open")
        assert sent(deployment, order["id"]) == "1|confirmed"
        assert became(deployment, order["id"]) == [["open"]]
        deployment.same_key_tells(trader, key)


def test_a_node_that_stands_still_for_longer_than_its_lease_does_no_harm(
    deployment: Deployment, other_node: Node, trader: LiveTrader, key: str
) -> None:
    """Another node takes its order over; then it goes on where it was."""
    deployment.market.venue(delay_ms=1500)
    call = deployment.call(trader, key)
    until(lambda: deployment.sql(_taken(key)) == "1", within_s=PATIENCE_S)
    os.kill(deployment.node.process.pid, signal.SIGSTOP)
    try:
        ((order_id, _),) = deployment.orders(key)
        until(lambda: deployment.orders(key) == [[order_id, "open"]], within_s=PATIENCE_S)
        assert sent(deployment, order_id) == "1|confirmed"
    finally:
        os.kill(deployment.node.process.pid, signal.SIGCONT)
    answer = call.result()
    assert answer.status_code in (201, 202), answer.text
    assert answer.json()["id"] == order_id
    deployment.market.venue(delay_ms=0)
    deployment.ready()
    assert deployment.orders(key) == [[order_id, "open"]]
    assert sent(deployment, order_id) == "1|confirmed"
    assert became(deployment, order_id) == [["open"]]
    assert deployment.sql(f"SELECT state FROM hedge_requests WHERE order_id = '{order_id}'") == "answered"
    deployment.same_key_tells(trader, key)


def _taken(key: str) -> str:
    return (
        "SELECT count(*) FROM venue_orders INNER JOIN orders ON orders.id = order_id "
        f"WHERE idempotency_key = '{key}'"
    )
