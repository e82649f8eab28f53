"""Webhooks of an account. All are extensions."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from bullion.allocation.book import environment_of
from bullion.environment import Environment
from bullion.events import webhook as kept
from bullion.events.event import EventType
from bullion.events.webhook import ATTEMPTS_KEPT, DESCRIPTION_LENGTH_MAX, RESPONSE_BYTES_KEPT
from bullion.events.webhook_address import URL_LENGTH_MAX
from bullion.events.webhook_changes import OVERLAP_S
from bullion.orders.instant import instant_text

from .values import Instant, about, schema

_HOOK_URL = "https://hooks.example.com/bullion"
_HOUR_S = 3600
_TypeText = Annotated[str, schema(enum=[each.value for each in EventType])]
_Types = Annotated[list[_TypeText], Meta(min_length=1), schema(uniqueItems=True)]
_Url = Annotated[str, Meta(min_length=1, max_length=URL_LENGTH_MAX), schema(format="uri")]
_Description = Annotated[str, Meta(max_length=DESCRIPTION_LENGTH_MAX)]


class CreateWebhook(Struct, forbid_unknown_fields=True):
    """An address that should get the account's events."""

    url: Annotated[
        _Url,
        about("Where events are sent: a URL with `https` that leads to the public internet.", _HOOK_URL),
    ]
    types: Annotated[
        _Types | UnsetType | None,
        about("The types of events to send. `null`, or left out: all.", ["order.opened", "order.closed"]),
    ] = UNSET
    description: Annotated[
        _Description | UnsetType, about("For people.", "order book of the back office")
    ] = UNSET


class ChangeWebhook(Struct, forbid_unknown_fields=True):
    """What is to be different. A field that is left out stays as it is."""

    url: Annotated[_Url | UnsetType, about("Where events are sent from now on.")] = UNSET
    types: Annotated[_Types | UnsetType | None, about("The types of events to send. `null`: all.")] = UNSET
    description: Annotated[_Description | UnsetType, about("For people.")] = UNSET
    enabled: Annotated[
        bool | UnsetType,
        about("`false` stops it. `true` lets it go on with the event that it stopped at.", example=True),
    ] = UNSET


class ReplayWebhook(Struct, forbid_unknown_fields=True):
    """Which events are sent again."""

    number: Annotated[
        Annotated[int, Meta(ge=1)] | UnsetType | None,
        about("The event's number. `null`, or left out: all.", 17),
    ] = UNSET


class WebhookStatus(Struct):
    """An address that gets the account's events, and how the delivery stands."""

    id: Annotated[
        str, about("Names the webhook.", "wh_5d1f0a6c9be2774301c85e92", pattern="^wh_[0-9a-f]{24}$")
    ]
    url: Annotated[str, about("Where events are sent.", _HOOK_URL)]
    types: Annotated[
        list[_TypeText] | None,
        about("The types of events that are sent. `null`: all.", ["order.opened", "order.closed"]),
    ]
    description: Annotated[str, about("For people.", "order book of the back office")]
    environment: Annotated[str, about("The environment.", "test", enum=[each.value for each in Environment])]
    enabled: Annotated[bool, about("Whether events are sent.", example=True)]
    disabled_reason: Annotated[str | None, about("Why not, for people.", None)]
    disabled_at: Annotated[Instant | None, about("Since when not.", None)]
    created_at: Annotated[Instant, about("When it was set up.", "2026-11-15T04:31:21.250417+00:00")]
    delivered_through: Annotated[
        int,
        Meta(ge=0),
        about("Every event up to this number was delivered, given up, or is of another type.", 17),
    ]
    newest: Annotated[int, Meta(ge=0), about("The number of the account's newest event.", 17)]
    tries: Annotated[int, Meta(ge=0), about("How often the next event was tried so far.", 0)]
    failing_since: Annotated[Instant | None, about("The first failure after the last delivery.", None)]
    next_try_at: Annotated[Instant | None, about("When the event that failed is tried again.", None)]
    last_delivered_at: Annotated[
        Instant | None, about("The last delivery.", "2026-11-15T04:35:02.114207+00:00")
    ]
    previous_secret_until: Annotated[
        Instant | None,
        about(
            f"After a rotation, for {OVERLAP_S // _HOUR_S} hours: until then the old secret signs too.", None
        ),
    ]


class WebhookWithSecret(WebhookStatus):
    """A webhook with its secret, which is shown once."""

    secret: Annotated[
        str,
        about(
            "Verifies the signatures. It is never shown again: keep it.",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
            pattern="^whsec_[A-Za-z0-9+/]{43}=$",
        ),
    ]


class WebhookList(Struct):
    """The webhooks of the account in this environment."""

    items: Annotated[list[WebhookStatus], about("The oldest first.")]


class DeletedWebhook(Struct):
    """A webhook that is no more."""

    id: Annotated[str, about("Its id.", "wh_5d1f0a6c9be2774301c85e92")]
    deleted: Annotated[bool, about("Always `true`.", example=True)]


class WebhookReceipt(Struct):
    """What the receiver made of one event."""

    delivered: Annotated[bool, about("Whether it answered with a status from 200 to 299.", example=True)]
    status: Annotated[int | None, about("The status it answered with. `null`: there was no answer.", 200)]
    duration_ms: Annotated[int, Meta(ge=0), about("How long that took, in milliseconds.", 41)]
    error: Annotated[str | None, about("Why it does not count as delivered, for people.", None)]
    response: Annotated[
        str, about(f"The beginning of its answer: up to {RESPONSE_BYTES_KEPT} bytes, as text.", "ok")
    ]


class WebhookAttempt(WebhookReceipt):
    """One try to deliver an event."""

    event_id: Annotated[str, about("The `id` of the event.", "evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11")]
    number: Annotated[int, Meta(ge=0), about("Its number; 0 for a test.", 17)]
    type: Annotated[
        str,
        about(
            "Its type; `webhook.test` for a test, `webhook.lost` for events that are gone.", "order.opened"
        ),
    ]
    at: Annotated[Instant, about("When it was sent.", "2026-11-15T04:35:02.114207+00:00")]


class WebhookAttemptList(Struct):
    """The last attempts."""

    items: Annotated[list[WebhookAttempt], about(f"The newest {ATTEMPTS_KEPT}, the newest first.")]


class DeadEvent(Struct):
    """An event that was given up."""

    event_id: Annotated[str, about("The `id` of the event.", "evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11")]
    number: Annotated[int, Meta(ge=1), about("Its number.", 17)]
    type: Annotated[str, about("Its type.", "order.opened")]
    given_up_at: Annotated[Instant, about("When it was given up.", "2026-11-18T05:35:02.114207+00:00")]
    tries: Annotated[int, Meta(ge=1), about("How often it was tried.", 19)]
    error: Annotated[str, about("What went wrong the last time, for people.", "The receiver answered 500.")]
    replaying: Annotated[bool, about("Whether it is about to be sent again.", example=False)]


class DeadEventList(Struct):
    """The events that were given up."""

    items: Annotated[list[DeadEvent], about("The oldest first.")]


class WebhookReplay(Struct):
    """How many events are sent again."""

    replaying: Annotated[int, Meta(ge=0), about("Their number.", 1)]


def webhook_view(webhook: kept.Webhook) -> WebhookStatus:
    waits = webhook.on and webhook.tries > 0
    return WebhookStatus(
        id=webhook.id,
        url=webhook.url,
        types=list(webhook.types) or None,
        description=webhook.description,
        environment=environment_of(webhook.book_id).value,
        enabled=webhook.on,
        disabled_reason=webhook.off_reason,
        disabled_at=_instant(webhook.off_at_us),
        created_at=instant_text(webhook.created_at_us),
        delivered_through=webhook.delivered_through,
        newest=webhook.newest,
        tries=webhook.tries,
        failing_since=_instant(webhook.failing_since_us),
        next_try_at=instant_text(webhook.next_try_at_us) if waits else None,
        last_delivered_at=_instant(webhook.last_delivered_at_us),
        previous_secret_until=_instant(webhook.previous_until_us),
    )


def with_secret(webhook: kept.Webhook, secret: str) -> WebhookWithSecret:
    return WebhookWithSecret(**asdict(webhook_view(webhook)), secret=secret)


def receipt_view(receipt: kept.Receipt) -> WebhookReceipt:
    return WebhookReceipt(
        delivered=receipt.delivered,
        status=receipt.status,
        duration_ms=receipt.duration_ms,
        error=receipt.error,
        response=receipt.response,
    )


def attempt_view(attempt: kept.Attempt) -> WebhookAttempt:
    return WebhookAttempt(
        **asdict(receipt_view(attempt.receipt)),
        event_id=attempt.event_id,
        number=attempt.number,
        type=attempt.type,
        at=instant_text(attempt.at_us),
    )


def dead_event_view(dead: kept.DeadEvent) -> DeadEvent:
    return DeadEvent(
        event_id=dead.event_id,
        number=dead.number,
        type=dead.type,
        given_up_at=instant_text(dead.dead_at_us),
        tries=dead.tries,
        error=dead.error,
        replaying=dead.replaying,
    )


def _instant(at_us: int | None) -> str | None:
    return None if at_us is None else instant_text(at_us)
