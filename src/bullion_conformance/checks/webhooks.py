"""Webhooks: how a client sets them up, which addresses are refused, and what is sent."""

import hmac
import json
from base64 import b64decode, b64encode
from typing import Any
from urllib.parse import urlsplit

from bullion_conformance.check import Need, check
from bullion_conformance.checks.events import events_after
from bullion_conformance.client import CREATED, JSON, OK, Client, body_of, refused
from bullion_conformance.context import Context
from bullion_conformance.desk import ALL_SCOPES
from bullion_conformance.exchange import Exchange
from bullion_conformance.receiver import Delivery, Receiver, receiving
from bullion_conformance.shapes import text_of, value_of, values_of
from bullion_conformance.verdict import CheckFailed, NotChecked, expect, expect_equal

SCOPE = "webhooks:manage"
_SOMEWHERE = "https://receiver.invalid/conformance"
"""No host has this name. A webhook for revoked keys alone is never sent there."""
_QUIET = {"url": _SOMEWHERE, "types": ["key.revoked"], "description": "conformance kit"}
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_INSIDE = (
    "https://127.0.0.1/",
    "https://10.0.0.1/",
    "https://192.168.0.1/",
    "https://169.254.169.254/",
    "https://[::1]/",
    "https://localhost/",
    "http://receiver.invalid/",
)
_REFUSED = 422


def _manager(c: Context) -> Client:
    return c.new_client(key={"scopes": [*ALL_SCOPES, SCOPE]})


def _send(client: Client, method: str, path: str, body: dict[str, Any] | None = None) -> Exchange:
    if body is None:
        return client.call(method, path)
    return client.call(method, path, headers=JSON, content=json.dumps(body).encode())


def _created(client: Client, **body: Any) -> dict[str, Any]:
    return body_of(_send(client, "POST", "/webhooks", _QUIET | body), CREATED)


@check("bullion.webhooks", need=Need.DESK)
def webhooks_are_kept(c: Context) -> None:
    client = _manager(c)
    made = _created(client)
    path = f"/webhooks/{text_of(made, 'id')}"
    expect_equal(value_of(made, "types"), _QUIET["types"], "`types`")
    read = body_of(_send(client, "GET", path), OK)
    listed = values_of(body_of(_send(client, "GET", "/webhooks"), OK), "items")
    expect_equal(listed, [read], "The list of webhooks")
    changed = body_of(_send(client, "PATCH", path, {"types": None, "enabled": False}), OK)
    expect_equal((changed.get("types"), changed.get("enabled")), (None, False), "`types` and `enabled`")
    body_of(_send(client, "DELETE", path), OK)
    refused(_send(client, "GET", path), "webhook_not_found")


@check("bullion.webhooks.secret", need=Need.DESK)
def secrets_are_shown_once(c: Context) -> None:
    client = _manager(c)
    made = _created(client)
    first = text_of(made, "secret")
    path = f"/webhooks/{made['id']}"
    expect(first.startswith("whsec_"), "The secret does not begin with whsec_.")
    for answer in (_send(client, "GET", path), _send(client, "GET", "/webhooks")):
        expect("whsec_" not in answer.text, f"{answer.call} shows the secret again.")
    second = text_of(body_of(_send(client, "POST", f"{path}/rotate"), OK), "secret")
    expect(second != first, "After a rotation the secret is the same.")
    until = body_of(_send(client, "GET", path), OK).get("previous_secret_until")
    expect(until is not None, "After a rotation `previous_secret_until` is null.")


@check("bullion.webhooks.scope", need=Need.DESK)
def webhooks_need_their_scope(c: Context) -> None:
    client = c.new_client()
    refused(_send(client, "GET", "/webhooks"), "insufficient_scope")
    refused(_send(client, "POST", "/webhooks", _QUIET), "insufficient_scope")


@check("bullion.webhooks.inside", need=Need.DESK)
def addresses_inside_are_refused(c: Context) -> None:
    client = _manager(c)
    if _send(client, "POST", "/webhooks", _QUIET | {"url": _INSIDE[0]}).status == CREATED:
        raise NotChecked("this deployment allows webhooks to private addresses")
    for url in _INSIDE:
        answer = _send(client, "POST", "/webhooks", _QUIET | {"url": url})
        refused(answer, "webhook_url_refused")
        expect_equal(answer.status, _REFUSED, "The status of webhook_url_refused")


@check("bullion.webhooks.sent", need=Need.DESK, orders=2, waits_s=2.0)
def events_are_sent_and_signed(c: Context) -> None:
    if urlsplit(str(c.connection.http.base_url)).hostname not in _LOOPBACK:
        raise NotChecked("the service is not on this machine, so it cannot call the kit")
    client = _manager(c)
    with receiving() as receiver:
        answer = _send(client, "POST", "/webhooks", {"url": receiver.url, "types": ["order.created"]})
        if answer.code == "webhook_url_refused":
            raise NotChecked("this deployment sends webhooks to public addresses alone")
        made = body_of(answer, CREATED)
        client.placed()
        client.placed()
        try:
            c.until(lambda: len(receiver.deliveries) >= 2, "Two orders were placed, and not both were sent.")
            _are_right(receiver, events_after(client, 0), made["secret"])
        finally:
            _send(client, "DELETE", f"/webhooks/{made['id']}")


def _are_right(receiver: Receiver, events: list[dict[str, Any]], secret: str) -> None:
    for delivery, event in zip(receiver.deliveries, events, strict=False):
        expect_equal(_event(delivery), event, f"Delivery {event['number']}")
        expect_equal(delivery.headers.get("webhook-id"), event["id"], "`webhook-id`")
        expect(_is_signed(delivery, secret), "`webhook-signature` is not that of the body and the secret.")


def _event(delivery: Delivery) -> Any:
    try:
        return json.loads(delivery.body)
    except ValueError as error:
        raise CheckFailed("The body of a webhook is not JSON.") from error


def _is_signed(delivery: Delivery, secret: str) -> bool:
    id_, at = (delivery.headers.get(f"webhook-{name}", "") for name in ("id", "timestamp"))
    signed = b".".join([id_.encode(), at.encode(), delivery.body])
    expected = b64encode(hmac.digest(b64decode(secret.removeprefix("whsec_")), signed, "sha256")).decode()
    return f"v1,{expected}" in delivery.headers.get("webhook-signature", "").split(" ")
