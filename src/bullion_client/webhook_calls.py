"""The calls for webhooks: `client.webhooks`. They need the scope `webhooks:manage`.

Creating, rotating, testing and replaying are sent again only if the service cannot have done them: a second
time they would do something else.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import EllipsisType
from typing import Protocol, TypeVar
from urllib.parse import quote

from bullion_client.calls import Call, read_until_answered, write_until_answered
from bullion_client.enums import EventType
from bullion_client.flow import Flow, Value
from bullion_client.rate_limit import Pacer
from bullion_client.responses import Answer, read
from bullion_client.retry import Tries
from bullion_client.transport import Access
from bullion_client.webhook_models import DeadEvent, Webhook, WebhookAttempt, WebhookReceipt

_Read = TypeVar("_Read")
Types = Iterable[EventType | str] | None


class _Run(Protocol):
    def __call__(self, flow: Flow[Value], /) -> Value: ...


class _RunAsync(Protocol):
    async def __call__(self, flow: Flow[Value], /) -> Value: ...


class WebhookFlows:
    """A flow for each call."""

    def __init__(self, access: Access, pacer: Pacer | None, tries: Callable[[], Flow[Tries]]) -> None:
        self._access = access
        self._pacer = pacer
        self._tries = tries

    def create(self, url: str, types: Types, description: str) -> Flow[Webhook]:
        body = {"url": url, "types": _listed(types), "description": description}
        return self._once("POST", "", body, partial(read, Webhook))

    def all(self) -> Flow[tuple[Webhook, ...]]:
        return self._again("GET", "", None, partial(_items, Webhook))

    def get(self, webhook_id: str) -> Flow[Webhook]:
        return self._again("GET", _path(webhook_id), None, partial(read, Webhook))

    def update(
        self,
        webhook_id: str,
        url: str | None,
        types: Types | EllipsisType,
        description: str | None,
        enabled: bool | None,
    ) -> Flow[Webhook]:
        given = {"url": url, "description": description, "enabled": enabled}
        body: dict[str, object] = {name: value for name, value in given.items() if value is not None}
        if not isinstance(types, EllipsisType):
            body["types"] = _listed(types)
        return self._again("PATCH", _path(webhook_id), body, partial(read, Webhook))

    def delete(self, webhook_id: str) -> Flow[None]:
        return self._again("DELETE", _path(webhook_id), None, _nothing)

    def rotate(self, webhook_id: str) -> Flow[Webhook]:
        return self._once("POST", _path(webhook_id, "rotate"), None, partial(read, Webhook))

    def test(self, webhook_id: str) -> Flow[WebhookReceipt]:
        return self._once("POST", _path(webhook_id, "test"), None, partial(read, WebhookReceipt))

    def attempts(self, webhook_id: str) -> Flow[tuple[WebhookAttempt, ...]]:
        return self._again("GET", _path(webhook_id, "attempts"), None, partial(_items, WebhookAttempt))

    def dead(self, webhook_id: str) -> Flow[tuple[DeadEvent, ...]]:
        return self._again("GET", _path(webhook_id, "dead"), None, partial(_items, DeadEvent))

    def replay(self, webhook_id: str, number: int | None) -> Flow[int]:
        body = {"number": number}
        return self._once("POST", _path(webhook_id, "replay"), body, _replaying)

    def _again(
        self, method: str, path: str, body: Mapping[str, object] | None, read: Callable[[Answer], _Read]
    ) -> Flow[_Read]:
        tries = yield from self._tries()
        return (yield from read_until_answered(self._call(method, path, body, read), tries))

    def _once(
        self, method: str, path: str, body: Mapping[str, object] | None, read: Callable[[Answer], _Read]
    ) -> Flow[_Read]:
        tries = yield from self._tries()
        return (yield from write_until_answered(self._call(method, path, body, read), tries))

    def _call(
        self, method: str, path: str, body: Mapping[str, object] | None, read: Callable[[Answer], _Read]
    ) -> Call[_Read]:
        content = None if body is None else json.dumps(body).encode()
        request = partial(self._access.request, method, f"/webhooks{path}", content)
        return Call("reads", request, read, self._pacer)


class Webhooks:
    """The webhooks of the account: addresses that get its events. Needs the scope `webhooks:manage`."""

    def __init__(self, flows: WebhookFlows, run: _Run) -> None:
        self._flows = flows
        self._run = run

    def create(self, url: str, *, types: Types = None, description: str = "") -> Webhook:
        """Create a webhook for all events, or for some types. Keep its `secret`: it is shown only here."""
        return self._run(self._flows.create(url, types, description))

    def list(self) -> tuple[Webhook, ...]:
        """Return the webhooks, oldest first."""
        return self._run(self._flows.all())

    def get(self, webhook_id: str) -> Webhook:
        """Return a webhook, or raise `NotFound`."""
        return self._run(self._flows.get(webhook_id))

    def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        types: Types | EllipsisType = ...,
        description: str | None = None,
        enabled: bool | None = None,
    ) -> Webhook:
        """Change what is given; `types=None` means all types. Enabled again, it goes on where it stopped."""
        return self._run(self._flows.update(webhook_id, url, types, description, enabled))

    def delete(self, webhook_id: str) -> None:
        """Delete a webhook."""
        self._run(self._flows.delete(webhook_id))

    def rotate(self, webhook_id: str) -> Webhook:
        """Replace the secret. Until `previous_secret_until` events are signed with both."""
        return self._run(self._flows.rotate(webhook_id))

    def test(self, webhook_id: str) -> WebhookReceipt:
        """Send an event of the type `webhook.test` now, and return what the receiver made of it."""
        return self._run(self._flows.test(webhook_id))

    def attempts(self, webhook_id: str) -> tuple[WebhookAttempt, ...]:
        """Return the last attempts to deliver events, newest first."""
        return self._run(self._flows.attempts(webhook_id))

    def dead(self, webhook_id: str) -> tuple[DeadEvent, ...]:
        """Return the events that were given up, oldest first."""
        return self._run(self._flows.dead(webhook_id))

    def replay(self, webhook_id: str, *, number: int | None = None) -> int:
        """Send events that were given up again: all, or the one with this number. Return how many."""
        return self._run(self._flows.replay(webhook_id, number))


class AsyncWebhooks:
    """The webhooks of the account: addresses that get its events. Needs the scope `webhooks:manage`."""

    def __init__(self, flows: WebhookFlows, run: _RunAsync) -> None:
        self._flows = flows
        self._run = run

    async def create(self, url: str, *, types: Types = None, description: str = "") -> Webhook:
        """Create a webhook for all events, or for some types. Keep its `secret`: it is shown only here."""
        return await self._run(self._flows.create(url, types, description))

    async def list(self) -> tuple[Webhook, ...]:
        """Return the webhooks, oldest first."""
        return await self._run(self._flows.all())

    async def get(self, webhook_id: str) -> Webhook:
        """Return a webhook, or raise `NotFound`."""
        return await self._run(self._flows.get(webhook_id))

    async def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        types: Types | EllipsisType = ...,
        description: str | None = None,
        enabled: bool | None = None,
    ) -> Webhook:
        """Change what is given; `types=None` means all types. Enabled again, it goes on where it stopped."""
        return await self._run(self._flows.update(webhook_id, url, types, description, enabled))

    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook."""
        await self._run(self._flows.delete(webhook_id))

    async def rotate(self, webhook_id: str) -> Webhook:
        """Replace the secret. Until `previous_secret_until` events are signed with both."""
        return await self._run(self._flows.rotate(webhook_id))

    async def test(self, webhook_id: str) -> WebhookReceipt:
        """Send an event of the type `webhook.test` now, and return what the receiver made of it."""
        return await self._run(self._flows.test(webhook_id))

    async def attempts(self, webhook_id: str) -> tuple[WebhookAttempt, ...]:
        """Return the last attempts to deliver events, newest first."""
        return await self._run(self._flows.attempts(webhook_id))

    async def dead(self, webhook_id: str) -> tuple[DeadEvent, ...]:
        """Return the events that were given up, oldest first."""
        return await self._run(self._flows.dead(webhook_id))

    async def replay(self, webhook_id: str, *, number: int | None = None) -> int:
        """Send events that were given up again: all, or the one with this number. Return how many."""
        return await self._run(self._flows.replay(webhook_id, number))


def _listed(types: Types) -> list[str] | None:
    if isinstance(types, str):
        raise TypeError("types must be a list of types, not one text")
    return None if types is None else [str(each) for each in types]


def _path(webhook_id: str, action: str = "") -> str:
    if not isinstance(webhook_id, str):
        raise TypeError(f"a webhook's id is a string, not {type(webhook_id).__name__}")
    if not webhook_id:
        raise ValueError("webhook_id is empty")
    path = f"/{quote(webhook_id, safe='')}"
    return f"{path}/{action}" if action else path


def _items(kind: type[_Read], answer: Answer) -> tuple[_Read, ...]:
    return answer.values("items", kind)


def _nothing(answer: Answer) -> None:
    answer.value("deleted", bool)


def _replaying(answer: Answer) -> int:
    count: int = answer.value("replaying", int)
    return count
