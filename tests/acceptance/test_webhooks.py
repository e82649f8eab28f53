"""`{base}/webhooks` over real HTTP: set up by the client, delivered by the node, refused where it must be."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from standardwebhooks.webhooks import Webhook as Verifier

from bullion.environment import Environment
from tests.support.hook_server import HookServer
from tests.support.node import DeskClient, Node, shared
from tests.support.production import LiveMarket, opened
from tests.support.stacks import STACKS, stack

SCOPES = ["account:read", "orders:read", "orders:write", "webhooks:manage"]
WAIT_S = 20


@pytest.fixture(scope="module", params=STACKS)
def node(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    settings = stack(request.param, request) | {"BULLION_WEBHOOK_ALLOW_PRIVATE": "on"}
    with shared(tmp_path_factory.mktemp("node"), BULLION_PRODUCTION="on", **settings) as node:
        with node.desk() as desk:
            desk.add_group()
        yield node


@pytest.fixture
def receiver() -> Iterator[HookServer]:
    with HookServer() as receiver:
        yield receiver


@pytest.fixture
def client(node: Node, desk: DeskClient, login: str) -> Iterator[httpx.Client]:
    """A program of an account of its own, in the test environment."""
    key = desk.key(login, scopes=SCOPES)["key"]
    with node.api(key) as client:
        client.base_url = httpx.URL(f"{node.api_url}{Environment.TEST.base_path}")
        yield client


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    detail: dict[str, Any] = answer.json()["detail"]
    assert (answer.status_code, detail["code"]) == (status, code), answer.text
    return detail


def test_from_the_set_up_to_the_first_event(
    client: httpx.Client, desk: DeskClient, login: str, receiver: HookServer
) -> None:
    made = client.post("/webhooks", json={"url": receiver.url, "description": "the book"})
    assert made.status_code == 201
    webhook = made.json()
    secret = webhook.pop("secret")
    assert webhook["enabled"]
    assert (webhook["types"], webhook["description"]) == (None, "the book")
    assert client.get("/webhooks").json() == {"items": [webhook]}
    desk.do("PATCH", f"/accounts/{login}", {"allocation": {"gold": "77"}})
    (event,) = receiver.events(1)
    assert event == client.get("/events").json()["items"][-1]
    headers, body = receiver.received[0]
    assert Verifier(secret).verify(body, headers) == event
    assert headers["webhook-id"] == event["id"]
    assert headers["content-type"] == "application/json"
    give_up_at = time.monotonic() + WAIT_S
    while (now := client.get(f"/webhooks/{webhook['id']}").json())["delivered_through"] < event["number"]:
        assert time.monotonic() < give_up_at
    assert (now["newest"], now["tries"], now["failing_since"]) == (event["number"], 0, None)
    (attempt,) = client.get(f"/webhooks/{webhook['id']}/attempts").json()["items"]
    assert (attempt["event_id"], attempt["number"], attempt["type"]) == (
        event["id"],
        event["number"],
        "allocation.changed",
    )
    assert (attempt["delivered"], attempt["status"], attempt["response"]) == (True, 200, "hello")
    assert client.get(f"/webhooks/{webhook['id']}/dead").json() == {"items": []}


def test_production_has_its_own(node: Node, desk: DeskClient, login: str, receiver: HookServer) -> None:
    key = desk.key(login, "production", scopes=SCOPES)["key"]
    with node.api(key) as client:
        base = Environment.PRODUCTION.base_path
        webhook = client.post(f"{base}/webhooks", json={"url": receiver.url}).json()
        assert webhook["environment"] == "production"
        desk.do("PATCH", f"/accounts/{login}", {"allocation": {"gold": "78"}})
        (event,) = receiver.events(1)
        assert (event["environment"], event["data"]["gold"]["limit"]) == ("production", "78.0000")
    with node.api(desk.key(login, scopes=SCOPES)["key"]) as other:
        path = f"{Environment.TEST.base_path}/webhooks"
        assert other.get(path).json() == {"items": []}
        refused(other.get(f"{path}/{webhook['id']}"), 404, "webhook_not_found")


def test_change_and_delete(client: httpx.Client, receiver: HookServer) -> None:
    webhook = client.post("/webhooks", json={"url": receiver.url, "types": ["order.created"]}).json()
    path = f"/webhooks/{webhook['id']}"
    changed = client.patch(path, json={"enabled": False, "types": None, "description": "later"}).json()
    assert (changed["enabled"], changed["types"], changed["description"]) == (False, None, "later")
    assert (changed["disabled_reason"], changed["url"]) == ("Switched off by the client.", receiver.url)
    refused(client.post(f"{path}/replay"), 409, "webhook_off")
    on = client.patch(path, json={"enabled": True}).json()
    assert (on["enabled"], on["disabled_reason"], on["disabled_at"]) == (True, None, None)
    assert client.post(f"{path}/replay").json() == {"replaying": 0}
    assert client.post(f"{path}/replay", json={"number": 3}).json() == {"replaying": 0}
    assert client.patch(path, json={}).json() == on
    assert client.delete(path).json() == {"id": webhook["id"], "deleted": True}
    for method, more in (
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/rotate"),
        ("POST", "/test"),
        ("GET", "/attempts"),
        ("GET", "/dead"),
        ("POST", "/replay"),
    ):
        body: dict[str, Any] | None = {} if method == "PATCH" else None
        refused(client.request(method, path + more, json=body), 404, "webhook_not_found")


def test_a_rotation_has_two_signatures(client: httpx.Client, receiver: HookServer) -> None:
    webhook = client.post("/webhooks", json={"url": receiver.url}).json()
    path = f"/webhooks/{webhook['id']}"
    rotated = client.post(f"{path}/rotate").json()
    assert rotated["secret"] != webhook["secret"]
    assert rotated["previous_secret_until"] > webhook["created_at"]
    assert client.post(f"{path}/test").json()["delivered"]
    headers, body = receiver.received[0]
    for secret in (webhook["secret"], rotated["secret"]):
        assert Verifier(secret).verify(body, headers)


def test_a_test_shows_what_the_receiver_said(client: httpx.Client, receiver: HookServer) -> None:
    webhook = client.post("/webhooks", json={"url": receiver.url}).json()
    path = f"/webhooks/{webhook['id']}"
    said = client.post(f"{path}/test").json()
    assert (said["delivered"], said["status"], said["response"], said["error"]) == (True, 200, "hello", None)
    (event,) = receiver.events(1)
    assert (event["type"], event["number"], event["data"]) == (
        "webhook.test",
        0,
        {"webhook_id": webhook["id"]},
    )
    receiver.status = 500
    said = client.post(f"{path}/test").json()
    assert (said["delivered"], said["status"], said["error"]) == (False, 500, "The receiver answered 500.")
    assert [each["status"] for each in client.get(f"{path}/attempts").json()["items"]] == [500, 200]
    for _ in range(8):
        assert client.post(f"{path}/test").status_code == 200
    answer = client.post(f"{path}/test")
    refused(answer, 429, "rate_limited")
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert answer.headers.get_list("ratelimit-limit") == ["10"]


def test_at_most_five(client: httpx.Client, receiver: HookServer) -> None:
    for _ in range(5):
        assert client.post("/webhooks", json={"url": receiver.url}).status_code == 201
    refused(client.post("/webhooks", json={"url": receiver.url}), 409, "webhook_limit")


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1/", "https://user@hooks.example.com/", "https://a.com/#b", ""]
)
def test_urls_that_are_not_allowed(client: httpx.Client, url: str) -> None:
    detail = refused(client.post("/webhooks", json={"url": url}), 422, "webhook_url_refused")
    assert "URL" in detail["message"]


def test_private_addresses_are_refused_unless_the_deployment_allows_them(
    tmp_path_factory: pytest.TempPathFactory, receiver: HookServer
) -> None:
    with shared(tmp_path_factory.mktemp("strict")) as node, node.desk() as desk:
        desk.add_group().account("client")
        with node.api(desk.key("client", scopes=SCOPES)["key"]) as client:
            path = f"{Environment.TEST.base_path}/webhooks"
            for url in (receiver.url, receiver.url.replace("http", "https"), "https://localhost/"):
                refused(client.post(path, json={"url": url}), 422, "webhook_url_refused")
            made = client.post(path, json={"url": "https://hooks.example.com/"})
            assert made.status_code == 201
            url = receiver.url.replace("http", "https")
            refused(
                client.patch(f"{path}/{made.json()['id']}", json={"url": url}), 422, "webhook_url_refused"
            )
        assert receiver.received == []


@pytest.mark.parametrize(
    ("body", "where", "kind"),
    [
        ({}, "url", "missing"),
        ({"url": None}, "url", "not_a_string"),
        ({"url": 7}, "url", "not_a_string"),
        ({"url": "https://a.com/\0"}, "url", "bad_character"),
        ({"types": []}, "types", "empty"),
        ({"types": "order.created"}, "types", "not_a_choice"),
        ({"types": ["order.creatd"]}, "types", "not_a_choice"),
        ({"types": [7]}, "types", "not_a_choice"),
        ({"types": ["order.created", "order.created"]}, "types", "duplicate"),
        ({"description": "x" * 201}, "description", "too_long"),
        ({"description": None}, "description", "not_a_string"),
        ({"secret": "mine"}, "secret", "unknown_field"),
        ({"enabled": False}, "enabled", "unknown_field"),
    ],
)
def test_bodies_that_are_wrong(client: httpx.Client, body: dict[str, Any], where: str, kind: str) -> None:
    sent = body if "url" in body or not body else {"url": "https://hooks.example.com/", **body}
    errors = refused(client.post("/webhooks", json=sent), 422, "invalid_request")["errors"]
    assert [(each["loc"], each["type"]) for each in errors] == [(["body", where], kind)]


def test_a_change_to_null_is_no_change_that_is_left_out(client: httpx.Client) -> None:
    answer = client.patch("/webhooks/wh_000000000000000000000000", json={"enabled": None})
    (error,) = refused(answer, 422, "invalid_request")["errors"]
    assert (error["loc"], error["type"]) == (["body", "enabled"], "not_a_choice")


@pytest.mark.parametrize(
    ("content", "headers", "kind"),
    [
        (b"", {}, "not_json"),
        (b"[]", {}, "not_an_object"),
        (b"\xff", {}, "not_utf8"),
        (b'{"url": "https://a.com/", "url": "https://b.com/"}', {}, "duplicate"),
        (b'{"url": "https://a.com/"}', {"content-type": "text/plain"}, "bad_content_type"),
    ],
)
def test_bodies_that_cannot_be_read(
    client: httpx.Client, content: bytes, headers: dict[str, str], kind: str
) -> None:
    answer = client.post(
        "/webhooks", content=content, headers={"content-type": "application/json", **headers}
    )
    errors = refused(answer, 422, "invalid_request")["errors"]
    assert kind in [each["type"] for each in errors]
    assert "order" not in errors[0]["msg"]


def test_changes_and_replays_that_are_wrong(client: httpx.Client) -> None:
    path = f"/webhooks/{client.post('/webhooks', json={'url': 'http://127.0.0.1:9/'}).json()['id']}"
    for body, where in (({"enabled": "no"}, "enabled"), ({"url": None}, "url"), ({"state": "on"}, "state")):
        errors = refused(client.patch(path, json=body), 422, "invalid_request")["errors"]
        assert errors[0]["loc"] == ["body", where]
    for number in (0, -1, 1.5, "1", True, 10**30):
        answer = client.post(f"{path}/replay", json={"number": number})
        assert refused(answer, 422, "invalid_request")["errors"][0]["loc"] == ["body", "number"]


def test_other_keys_may_not(node: Node, desk: DeskClient, login: str) -> None:
    with node.api(desk.key(login)["key"]) as client:
        detail = refused(client.get(f"{Environment.TEST.base_path}/webhooks"), 403, "insufficient_scope")
        assert "webhooks:manage" in detail["message"]


def test_who_may_not_read_orders_may_not_send_them_anywhere(node: Node, desk: DeskClient, login: str) -> None:
    with node.api(desk.key(login, scopes=["webhooks:manage"])["key"]) as client:
        base = f"{Environment.TEST.base_path}/webhooks"
        assert client.get(base).status_code == 200
        for answer in (
            client.post(base, json={"url": "http://127.0.0.1:9/"}),
            client.patch(f"{base}/wh_1", json={"url": "http://127.0.0.1:9/"}),
            client.post(f"{base}/wh_1/replay"),
        ):
            assert "orders:read" in refused(answer, 403, "insufficient_scope")["message"]


def test_a_receiver_that_never_answers_keeps_no_order_waiting(
    client: httpx.Client, desk: DeskClient, login: str
) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(50)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        for _ in range(5):
            assert client.post("/webhooks", json={"url": url}).status_code == 201
        desk.do("PATCH", f"/accounts/{login}", {"allocation": {"gold": "79"}})
        silent.settimeout(WAIT_S)
        connection, _ = silent.accept()
        began = time.monotonic()
        for _ in range(20):
            assert client.get("/me").status_code == 200
            assert client.get("/events").status_code == 200
        assert time.monotonic() - began < 5
        connection.close()


@pytest.mark.both_stacks
def test_the_life_of_orders_arrives_as_the_list_of_events_tells_it(
    live_market: LiveMarket, receiver: HookServer
) -> None:
    trader = live_market.trader(scopes=SCOPES)
    made = trader.http.post(f"{trader.base}/webhooks", json={"url": receiver.url})
    assert made.status_code == 201, made.text
    orders = [opened(trader.place(quantity=number)) for number in (1, 2, 3)]
    live_market.complete(orders[0]["id"], "70000")
    live_market.act(orders[1]["id"], "delete", reason="twice")
    live_market.elsewhere(trader.login_id, quantity="4")
    trader.http.get(f"{trader.base}/events", params={"after": 9, "wait": 10})
    told = trader.get(f"{trader.base}/events", limit=200)["items"]
    assert [each["type"] for each in told if each["data"]["id"] == orders[0]["id"]] == [
        "order.created",
        "order.opened",
        "order.closing",
        "order.closed",
    ]
    assert len(told) == 10
    received = receiver.events(len(told))
    assert [*{each["number"]: each for each in received}.values()] == told
    assert [each["number"] for each in received] == sorted(each["number"] for each in received)
