"""A webhook: an address that gets an account's events, and how their delivery stands."""

from typing import Protocol, TypeVar

import msgspec

WEBHOOKS_MAX = 5
"""Of one account in one environment."""
DESCRIPTION_LENGTH_MAX = 200
ATTEMPTS_KEPT = 100
"""Of one webhook: the newest."""
RESPONSE_BYTES_KEPT = 200
"""How much of a receiver's response an attempt shows."""
TEST_TYPE = "webhook.test"
LOST_TYPE = "webhook.lost"
"""In the log of attempts: events that could not be sent, because they are no longer kept."""

T = TypeVar("T")


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    book_id: int
    id: str
    url: str
    types: tuple[str, ...]
    """The types of events that it gets. Empty: all."""
    description: str
    on: bool
    off_reason: str | None
    """Why it is off, for people; None while it is on."""
    off_at_us: int | None
    created_at_us: int
    created_by: str
    encrypted_secret: str
    secret_id: str
    previous_secret: str | None
    """Encrypted. It signs beside the other one until `previous_until_us`."""
    previous_until_us: int | None
    delivered_through: int
    """Every event up to this number was delivered, given up, or not wanted."""
    tries: int
    """Of the event after that, so far."""
    failing_since_us: int | None
    """The first failure after the last delivery; None while all is well."""
    next_try_at_us: int
    last_delivered_at_us: int | None
    replaying: bool
    """Whether events that were given up wait to be sent again."""
    attempts: int = 0
    """How many there were so far."""
    holder: str = ""
    """Of the lease under which its events are delivered."""
    newest: int = 0
    """The number of the account's newest event, where it was read."""

    def wants(self, event_type: str) -> bool:
        return not self.types or event_type in self.types


class NewWebhook(msgspec.Struct, frozen=True, kw_only=True):
    book_id: int
    id: str
    url: str
    types: tuple[str, ...]
    description: str
    created_by: str
    encrypted_secret: str
    secret_id: str


class WebhookChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be different. None: it stays as it is."""

    url: str | None = None
    types: tuple[str, ...] | None = None
    description: str | None = None
    on: bool | None = None
    off_reason: str | None = None
    """With `on` false."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one request to a receiver."""

    status: int | None
    """None: there was no response."""
    duration_ms: int
    error: str | None
    """Why it does not count as delivered, for people; None if it does."""
    response: str = ""
    """The first bytes of the response's body."""

    @property
    def delivered(self) -> bool:
        return self.error is None


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One try to deliver an event."""

    number: int
    event_id: str
    type: str
    at_us: int
    receipt: Receipt


class DeadEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event that was given up."""

    number: int
    event_id: str
    type: str
    dead_at_us: int
    tries: int
    error: str
    replaying: bool
    """Whether it waits to be sent again."""


class TooManyWebhooks(Exception):
    """The account has as many as it may have in this environment."""


class WebhookTable(Protocol):
    """The webhooks of the store, in one open transaction."""

    async def clock_us(self) -> int: ...

    async def of_book(self, book_id: int) -> list[Webhook]:
        """The oldest first."""

    async def find(self, book_id: int, webhook_id: str) -> Webhook | None: ...

    async def insert(self, new: NewWebhook) -> None:
        """It gets the events from now on. May raise TooManyWebhooks."""

    async def change(self, book_id: int, webhook_id: str, change: WebhookChange) -> None:
        """One that is switched on goes on with the event that it stopped at; some of its tries count."""

    async def put_secret(
        self, webhook: Webhook, encrypted: str, secret_id: str, previous: str, previous_until_us: int
    ) -> bool:
        """False if its secret was replaced meanwhile."""

    async def delete(self, book_id: int, webhook_id: str) -> None:
        """With its attempts and the events that were given up."""

    async def attempts(self, book_id: int, webhook_id: str) -> list[Attempt]:
        """The newest first."""

    async def dead(self, book_id: int, webhook_id: str) -> list[DeadEvent]:
        """The oldest first."""

    async def replay(self, book_id: int, webhook_id: str, number: int | None) -> int:
        """Send these events again: one, or all. Returns how many there are."""
