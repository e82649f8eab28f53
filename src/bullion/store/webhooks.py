"""Webhooks in the store: their set-up, for clients and the desk. Their delivery is in `webhook_queue`."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from bullion.allocation.book import account_of
from bullion.environment import Environment
from bullion.events.webhook import (
    WEBHOOKS_MAX,
    Attempt,
    DeadEvent,
    NewWebhook,
    Receipt,
    TooManyWebhooks,
    Webhook,
    WebhookChange,
)
from bullion.events.webhook_retries import PAUSE_KEPT_S, TRIES_KEPT, US_PER_S
from bullion.faults import AlreadyExists

from .broker_place import require_account_here
from .desk_transaction import DeskTransaction
from .engine import Engine, Row, Transaction, one_row

T = TypeVar("T")


class StoppedWebhook(msgspec.Struct, frozen=True):
    """A webhook that was switched off because its deliveries failed."""

    id: str
    login_id: str
    environment: Environment
    url: str
    reason: str
    at_us: int


class StoredWebhookTable:
    """`WebhookTable` of `bullion.events.webhook`."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def clock_us(self) -> int:
        return int((await one_row(self._transaction, "catalogue_state"))["clock_us"])

    async def of_book(self, book_id: int) -> list[Webhook]:
        return [webhook_of(row) for row in await self._transaction.all("webhooks_of_book", book_id)]

    async def find(self, book_id: int, webhook_id: str) -> Webhook | None:
        if "\0" in webhook_id:  # PostgreSQL does not accept it as a value.
            return None
        row = await self._transaction.one("one_webhook", book_id, webhook_id)
        return None if row is None else webhook_of(row)

    async def insert(self, new: NewWebhook) -> None:
        await self._require_here(new.book_id)
        taken = {row["slot"] for row in await self._transaction.all("webhook_slots", new.book_id)}
        free = [slot for slot in range(1, WEBHOOKS_MAX + 1) if slot not in taken]
        if not free:
            raise TooManyWebhooks
        await self._transaction.run(
            "insert_webhook",
            new.book_id,
            new.id,
            free[0],
            new.url,
            " ".join(new.types),
            new.description,
            new.created_by,
            new.encrypted_secret,
            new.secret_id,
        )

    async def change(self, book_id: int, webhook_id: str, change: WebhookChange) -> None:
        await self._require_here(book_id)
        types = None if change.types is None else " ".join(change.types)
        await self._transaction.run(
            "set_up_webhook", book_id, webhook_id, change.url, types, change.description
        )
        if change.on is True:
            kept = (TRIES_KEPT, PAUSE_KEPT_S * US_PER_S)
            await self._transaction.run("switch_on_webhook", book_id, webhook_id, *kept)
        elif change.on is False:
            await self._transaction.run("switch_off_webhook", book_id, webhook_id, change.off_reason)
            await self._transaction.run("end_replays", book_id, webhook_id)

    async def put_secret(
        self, webhook: Webhook, encrypted: str, secret_id: str, previous: str, previous_until_us: int
    ) -> bool:
        await self._require_here(webhook.book_id)
        values = (webhook.encrypted_secret, encrypted, secret_id, previous, previous_until_us)
        row = await self._transaction.one("put_webhook_secret", webhook.book_id, webhook.id, *values)
        return row is not None

    async def delete(self, book_id: int, webhook_id: str) -> None:
        await self._require_here(book_id)
        for query in ("delete_webhook", "delete_webhook_attempts", "delete_webhook_dead_events"):
            await self._transaction.run(query, book_id, webhook_id)

    async def attempts(self, book_id: int, webhook_id: str) -> list[Attempt]:
        rows = await self._transaction.all("webhook_attempts", book_id, webhook_id)
        return [_attempt(row) for row in rows]

    async def dead(self, book_id: int, webhook_id: str) -> list[DeadEvent]:
        rows = await self._transaction.all("webhook_dead_events", book_id, webhook_id)
        return [dead_event_of(row) for row in rows]

    async def replay(self, book_id: int, webhook_id: str, number: int | None) -> int:
        await self._require_here(book_id)
        if await self._transaction.one("lock_webhook", book_id, webhook_id) is None:
            return 0
        found = await self._transaction.all("replay_dead_events", book_id, webhook_id, number)
        if found:
            await self._transaction.run("replay_webhook", book_id, webhook_id)
        return len(found)

    async def _require_here(self, book_id: int) -> None:
        await require_account_here(self._transaction, account_of(book_id))


class StoredWebhooks:
    """`WebhookStore` of `bullion.api.webhooks`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def read(self, name: str, work: Callable[[StoredWebhookTable], Awaitable[T]]) -> T:
        return await self._engine.read(name, lambda open_: work(StoredWebhookTable(open_)))

    async def write(self, name: str, work: Callable[[StoredWebhookTable], Awaitable[T]]) -> T:
        for _ in range(WEBHOOKS_MAX):
            try:
                return await self._engine.write(name, lambda open_: work(StoredWebhookTable(open_)))
            except AlreadyExists:  # Another one that was set up at the same time has taken the slot.
                continue
        return await self._engine.write(name, lambda open_: work(StoredWebhookTable(open_)))


class WebhookRecords(DeskTransaction):
    @property
    def webhooks(self) -> StoredWebhookTable:
        return StoredWebhookTable(self._transaction)

    async def stopped_webhooks(self, broker: str, after_us: int) -> list[StoppedWebhook]:
        """Switched off after that time because deliveries failed, the newest first."""
        return [
            StoppedWebhook(
                row["id"],
                row["login_id"],
                Environment(row["environment"]),
                row["url"],
                row["off_reason"],
                row["off_at_us"],
            )
            for row in await self._transaction.all("webhooks_off", broker, after_us)
        ]

    async def reencrypt_webhooks(self, convert: Callable[[str, str], str | None], secret_id: str) -> None:
        """`convert` encrypts a secret of a webhook anew, or gives None for one that cannot be read."""
        for row in await self._transaction.all("all_webhook_secrets"):
            webhook_id, current, previous = row["id"], row["encrypted_secret"], row["previous_secret"]
            encrypted = convert(current, webhook_id)
            if encrypted is not None:
                before = None if previous is None else convert(previous, webhook_id)
                values = (row["book_id"], webhook_id, current, encrypted, before, secret_id)
                await self._transaction.run("reencrypt_webhook", *values)


def webhook_of(row: Row) -> Webhook:
    return Webhook(
        book_id=row["book_id"],
        id=row["id"],
        url=row["url"],
        types=tuple(row["types"].split()),
        description=row["description"],
        on=row["state"] == "on",
        off_reason=row["off_reason"],
        off_at_us=row["off_at_us"],
        created_at_us=row["created_at_us"],
        created_by=row["created_by"],
        encrypted_secret=row["encrypted_secret"],
        secret_id=row["secret_id"],
        previous_secret=row["previous_secret"],
        previous_until_us=row["previous_until_us"],
        delivered_through=row["delivered_through"],
        tries=row["tries"],
        failing_since_us=row["failing_since_us"],
        next_try_at_us=row["next_try_at_us"],
        last_delivered_at_us=row["last_delivered_at_us"],
        replaying=bool(row["replaying"]),
        attempts=row["attempts"],
        holder=row["holder"],
        newest=row["newest"],
    )


def dead_event_of(row: Row) -> DeadEvent:
    return DeadEvent(
        number=row["number"],
        event_id=row["event_id"],
        type=row["type"],
        dead_at_us=row["dead_at_us"],
        tries=row["tries"],
        error=row["error"],
        replaying=bool(row["replaying"]),
    )


def _attempt(row: Row) -> Attempt:
    receipt = Receipt(
        status=row["status"], duration_ms=row["duration_ms"], error=row["error"], response=row["response"]
    )
    return Attempt(
        number=row["number"], event_id=row["event_id"], type=row["type"], at_us=row["at_us"], receipt=receipt
    )
