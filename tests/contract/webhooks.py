"""An account with webhooks, events of it, and nodes that deliver them."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bullion.allocation.book import account_of
from bullion.api.wire.events import event_json
from bullion.events.event import EventType
from bullion.events.webhook import Attempt, DeadEvent, Webhook, WebhookChange, WebhookTable
from bullion.events.webhook_call import WebhookCalls
from bullion.events.webhook_changes import create_webhook
from bullion.events.webhook_delivery import WebhookDelivery
from bullion.keys.encryption import Cipher
from bullion.records.clients import Allocation
from bullion.store.account_events import add_event
from bullion.store.engine import Engine, Transaction
from bullion.store.event_reader import StoredEvents
from bullion.store.records import Records, RecordStore
from bullion.store.webhook_queue import StoredWebhookQueue
from bullion.store.webhooks import StoredWebhooks
from tests.booking.fixtures import create_books, rows

CIPHER = Cipher(b"the deployment's secret", "webhook")
DAYS = 30


@dataclass
class Hooked:
    """One account of a broker, in the test environment."""

    engine: Engine
    book_id: int
    limit_e4: int = 0

    @property
    def webhooks(self) -> StoredWebhooks:
        return StoredWebhooks(self.engine)

    async def happen(self, events: int = 1) -> None:
        """So many changes of the allocation."""

        async def body(records: Records) -> None:
            for _ in range(events):
                self.limit_e4 += 1
                await records.set_allocation(account_of(self.book_id), Allocation(self.limit_e4, 0))

        await RecordStore(self.engine).write("happen", body)

    async def happen_otherwise(self) -> None:
        """Something of another type."""
        key: dict[str, Any] = {
            "key_id": "k",
            "key_name": "",
            "scopes": [],
            "replaced_by": None,
            "overlap_ends_at_us": None,
        }

        async def body(transaction: Transaction) -> None:
            await add_event(transaction, self.book_id, EventType.KEY_REVOKED, wall_us(), key)

        await self.engine.write("happen", body)

    async def hook(self, url: str, types: tuple[str, ...] = ()) -> tuple[Webhook, str]:
        async def work(table: WebhookTable) -> tuple[Webhook, str]:
            return await create_webhook(
                table,
                CIPHER,
                book_id=self.book_id,
                url=url,
                types=types,
                description="",
                created_by="a test",
            )

        return await self.webhooks.write("create", work)

    async def now(self, webhook: Webhook) -> Webhook:
        found = await self.webhooks.read("webhook", lambda table: table.find(self.book_id, webhook.id))
        assert found is not None
        return found

    async def change(self, webhook: Webhook, **changes: Any) -> None:
        change = WebhookChange(**changes)
        await self.webhooks.write("change", lambda table: table.change(self.book_id, webhook.id, change))

    async def attempts(self, webhook: Webhook) -> list[Attempt]:
        return await self.webhooks.read("attempts", lambda table: table.attempts(self.book_id, webhook.id))

    async def dead(self, webhook: Webhook) -> list[DeadEvent]:
        return await self.webhooks.read("dead", lambda table: table.dead(self.book_id, webhook.id))

    async def replay(self, webhook: Webhook, number: int | None = None) -> int:
        return await self.webhooks.write(
            "replay", lambda table: table.replay(self.book_id, webhook.id, number)
        )

    async def set(self, columns: str) -> None:
        await rows(self.engine, f"UPDATE webhooks SET {columns}")

    async def make_due(self) -> None:
        """As if the pause after a failure was over."""
        await self.set("next_try_at_us = 0")


async def hooked_on(engine: Engine) -> Hooked:
    (book,) = await create_books(engine, 1)
    return Hooked(engine, book)


def delivery_on(
    engine: Engine,
    calls: WebhookCalls | None = None,
    days: int = DAYS,
    now_us: Callable[[], int] | None = None,
) -> WebhookDelivery:
    """A node that delivers."""
    clock = now_us or wall_us
    return WebhookDelivery(
        StoredWebhookQueue(engine),
        StoredEvents(engine, days, clock),  # type: ignore[arg-type]
        calls or WebhookCalls(allow_private=True),
        CIPHER,
        event_json,
        clock,
    )


def wall_us() -> int:
    return time.time_ns() // 1000


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not happened():
            await asyncio.sleep(0.01)
