"""Nodes that are killed while they deliver webhooks: nothing is lost, and nothing comes out of order."""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.hook_server import HookServer
from tests.support.node import Node, running, start, until
from tests.support.servers import Postgres, Redis

EVENTS = 30
SCOPES = ["orders:read", "webhooks:manage"]
BASE = "/api/trading/test/v1"


def test_nodes_that_are_killed_lose_and_reorder_nothing(
    postgres: Postgres, redis: Redis, schema_template: str, tmp_path: Path
) -> None:
    address = postgres.new_database(schema_template)
    settings = {
        "BULLION_DATABASE_URL": address,
        "BULLION_REDIS_URL": redis.url,
        "BULLION_WEBHOOK_ALLOW_PRIVATE": "on",
    }
    killed: list[Node] = []
    with HookServer() as receiver, running(tmp_path, **settings) as staying, staying.desk() as desk:
        receiver.pause_s = 0.05
        killed.append(start(tmp_path, **settings))
        desk.add_group().account("client")
        with staying.api(desk.key("client", scopes=SCOPES)["key"]) as client:
            made = client.post(f"{BASE}/webhooks", json={"url": receiver.url})
            assert made.status_code == 201
            first = made.json()["newest"] + 1
            for number in range(EVENTS):
                desk.do("PATCH", "/accounts/client", {"allocation": {"gold": str(number + 1)}})
                if number in (5, 15):
                    until(lambda: len(receiver.received) >= 2, 30)
                    killed[-1].stop(signal.SIGKILL)
                    killed.append(start(tmp_path, **settings))
            receiver.events(EVENTS)
            told = client.get(f"{BASE}/events", params={"after": first - 1, "limit": 200}).json()["items"]
        assert [each["number"] for each in told] == [*range(first, first + EVENTS)]
        received = receiver.events(EVENTS)
        assert received == sorted(received, key=lambda each: each["number"])
        assert [*{each["number"]: each for each in received}.values()] == told
        killed[-1].stop()
    postgres.drop(address)


def test_a_single_node_goes_on_after_it_was_killed(tmp_path: Path) -> None:
    """Killed while the receiver has an event and has not answered: it comes again, then the others."""
    settings = {"BULLION_WEBHOOK_ALLOW_PRIVATE": "on"}
    with HookServer() as receiver:
        node = start(tmp_path, **settings)
        with node.desk() as desk:
            desk.add_group().account("client")
            with node.api(desk.key("client", scopes=SCOPES)["key"]) as client:
                first = client.post(f"{BASE}/webhooks", json={"url": receiver.url}).json()["newest"] + 1
            receiver.pause_s = 5
            for gold in ("1", "2", "3"):
                desk.do("PATCH", "/accounts/client", {"allocation": {"gold": gold}})
        until(lambda: receiver.numbers == [first], 30)
        node.stop(signal.SIGKILL)
        receiver.pause_s = 0
        with closing(sqlite3.connect(tmp_path / "var" / "bullion.db")) as store, store:
            # As if its lease, of 15 seconds, was over.
            store.execute("UPDATE webhooks SET lease_until_us = 1 WHERE lease_until_us > 0")
            assert store.total_changes == 1
        with running(tmp_path, **settings):
            receiver.events(3)
        assert receiver.numbers == [first, first, first + 1, first + 2]
