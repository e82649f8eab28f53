"""The calls that set up webhooks, in the order in which they are shown."""

from typing import Any

from bullion.environment import Environment
from bullion.events.event import EventType
from bullion.events.webhook import ATTEMPTS_KEPT, WEBHOOKS_MAX
from bullion.keys.key import Scope
from bullion.refusals.catalogue import (
    INVALID_REQUEST,
    REQUEST_TOO_LARGE,
    UNSUPPORTED_ENCODING,
    WEBHOOK_LIMIT,
    WEBHOOK_NOT_FOUND,
    WEBHOOK_OFF,
    WEBHOOK_URL_REFUSED,
)
from bullion.refusals.refusal import RefusalCode

from .endpoint import Endpoint
from .refusals import WITH_KEY
from .responses import BUDGET, response
from .schemas import Json, example_of, schema_ref

_NULLS = ("disabled_reason", "disabled_at", "failing_since", "next_try_at", "previous_secret_until")
_WITH_BODY = (REQUEST_TOO_LARGE, UNSUPPORTED_ENCODING, INVALID_REQUEST)
_WEBHOOK_ID: Json = {
    "name": "webhook_id",
    "in": "path",
    "required": True,
    "description": "The webhook's `id`.",
    "schema": {"type": "string", "minLength": 1},
    "example": "wh_5d1f0a6c9be2774301c85e92",
}
_PROBLEM = {
    "loc": ["body", "types"],
    "msg": f'types may have {", ".join(EventType)}; this has "order.opend".',
    "type": "not_a_choice",
}
_RECEIPT = {**example_of("WebhookReceipt"), "error": None}


def _webhook(environment: Environment, schema: str = "WebhookStatus") -> Json:
    return {**example_of(schema), **dict.fromkeys(_NULLS), "environment": environment.value}


def _body(schema: str, example: Json, *, required: bool = True) -> Json:
    return {
        "required": required,
        "content": {"application/json": {"schema": schema_ref(schema), "example": example}},
    }


def _call(
    name: str,
    call: str,
    summary: str,
    description: str,
    answer: tuple[str, str, str],
    *refusals: RefusalCode,
    body: Json | None = None,
    example: Any = None,
) -> Endpoint:
    """`answer`: the status, its meaning and its schema."""
    method, path = call.split()
    status, meaning, schema = answer
    of_one = "{" in path
    return Endpoint(
        name=name,
        method=method.lower(),
        path=path,
        scope=Scope.WEBHOOKS_MANAGE,
        tag="Webhooks",
        summary=summary,
        description=description,
        parameters={each: [_WEBHOOK_ID] for each in Environment} if of_one else {},
        body=body,
        responses={
            each: {
                status: response(
                    meaning, schema, _webhook(each, schema) if example is None else example, BUDGET
                )
            }
            for each in Environment
        },
        refusals=(
            *WITH_KEY,
            *(_WITH_BODY if body is not None else ()),
            *((WEBHOOK_NOT_FOUND,) if of_one else ()),
            *refusals,
        ),
        further={INVALID_REQUEST: {"errors": [_PROBLEM]}} if body is not None else {},
        extension=True,
    )


_ONE = "/webhooks/{webhook_id}"
_SECRET_ONCE = "The secret is in this answer alone: keep it."  # noqa: S105 - a sentence

WEBHOOK_ENDPOINTS = (
    _call(
        "create_webhook",
        "POST /webhooks",
        "Set up a webhook",
        "Sends every event from now on to a URL of yours, in order. A status from 200 to 299 says that you "
        "have it. The body is the event, as `GET /events` shows it, signed as Standard Webhooks has it. What "
        "fails is tried again for three days, then given up. An event may come twice: `webhook-id` tells. "
        f"An account has up to {WEBHOOKS_MAX} webhooks in each environment. {_SECRET_ONCE}",
        ("201", "The webhook is set up, and on.", "WebhookWithSecret"),
        WEBHOOK_URL_REFUSED,
        WEBHOOK_LIMIT,
        body=_body("CreateWebhook", example_of("CreateWebhook")),
    ),
    _call(
        "list_webhooks",
        "GET /webhooks",
        "List the webhooks",
        "Shows the webhooks of the account in this environment, also those that the desk set up.",
        ("200", "The webhooks.", "WebhookList"),
        example={"items": [_webhook(Environment.TEST)]},
    ),
    _call(
        "read_webhook",
        f"GET {_ONE}",
        "Read a webhook",
        "Shows whether it is on, how far it has come, and since when deliveries fail.",
        ("200", "The webhook.", "WebhookStatus"),
    ),
    _call(
        "change_webhook",
        f"PATCH {_ONE}",
        "Change a webhook",
        "Changes the fields that are sent. One that is enabled again goes on with the event that it stopped "
        "at, as long as that is kept.",
        ("200", "The webhook as it is now.", "WebhookStatus"),
        WEBHOOK_URL_REFUSED,
        body=_body("ChangeWebhook", {"enabled": True}),
    ),
    _call(
        "delete_webhook",
        f"DELETE {_ONE}",
        "Delete a webhook",
        "Deletes it with its secret, its attempts and its list of events that were given up.",
        ("200", "It is deleted.", "DeletedWebhook"),
        example=example_of("DeletedWebhook"),
    ),
    _call(
        "rotate_webhook",
        f"POST {_ONE}/rotate",
        "Rotate the secret",
        "Makes a new secret. For 24 hours requests have two signatures, one of each secret, so that you can "
        f"change over without a gap. {_SECRET_ONCE}",
        ("200", "The webhook with its new secret.", "WebhookWithSecret"),
    ),
    _call(
        "test_webhook",
        f"POST {_ONE}/test",
        "Send a test",
        "Sends an event of the type `webhook.test` at once, also if the webhook is off, and shows what the "
        "receiver answered. Up to 10 tests a minute; more get `rate_limited`.",
        ("200", "What the receiver made of it.", "WebhookReceipt"),
        example=_RECEIPT,
    ),
    _call(
        "webhook_attempts",
        f"GET {_ONE}/attempts",
        "Read the attempts",
        f"Shows the last {ATTEMPTS_KEPT} attempts to deliver events, with the status and the beginning of "
        "the answer.",
        ("200", "The attempts.", "WebhookAttemptList"),
        example={"items": [{**_RECEIPT, **example_of("WebhookAttempt"), "error": None}]},
    ),
    _call(
        "dead_webhook_events",
        f"GET {_ONE}/dead",
        "Read the events that were given up",
        "Shows the events that could not be delivered within three days.",
        ("200", "The events.", "DeadEventList"),
        example={"items": [example_of("DeadEvent")]},
    ),
    _call(
        "replay_webhook",
        f"POST {_ONE}/replay",
        "Send events again that were given up",
        "Sends one or all of them once more. One that fails again stays in the list. The body may be left "
        "out.",
        ("200", "How many are sent.", "WebhookReplay"),
        WEBHOOK_OFF,
        body=_body("ReplayWebhook", {"number": 17}, required=False),
        example=example_of("WebhookReplay"),
    ),
)
