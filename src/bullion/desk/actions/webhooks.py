"""Webhooks of accounts: set up, switched on and off, and what became of their deliveries."""

from bullion.allocation.book import book_id, environment_of
from bullion.desk.audit_wording.people import tell_webhook
from bullion.desk.bodies import ReplayBody, WebhookBody
from bullion.desk.desk import ChangeResult, Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.environment import Environment
from bullion.events.webhook import Attempt, DeadEvent, TooManyWebhooks, Webhook, WebhookChange
from bullion.events.webhook_address import UrlRefused, read_url
from bullion.events.webhook_changes import create_webhook as insert_webhook
from bullion.events.webhook_changes import rotate_secret
from bullion.keys.encryption import Cipher
from bullion.orders.instant import instant_text
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .accounts import find_client

_ONE = "/accounts/{login_id}/webhooks/{webhook_id}"


@action(
    "GET /accounts/{login_id}/webhooks",
    command="webhooks list",
    columns="webhook_id environment enabled url waiting failing_since last_delivered_at disabled_reason",
)
async def list_webhooks(desk: Desk, actor: Actor, login_id: str) -> list[View]:
    """List the webhooks of an account in both environments, and how their deliveries stand."""

    async def work(records: Records) -> list[View]:
        account_id = (await find_client(records, actor.broker, login_id)).account.id
        found = []
        for environment in Environment:
            for each in await records.webhooks.of_book(book_id(account_id, environment)):
                dead = await records.webhooks.dead(each.book_id, each.id)
                found.append(view(each, login_id) | {"dead_events": len(dead)})
        return found

    return await desk.read(actor, "webhooks", work)


@action(
    "POST /accounts/{login_id}/webhooks",
    Role.ADMIN,
    audit_text="set up a webhook",
    tell=tell_webhook("set up"),
    status=201,
    command="webhooks create",
    shown_once="secret",
)
async def create_webhook(desk: Desk, actor: Actor, login_id: str, body: WebhookBody) -> View:
    """Set up a webhook for an account. Its secret is shown only once.

    \b
    Example:
      bullion desk webhooks create aurum --environment test --url https://hooks.example.com/bullion
    """
    _check_url(desk, body.url)

    async def work(records: Records) -> ChangeResult:
        account_id = (await find_client(records, actor.broker, login_id)).account.id
        try:
            made, secret = await insert_webhook(
                records.webhooks,
                _cipher(desk),
                book_id=book_id(account_id, Environment(body.environment)),
                url=body.url,
                types=body.types,
                description=body.description,
                created_by=f"desk: {actor.name}",
            )
        except TooManyWebhooks:
            raise RefusalError(
                CONFLICT,
                f"{login_id} has as many {body.environment} webhooks as it may have. Delete one first.",
            ) from None
        shown = view(made, login_id)
        return ChangeResult(None, shown, {**shown, "secret": secret})

    return await desk.change(actor, login_id, work, catalogue=False)


@action(
    f"POST {_ONE}/enable",
    Role.ADMIN,
    audit_text="switched a webhook on",
    tell=tell_webhook("switched on"),
    command="webhooks enable",
)
async def enable_webhook(desk: Desk, actor: Actor, login_id: str, webhook_id: str) -> View:
    """Switch a webhook on. It goes on with the event that it stopped at, if that is still kept."""
    return await _change(desk, actor, login_id, webhook_id, WebhookChange(on=True))


@action(
    f"POST {_ONE}/disable",
    Role.DEALER,
    audit_text="switched a webhook off",
    tell=tell_webhook("switched off"),
    command="webhooks disable",
)
async def disable_webhook(desk: Desk, actor: Actor, login_id: str, webhook_id: str) -> View:
    """Switch a webhook off. Nothing is sent until somebody switches it on."""
    change = WebhookChange(on=False, off_reason="Switched off by the desk.")
    return await _change(desk, actor, login_id, webhook_id, change)


@action(
    f"POST {_ONE}/rotate",
    Role.ADMIN,
    audit_text="rotated the secret of a webhook",
    tell=tell_webhook("has a new secret"),
    command="webhooks rotate",
    shown_once="secret",
)
async def rotate_webhook(desk: Desk, actor: Actor, login_id: str, webhook_id: str) -> View:
    """Make a new secret for a webhook. For 24 hours both secrets sign. It is shown only once."""

    async def work(records: Records) -> ChangeResult:
        before = await _find(records, actor.broker, login_id, webhook_id)
        rotated = await rotate_secret(records.webhooks, _cipher(desk), before)
        if rotated is None:
            raise RefusalError(CONFLICT, "Somebody else rotated it at the same moment.")
        after, secret = rotated
        shown = view(after, login_id)
        return ChangeResult(view(before, login_id), shown, {**shown, "secret": secret})

    return await desk.change(actor, login_id, work, catalogue=False)


@action(
    f"DELETE {_ONE}",
    Role.ADMIN,
    audit_text="deleted a webhook",
    tell=tell_webhook("deleted"),
    command="webhooks delete",
    question="Delete {webhook_id} of {login_id}, with its secret and its log? This cannot be undone.",
)
async def delete_webhook(desk: Desk, actor: Actor, login_id: str, webhook_id: str) -> View:
    """Delete a webhook with its secret, its log of attempts and its list of events that were given up."""

    async def work(records: Records) -> ChangeResult:
        webhook = await _find(records, actor.broker, login_id, webhook_id)
        await records.webhooks.delete(webhook.book_id, webhook.id)
        return ChangeResult(view(webhook, login_id), None, {"webhook_id": webhook.id, "deleted": True})

    return await desk.change(actor, login_id, work, catalogue=False)


@action(
    f"GET {_ONE}/attempts",
    command="webhooks attempts",
    columns="at number type status duration_ms error response",
)
async def list_webhook_attempts(desk: Desk, actor: Actor, login_id: str, webhook_id: str) -> list[View]:
    """List the last 100 attempts to deliver events to a webhook, the newest first."""

    async def work(records: Records) -> list[Attempt]:
        webhook = await _find(records, actor.broker, login_id, webhook_id)
        return await records.webhooks.attempts(webhook.book_id, webhook.id)

    return [_attempt(each) for each in await desk.read(actor, "webhook_attempts", work)]


@action(
    f"GET {_ONE}/dead",
    command="webhooks dead",
    columns="number type given_up_at tries error replaying",
)
async def list_dead_events(desk: Desk, actor: Actor, login_id: str, webhook_id: str) -> list[View]:
    """List the events that could not be delivered within three days."""

    async def work(records: Records) -> list[DeadEvent]:
        webhook = await _find(records, actor.broker, login_id, webhook_id)
        return await records.webhooks.dead(webhook.book_id, webhook.id)

    return [_dead(each) for each in await desk.read(actor, "webhook_dead_events", work)]


@action(
    f"POST {_ONE}/replay",
    Role.DEALER,
    audit_text="replayed events to a webhook",
    tell=tell_webhook("gets events again"),
    command="webhooks replay",
)
async def replay_webhook(desk: Desk, actor: Actor, login_id: str, webhook_id: str, body: ReplayBody) -> View:
    """Send events that were given up once more: one, or all."""

    async def work(records: Records) -> ChangeResult:
        webhook = await _find(records, actor.broker, login_id, webhook_id)
        if not webhook.on:
            raise RefusalError(CONFLICT, "This webhook is off. Switch it on first.")
        number = await records.webhooks.replay(webhook.book_id, webhook.id, body.number)
        return ChangeResult(None, {**_name(webhook, login_id), "replaying": number})

    return await desk.change(actor, login_id, work, catalogue=False)


async def _change(desk: Desk, actor: Actor, login_id: str, webhook_id: str, change: WebhookChange) -> View:
    async def work(records: Records) -> ChangeResult:
        before = await _find(records, actor.broker, login_id, webhook_id)
        await records.webhooks.change(before.book_id, before.id, change)
        after = await _find(records, actor.broker, login_id, webhook_id)
        return ChangeResult(view(before, login_id), view(after, login_id))

    return await desk.change(actor, login_id, work, catalogue=False)


async def get_webhook(desk: Desk, actor: Actor, login_id: str, webhook_id: str) -> View:
    async def work(records: Records) -> Webhook:
        return await _find(records, actor.broker, login_id, webhook_id)

    return view(await desk.read(actor, "webhook", work), login_id)


async def _find(records: Records, broker: str, login_id: str, webhook_id: str) -> Webhook:
    account_id = (await find_client(records, broker, login_id)).account.id
    for environment in Environment:
        found = await records.webhooks.find(book_id(account_id, environment), webhook_id)
        if found is not None:
            return found
    raise RefusalError(NOT_FOUND, f"{login_id} has no such webhook.")


def _cipher(desk: Desk) -> Cipher:
    if desk.webhook_cipher is None:
        raise LookupError("this desk cannot encrypt the secrets of webhooks")
    return desk.webhook_cipher


def _check_url(desk: Desk, url: str) -> None:
    try:
        read_url(url, allow_private=desk.webhooks_may_be_private)
    except UrlRefused as refused:
        raise invalid_field(("url",), str(refused).removesuffix(".")) from None


def _name(webhook: Webhook, login_id: str) -> View:
    return {
        "webhook_id": webhook.id,
        "login_id": login_id,
        "environment": environment_of(webhook.book_id).value,
        "url": webhook.url,
    }


def view(webhook: Webhook, login_id: str) -> View:
    return {
        **_name(webhook, login_id),
        "types": list(webhook.types),
        "description": webhook.description,
        "enabled": webhook.on,
        "disabled_reason": webhook.off_reason,
        "disabled_at": _instant(webhook.off_at_us),
        "created_at": instant_text(webhook.created_at_us),
        "created_by": webhook.created_by,
        "delivered_through": webhook.delivered_through,
        "waiting": max(0, webhook.newest - webhook.delivered_through),
        "tries": webhook.tries,
        "failing_since": _instant(webhook.failing_since_us),
        "next_try_at": instant_text(webhook.next_try_at_us) if webhook.on and webhook.tries else None,
        "last_delivered_at": _instant(webhook.last_delivered_at_us),
        "previous_secret_until": _instant(webhook.previous_until_us),
    }


def _attempt(attempt: Attempt) -> View:
    receipt = attempt.receipt
    return {
        "event_id": attempt.event_id,
        "number": attempt.number,
        "type": attempt.type,
        "at": instant_text(attempt.at_us),
        "delivered": receipt.delivered,
        "status": receipt.status,
        "duration_ms": receipt.duration_ms,
        "error": receipt.error,
        "response": receipt.response,
    }


def _dead(dead: DeadEvent) -> View:
    return {
        "event_id": dead.event_id,
        "number": dead.number,
        "type": dead.type,
        "given_up_at": instant_text(dead.dead_at_us),
        "tries": dead.tries,
        "error": dead.error,
        "replaying": dead.replaying,
    }


def _instant(at_us: int | None) -> str | None:
    return None if at_us is None else instant_text(at_us)
