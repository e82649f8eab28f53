"""`{base}/webhooks`: addresses that get the account's events, which the client sets up itself."""

from collections.abc import Awaitable, Callable, Mapping
from secrets import token_hex
from typing import Protocol, TypeVar

import structlog

from bullion.allocation.book import environment_of
from bullion.budgets.limiter import Charge, Limiter, LimiterUnavailable, Throttled
from bullion.events.webhook import (
    TEST_TYPE,
    Attempt,
    DeadEvent,
    TooManyWebhooks,
    Webhook,
    WebhookChange,
    WebhookTable,
)
from bullion.events.webhook_address import UrlRefused, read_url
from bullion.events.webhook_changes import create_webhook, rotate_secret
from bullion.events.webhook_delivery import WebhookDelivery
from bullion.keys.encryption import Cipher
from bullion.keys.key import Scope
from bullion.orders.instant import instant_text
from bullion.refusals.catalogue import (
    INSUFFICIENT_SCOPE,
    RATE_LIMITED,
    SERVICE_UNAVAILABLE,
    WEBHOOK_LIMIT,
    WEBHOOK_NOT_FOUND,
    WEBHOOK_OFF,
    WEBHOOK_URL_REFUSED,
)
from bullion.refusals.refusal import RefusalError
from bullion.web.body import read_body
from bullion.web.response import Response, encode_json, json_response

from .app import Handler
from .gate import scope_message
from .json_body import BODY_BYTES_MAX
from .orders import book_id_of
from .rate_limits import limit_headers
from .request import Request
from .webhook_body import read_change, read_create, read_replay
from .wire import webhooks as wire

_CREATED = 201
_TESTS_PER_MINUTE = 10
_MINUTE_S = 60
_BY_CLIENT = "Switched off by the client."

T = TypeVar("T")
_log = structlog.get_logger("api")


class WebhookStore(Protocol):
    """Each call is one transaction. May raise StoreFault."""

    async def read(self, name: str, work: Callable[[WebhookTable], Awaitable[T]]) -> T: ...

    async def write(self, name: str, work: Callable[[WebhookTable], Awaitable[T]]) -> T: ...


class Webhooks:
    def __init__(
        self,
        store: WebhookStore,
        delivery: WebhookDelivery,
        cipher: Cipher,
        limiter: Limiter,
        now_us: Callable[[], int],
        *,
        allow_private: bool,
    ) -> None:
        self._store = store
        self._delivery = delivery
        self._cipher = cipher
        self._limiter = limiter
        self._now_us = now_us
        self._allow_private = allow_private

    def calls(self) -> Mapping[str, Handler]:
        one = "/webhooks/{webhook_id}"
        return {
            "GET /webhooks": self.list_webhooks,
            "POST /webhooks": self.create,
            f"GET {one}": self.get,
            f"PATCH {one}": self.change,
            f"DELETE {one}": self.delete,
            f"POST {one}/rotate": self.rotate,
            f"POST {one}/test": self.test,
            f"GET {one}/attempts": self.attempts,
            f"GET {one}/dead": self.dead,
            f"POST {one}/replay": self.replay,
        }

    async def list_webhooks(self, request: Request) -> Response:
        book_id = book_id_of(request)
        found = await self._store.read("webhooks", lambda table: table.of_book(book_id))
        return json_response(wire.WebhookList([wire.webhook_view(each) for each in found]))

    async def create(self, request: Request) -> Response:
        _check_may_read_orders(request)
        sent = read_create(request.scope["headers"], await _body(request))
        url, book_id = self._checked(sent.url or ""), book_id_of(request)

        async def work(table: WebhookTable) -> tuple[Webhook, str]:
            return await create_webhook(
                table,
                self._cipher,
                book_id=book_id,
                url=url,
                types=sent.types or (),
                description=sent.description or "",
                created_by=f"key {request.caller.key.key_id}",
            )

        try:
            made, secret = await self._store.write("create_webhook", work)
        except TooManyWebhooks:
            raise RefusalError(WEBHOOK_LIMIT) from None
        _log_change(request, made.id, "created")
        return Response(_CREATED, encode_json(wire.with_secret(made, secret)))

    async def get(self, request: Request) -> Response:
        return json_response(wire.webhook_view(await self._find(request)))

    async def change(self, request: Request) -> Response:
        _check_may_read_orders(request)
        sent = read_change(request.scope["headers"], await _body(request))
        change = WebhookChange(
            url=None if sent.url is None else self._checked(sent.url),
            types=sent.types,
            description=sent.description,
            on=sent.enabled,
            off_reason=_BY_CLIENT if sent.enabled is False else None,
        )

        async def work(table: WebhookTable) -> Webhook:
            webhook = await _found(table, request)
            await table.change(webhook.book_id, webhook.id, change)
            return await _found(table, request)

        changed = await self._store.write("change_webhook", work)
        _log_change(request, changed.id, "changed")
        return json_response(wire.webhook_view(changed))

    async def delete(self, request: Request) -> Response:
        async def work(table: WebhookTable) -> str:
            webhook = await _found(table, request)
            await table.delete(webhook.book_id, webhook.id)
            return webhook.id

        deleted = await self._store.write("delete_webhook", work)
        _log_change(request, deleted, "deleted")
        return json_response(wire.DeletedWebhook(deleted, deleted=True))

    async def rotate(self, request: Request) -> Response:
        async def work(table: WebhookTable) -> tuple[Webhook, str]:
            rotated = await rotate_secret(table, self._cipher, await _found(table, request))
            if rotated is None:  # Somebody else rotated it at the same moment.
                raise RefusalError(SERVICE_UNAVAILABLE)
            return rotated

        webhook, secret = await self._store.write("rotate_webhook", work)
        _log_change(request, webhook.id, "rotated")
        return json_response(wire.with_secret(webhook, secret))

    async def test(self, request: Request) -> Response:
        webhook = await self._find(request)
        await self._count_test(request)
        event_id = f"evt_{token_hex(16)}"
        body = encode_json(
            {
                "id": event_id,
                "number": 0,
                "type": TEST_TYPE,
                "timestamp": instant_text(self._now_us()),
                "environment": environment_of(webhook.book_id),
                "data": {"webhook_id": webhook.id},
            }
        )
        receipt = await self._delivery.test(webhook, event_id, TEST_TYPE, body)
        return json_response(wire.receipt_view(receipt))

    async def attempts(self, request: Request) -> Response:
        async def work(table: WebhookTable) -> list[Attempt]:
            webhook = await _found(table, request)
            return await table.attempts(webhook.book_id, webhook.id)

        found = await self._store.read("webhook_attempts", work)
        return json_response(wire.WebhookAttemptList([wire.attempt_view(each) for each in found]))

    async def dead(self, request: Request) -> Response:
        async def work(table: WebhookTable) -> list[DeadEvent]:
            webhook = await _found(table, request)
            return await table.dead(webhook.book_id, webhook.id)

        found = await self._store.read("webhook_dead_events", work)
        return json_response(wire.DeadEventList([wire.dead_event_view(each) for each in found]))

    async def replay(self, request: Request) -> Response:
        _check_may_read_orders(request)
        number = read_replay(request.scope["headers"], await _body(request))

        async def work(table: WebhookTable) -> int:
            webhook = await _found(table, request)
            if not webhook.on:
                raise RefusalError(WEBHOOK_OFF)
            return await table.replay(webhook.book_id, webhook.id, number)

        return json_response(wire.WebhookReplay(await self._store.write("replay_webhook", work)))

    async def _find(self, request: Request) -> Webhook:
        return await self._store.read("webhook", lambda table: _found(table, request))

    def _checked(self, url: str) -> str:
        try:
            read_url(url, allow_private=self._allow_private)
        except UrlRefused as refused:
            raise RefusalError(WEBHOOK_URL_REFUSED, str(refused)) from None
        return url

    async def _count_test(self, request: Request) -> None:
        """A test calls another's server at once, so there are few of them."""
        account = request.caller.account
        tests = Charge(f"webhook tests {account.broker} {account.login_id}", _TESTS_PER_MINUTE, _MINUTE_S)
        try:
            counted = await self._limiter.take(tests, failed=True)
        except LimiterUnavailable:
            raise RefusalError(SERVICE_UNAVAILABLE) from None
        if isinstance(counted, Throttled):
            request.call.header_lines = b""  # Those of the other budget: the refusal has its own.
            raise RefusalError(
                RATE_LIMITED,
                f"At most {_TESTS_PER_MINUTE} tests of webhooks a minute are allowed.",
                retry_after_s=counted.retry_after_s,
                headers=limit_headers(counted.budget_state),
            )


def _check_may_read_orders(request: Request) -> None:
    """Events tell of orders, so only who may read those decides where they are sent."""
    if Scope.ORDERS_READ not in request.caller.key.scopes:
        raise RefusalError(INSUFFICIENT_SCOPE, scope_message(INSUFFICIENT_SCOPE, Scope.ORDERS_READ))


async def _body(request: Request) -> bytes:
    return await read_body(request.scope["headers"], request.receive, BODY_BYTES_MAX)


async def _found(table: WebhookTable, request: Request) -> Webhook:
    webhook = await table.find(book_id_of(request), request.params["webhook_id"])
    if webhook is None:
        raise RefusalError(WEBHOOK_NOT_FOUND)
    return webhook


def _log_change(request: Request, webhook_id: str, change: str) -> None:
    caller = request.caller
    _log.info(
        "webhook_changed",
        webhook=webhook_id,
        change=change,
        account=caller.account.login_id,
        key_id=caller.key.key_id,
    )
