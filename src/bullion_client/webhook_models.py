"""The values of webhooks: addresses that get the account's events."""

from dataclasses import dataclass, field
from datetime import datetime

from bullion_client.enums import Environment, EventType
from bullion_client.models import Answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook(Answered):
    """An address that gets the account's events, and how the delivery stands."""

    id: str
    """Its id, for the other calls."""

    url: str
    """Where events are sent."""

    types: tuple[EventType, ...] | None = None
    """The types of events that are sent; None for all."""

    description: str
    """For people."""

    environment: Environment
    """The environment whose events it gets."""

    enabled: bool
    """Whether events are sent."""

    disabled_reason: str | None = None
    """Why not, for people."""

    disabled_at: datetime | None = None
    """Since when not."""

    created_at: datetime
    """When it was created."""

    delivered_through: int
    """Every event up to this number was delivered, given up, or is of another type."""

    newest: int
    """The number of the account's newest event."""

    tries: int
    """How often the next event was tried so far."""

    failing_since: datetime | None = None
    """The first failure after the last delivery."""

    next_try_at: datetime | None = None
    """When the event that failed is tried again."""

    last_delivered_at: datetime | None = None
    """The last delivery."""

    previous_secret_until: datetime | None = None
    """After a rotation: until then the old secret signs too."""

    secret: str | None = field(default=None, repr=False)
    """The secret for `verify_webhook`, only from `create` and `rotate`. It is not shown again: keep it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookReceipt(Answered):
    """What a receiver made of one event."""

    delivered: bool
    """Whether it answered with a status from 200 to 299."""

    status: int | None = None
    """The status it answered with; None if there was no answer."""

    duration_ms: int
    """How long that took, in milliseconds."""

    error: str | None = None
    """Why it does not count as delivered, for people."""

    response: str
    """The beginning of its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAttempt(WebhookReceipt):
    """One try to deliver an event."""

    event_id: str
    """The id of the event."""

    number: int
    """The number of the event; 0 for a test."""

    type: EventType
    """The type of the event; `webhook.test` for a test."""

    at: datetime
    """When it was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadEvent:
    """An event that was given up after many tries."""

    event_id: str
    """The id of the event."""

    number: int
    """The number of the event."""

    type: EventType
    """The type of the event."""

    given_up_at: datetime
    """When it was given up."""

    tries: int
    """How often it was tried."""

    error: str
    """What went wrong the last time, for people."""

    replaying: bool
    """Whether it is about to be sent again."""
