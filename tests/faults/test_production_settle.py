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

from .production_room import PATIENCE_S, Room, open_room

EXECUTION = b"SIM-"
"""An execution's id begins so: in what the venue writes, and then in what makes a deal of the order."""
BY_THE_VENUE = b"venue"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory, postgres: Postgres, redis: Redis) -> Iterator[Room]:
    assert postgres.port, "skipped, or failed, where there is none"
    with open_room(tmp_path_factory.mktemp("settle"), redis) as room:
        yield room


@pytest.fixture(scope="module")
def other_node(room: Room, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """Another node on the same store, without the line between."""
    settings = {name: value for name, value in room.node.settings.items() if name.startswith("BULLION_")}
    url = f"postgresql://bullion@127.0.0.1:{room.server.port}/{room.database}"
    settings = settings | {"BULLION_DATABASE_URL": url, "BULLION_PORT": "0", "BULLION_DESK_PORT": "0"}
    with running(tmp_path_factory.mktemp("other"), **settings) as node:
        yield node


@pytest.fixture
def trader(room: Room) -> Iterator[LiveTrader]:
    yield room.market.trader()
    room.market.venue(mode="fill", delay_ms=0)
    room.nothing_strange_was_executed()


@pytest.fixture
def key() -> str:
    return f"key-{uuid4().hex}"


def sent(room: Room, order_id: str) -> str:
    """How often the venue was sent it, and how it decided."""
    return room.sql(f"SELECT submissions, outcome FROM venue_orders WHERE order_id = '{order_id}'")


def became(room: Room, order_id: str) -> list[list[str]]:
    """What happened to the order after it was recorded, each thing once."""
    return room.rows(
        "SELECT events.status FROM order_events AS events INNER JOIN orders USING (book_id, ordinal) "
        f"WHERE orders.id = '{order_id}' ORDER BY at_us"
    )


@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER])
def test_the_venue_answered_and_our_second_commit_is_lost(
    room: Room, trader: LiveTrader, key: str, cut: Cut
) -> None:
    trap = room.wire.set_trap(Trap(EXECUTION, cut, also=BY_THE_VENUE))
    answer = trader.place(key)
    assert trap.sprung.is_set()
    assert answer.status_code == 202, answer.text
    assert room.told(trader, answer, key) == "order"
    order = trader.becomes(answer.json()["id"], "open")
    assert sent(room, order["id"]) == "1|confirmed", "it was asked for, not sent again"
    assert became(room, order["id"]) == [["open"]]
    room.same_key_tells(trader, key)


def test_the_venues_answer_is_lost(room: Room, trader: LiveTrader, key: str) -> None:
    trap = room.wire.set_trap(Trap(EXECUTION, Cut.AFTER))
    answer = trader.place(key)
    assert trap.sprung.is_set()
    assert answer.status_code == 202, answer.text
    order = trader.becomes(answer.json()["id"], "open")
    assert sent(room, order["id"]) == "1|confirmed"
    room.same_key_tells(trader, key)


def test_the_order_never_reaches_the_venue(room: Room, trader: LiveTrader, key: str) -> None:
    trap = room.wire.set_trap(Trap(EXECUTION, Cut.BEFORE))
    answer = trader.place(key)
    assert trap.sprung.is_set()
    assert answer.status_code == 202, answer.text
    order = trader.becomes(answer.json()["id"], "open")
    assert sent(room, order["id"]) == "1|confirmed"
    room.same_key_tells(trader, key)


def test_the_store_stops_while_orders_wait(room: Room, trader: LiveTrader) -> None:
    room.market.venue(mode="hold")
    answers = {f"waits-{number}": trader.place(f"waits-{number}") for number in range(5)}
    assert {answer.status_code for answer in answers.values()} == {202}
    room.server.stop(signal.SIGQUIT)
    until(lambda: trader.http.get("/health/ready").status_code == 503, within_s=PATIENCE_S)
    room.server.start()
    until(lambda: trader.http.get("/health/ready").status_code == 200, within_s=PATIENCE_S)
    until(lambda: trader.order(answers["waits-0"].json()["id"]).status_code == 200, within_s=PATIENCE_S)
    for answer in answers.values():
        assert trader.read(answer.json()["id"])["status"] == "pending"
    room.market.venue(mode="fill")
    for key, answer in answers.items():
        order = trader.becomes(answer.json()["id"], "open")
        assert sent(room, order["id"]) == "1|confirmed"
        assert became(room, order["id"]) == [["open"]]
        room.same_key_tells(trader, key)


def test_a_node_that_stands_still_for_longer_than_its_lease_does_no_harm(
    room: Room, other_node: Node, trader: LiveTrader, key: str
) -> None:
    """Another node takes its order over; then it goes on where it was."""
    room.market.venue(delay_ms=1500)
    call = room.call(trader, key)
    until(lambda: room.sql(_taken(key)) == "1", within_s=PATIENCE_S)
    os.kill(room.node.process.pid, signal.SIGSTOP)
    try:
        ((order_id, _),) = room.orders(key)
        until(lambda: room.orders(key) == [[order_id, "open"]], within_s=PATIENCE_S)
        assert sent(room, order_id) == "1|confirmed"
    finally:
        os.kill(room.node.process.pid, signal.SIGCONT)
    answer = call.result()
    assert answer.status_code in (201, 202), answer.text
    assert answer.json()["id"] == order_id
    room.market.venue(delay_ms=0)
    room.ready()
    assert room.orders(key) == [[order_id, "open"]]
    assert sent(room, order_id) == "1|confirmed"
    assert became(room, order_id) == [["open"]]
    assert room.sql(f"SELECT state FROM hedge_requests WHERE order_id = '{order_id}'") == "answered"
    room.same_key_tells(trader, key)


def _taken(key: str) -> str:
    return (
        "SELECT count(*) FROM venue_orders INNER JOIN orders ON orders.id = order_id "
        f"WHERE idempotency_key = '{key}'"
    )
