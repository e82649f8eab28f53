"""Webhooks as the desk sees them: set up, switched, looked into, replayed, and told when they stop."""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import bullion
from tests.support.desk import Caller, Office, first_caller
from tests.support.node import SECRET, Node, running

URL = "https://hooks.example.com/bullion"
BODY = {"environment": "test", "url": URL}


@pytest.fixture
def client(office: Office) -> Office:
    """An office with an account `client`."""
    office.desk.account("client")
    return office


def create(desk: Caller, **fields: Any) -> Any:
    return desk.do("POST", "/accounts/client/webhooks", BODY | fields)


def test_a_webhook_from_its_set_up_to_its_end(client: Office) -> None:
    desk = client.desk
    made = create(desk, types=["order.opened"], description="the book")
    assert made.pop("secret").startswith("whsec_")
    (listed,) = desk.all("/accounts/client/webhooks")
    assert listed == made | {"dead_events": 0}
    assert (listed["url"], listed["types"], listed["description"]) == (URL, ["order.opened"], "the book")
    assert (listed["enabled"], listed["waiting"], listed["environment"]) == (True, 0, "test")
    assert listed["created_by"].startswith("desk: ")
    path = f"/accounts/client/webhooks/{made['webhook_id']}"
    off = desk.do("POST", f"{path}/disable")
    assert (off["enabled"], off["disabled_reason"]) == (False, "Switched off by the desk.")
    assert "is off" in desk.refused("POST", f"{path}/replay", status=409, code="conflict")
    assert desk.do("POST", f"{path}/enable")["enabled"]
    assert desk.do("POST", f"{path}/replay")["replaying"] == 0
    assert desk.do("POST", f"{path}/replay", {"number": 7})["replaying"] == 0
    rotated = desk.do("POST", f"{path}/rotate")
    assert rotated["secret"].startswith("whsec_")
    assert rotated["previous_secret_until"] > rotated["created_at"]
    assert desk.all(f"{path}/attempts") == desk.all(f"{path}/dead") == []
    assert desk.do("DELETE", path) == {"webhook_id": made["webhook_id"], "deleted": True}
    for method, more in (("DELETE", ""), ("POST", "/enable"), ("GET", "/attempts"), ("GET", "/dead")):
        desk.refused(method, path + more, status=404, code="not_found")
    trail = [each["text"] for each in desk.all("/audit")[:7]]
    assert [text.removeprefix(f"client: test webhook to {URL} ") for text in trail] == [
        "deleted",
        "has a new secret",
        "gets events again: 0",
        "gets events again: 0",
        "switched on",
        "switched off",
        "set up",
    ]
    assert "whsec_" not in str(desk.all("/audit"))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"url": "http://hooks.example.com/"}, "https"),
        ({"url": "https://10.0.0.1/"}, "private"),
        ({"url": ""}, "url"),
        ({"types": ["order.opend"]}, "types"),
        ({"environment": "live"}, "environment"),
        ({"description": "x" * 201}, "description"),
        ({"secret": "mine"}, "secret"),
    ],
)
def test_what_is_refused(client: Office, fields: dict[str, Any], told: str) -> None:
    assert told in client.desk.refused("POST", "/accounts/client/webhooks", BODY | fields)


def test_at_most_five_in_each_environment(client: Office) -> None:
    for environment in ("test", "production"):
        for _ in range(5):
            create(client.desk, environment=environment)
    message = client.desk.refused("POST", "/accounts/client/webhooks", BODY, status=409, code="conflict")
    assert "Delete one first" in message
    assert len(client.desk.all("/accounts/client/webhooks")) == 10


def test_another_brokers_webhooks_are_not_found(client: Office, node: Node, first: Caller) -> None:
    webhook_id = create(client.desk)["webhook_id"]
    other = Office.open(node, first)
    other.desk.account("client")
    other.desk.refused("DELETE", f"/accounts/client/webhooks/{webhook_id}", status=404, code="not_found")
    assert other.desk.all("/accounts/client/webhooks") == []
    other.close()


def test_a_webhook_that_stopped_is_told_and_the_commands(tmp_path: Path) -> None:
    with running(tmp_path) as node, first_caller(node) as desk:
        desk.add_group().account("client")
        webhook_id = create(desk)["webhook_id"]
        assert "Webhooks" not in [each["name"] for each in desk.do("GET", "/health")["items"]]
        with contextlib.closing(sqlite3.connect(tmp_path / "var" / "bullion.db")) as store, store:
            store.execute(
                "UPDATE webhooks SET state = 'off', failing_since_us = 1, off_reason = 'Nobody there.', "
                "off_at_us = (SELECT max(at_us) FROM audit)"
            )
        (light,) = [each for each in desk.do("GET", "/health")["items"] if each["name"] == "Webhooks"]
        assert (light["state"], light["part"]) == ("warn", "webhook")
        assert "client (test)" in light["clients"]

    def command(*words: str) -> str:
        done = bullion(tmp_path, "desk", "--json", "webhooks", *words, BULLION_SECRET=SECRET)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (listed,) = json.loads(command("list", "client"))["items"]
    assert listed["disabled_reason"] == "Nobody there."
    assert json.loads(command("enable", "client", webhook_id))["enabled"]
    made = json.loads(
        command("create", "client", "--environment", "test", "--url", URL, "--type", "order.opened")
    )
    assert made["secret"].startswith("whsec_")
    assert json.loads(command("rotate", "client", webhook_id))["secret"].startswith("whsec_")
    assert json.loads(command("replay", "client", webhook_id, "--number", "7"))["replaying"] == 0
    assert json.loads(command("attempts", "client", webhook_id))["items"] == []
    assert json.loads(command("dead", "client", webhook_id))["items"] == []
    assert not json.loads(command("disable", "client", webhook_id))["enabled"]
    assert json.loads(command("delete", "client", webhook_id, "--yes"))["deleted"]
