"""Webhooks are created and managed with both clients; what could be done twice is not sent twice."""

import json
from typing import Any

import httpx
import pytest

from bullion_client import (
    AsyncClient,
    AsyncWebhooks,
    BullionError,
    Client,
    DeadEvent,
    EventType,
    NoAnswer,
    NotFound,
    Unavailable,
    UnexpectedAnswer,
    Webhook,
    WebhookAttempt,
    WebhookReceipt,
    Webhooks,
)
from tests.client.mock_service import MockService, Opened
from tests.client.scripted_network import answer, refusal

Kind = type[Client | AsyncClient]
AT = "2026-11-17T10:00:00.000000+00:00"
HOOK: dict[str, Any] = {
    "id": "wh_1",
    "url": "https://hooks.example.com/",
    "types": None,
    "description": "",
    "environment": "test",
    "enabled": True,
    "disabled_reason": None,
    "disabled_at": None,
    "created_at": AT,
    "delivered_through": 17,
    "newest": 18,
    "tries": 0,
    "failing_since": None,
    "next_try_at": None,
    "last_delivered_at": AT,
    "previous_secret_until": None,
}
RECEIPT = {"delivered": False, "status": None, "duration_ms": 41, "error": "No route.", "response": ""}
TRIED = {**RECEIPT, "event_id": "evt_1", "number": 0, "type": "webhook.test", "at": AT}
DEAD = {
    "event_id": "evt_1",
    "number": 17,
    "type": "order.opened",
    "given_up_at": AT,
    "tries": 19,
    "error": "Status 500.",
    "replaying": False,
}


def called(kind: Kind, service: MockService, calling: Any) -> Any:
    return Opened(kind, service).call(lambda client: calling(client.webhooks))


def sent(service: MockService) -> list[tuple[str, str, Any]]:
    return [
        (each.method, each.url.path.partition("/v1")[2], json.loads(each.content) if each.content else None)
        for each in service.requests
    ]


def test_one_is_created_with_its_secret(kind: Kind) -> None:
    service = MockService(answer(201, {**HOOK, "types": ["order.opened"], "secret": "whsec_abc"}))
    made = called(
        kind,
        service,
        lambda hooks: hooks.create(HOOK["url"], types=[EventType.ORDER_OPENED], description="x"),
    )
    assert isinstance(made, Webhook)
    assert (made.id, made.types, made.secret) == ("wh_1", (EventType.ORDER_OPENED,), "whsec_abc")
    assert "whsec" not in repr(made)
    body = {"url": HOOK["url"], "types": ["order.opened"], "description": "x"}
    assert sent(service) == [("POST", "/webhooks", body)]


CALLS: dict[str, tuple[Any, Any, tuple[str, str, Any]]] = {
    "list": (lambda hooks: hooks.list(), {"items": [HOOK]}, ("GET", "/webhooks", None)),
    "get": (lambda hooks: hooks.get("wh_1"), HOOK, ("GET", "/webhooks/wh_1", None)),
    "update": (
        lambda hooks: hooks.update("wh_1", enabled=False),
        HOOK,
        ("PATCH", "/webhooks/wh_1", {"enabled": False}),
    ),
    "update all": (
        lambda hooks: hooks.update("wh_1", url="https://x", types=None, description="y"),
        HOOK,
        ("PATCH", "/webhooks/wh_1", {"url": "https://x", "types": None, "description": "y"}),
    ),
    "delete": (
        lambda hooks: hooks.delete("wh/1"),
        {"id": "wh/1", "deleted": True},
        ("DELETE", "/webhooks/wh/1", None),
    ),
    "rotate": (
        lambda hooks: hooks.rotate("wh_1"),
        {**HOOK, "secret": "whsec_new", "previous_secret_until": AT},
        ("POST", "/webhooks/wh_1/rotate", None),
    ),
    "test": (lambda hooks: hooks.test("wh_1"), RECEIPT, ("POST", "/webhooks/wh_1/test", None)),
    "attempts": (
        lambda hooks: hooks.attempts("wh_1"),
        {"items": [TRIED]},
        ("GET", "/webhooks/wh_1/attempts", None),
    ),
    "dead": (lambda hooks: hooks.dead("wh_1"), {"items": [DEAD]}, ("GET", "/webhooks/wh_1/dead", None)),
    "replay": (
        lambda hooks: hooks.replay("wh_1", number=17),
        {"replaying": 1},
        ("POST", "/webhooks/wh_1/replay", {"number": 17}),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call(kind: Kind, name: str) -> None:
    calling, body, request = CALLS[name]
    service = MockService(answer(200, body))
    value = called(kind, service, calling)
    assert sent(service) == [request]
    match name:
        case "list":
            assert [each.id for each in value] == ["wh_1"]
        case "test":
            assert value == WebhookReceipt(delivered=False, duration_ms=41, error="No route.", response="")
        case "attempts":
            assert isinstance(value[0], WebhookAttempt)
            assert (value[0].type.known, value[0].number) == (False, 0)
        case "dead":
            assert isinstance(value[0], DeadEvent)
            assert value[0].tries == 19
        case "replay":
            assert value == 1
        case "delete":
            assert value is None
            assert service.requests[0].url.raw_path.endswith(b"/webhooks/wh%2F1")
        case _:
            assert isinstance(value, Webhook)
            assert value.secret == ("whsec_new" if name == "rotate" else None)


def test_both_clients_say_the_same_of_them() -> None:
    for name in CALLS.keys() - {"update all"} | {"create"}:
        assert getattr(Webhooks, name).__doc__ == getattr(AsyncWebhooks, name).__doc__


LOST = httpx.ReadTimeout("")


@pytest.mark.parametrize(
    ("lost", "error"),
    [
        (lambda: LOST, NoAnswer),
        (lambda: refusal(503, "service_unavailable"), Unavailable),
        (lambda: answer(502, b"<html>"), UnexpectedAnswer),
    ],
    ids=["lost", "503", "502"],
)
def test_what_may_have_been_done_is_not_sent_again(kind: Kind, lost: Any, error: type[BullionError]) -> None:
    service = MockService(lost())
    with pytest.raises(error):
        called(kind, service, lambda hooks: hooks.create("https://x"))
    assert len(service.requests) == 1


def test_what_was_not_done_is_sent_again(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bullion_client.retry._FIRST_PAUSE_S", 0.01)
    limited = refusal(429, "rate_limited", retry_after=0)
    service = MockService(httpx.ConnectError("refused"), limited, answer(201, {**HOOK, "secret": "s"}))
    assert called(kind, service, lambda hooks: hooks.create("https://x")).secret == "s"
    service = MockService(LOST, answer(200, HOOK))
    assert called(kind, service, lambda hooks: hooks.update("wh_1", enabled=True)).enabled
    assert len(service.requests) == 2


def test_refusals_and_mistakes(kind: Kind) -> None:
    with pytest.raises(NotFound):
        called(kind, MockService(refusal(404, "webhook_not_found")), lambda hooks: hooks.get("wh_2"))
    with pytest.raises(ValueError, match="webhook_id is empty"):
        called(kind, MockService(), lambda hooks: hooks.get(""))
    with pytest.raises(TypeError, match="types must be a list"):
        called(kind, MockService(), lambda hooks: hooks.create("https://x", types="order.opened"))
