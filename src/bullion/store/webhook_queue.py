"""Webhooks that have something to deliver, and what became of it. See `bullion.events.webhook_delivery`."""

from collections.abc import Sequence
from uuid import uuid4

from bullion.events.webhook import ATTEMPTS_KEPT, Attempt, DeadEvent, Webhook
from bullion.events.webhook_retries import PAUSES_S, US_PER_S, Decision, NextStep

from .engine import Engine, Row, Transaction, Value, one_row
from .webhooks import dead_event_of, webhook_of


class StoredWebhookQueue:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def claim(self, limit: int, lease_s: float) -> Sequence[Webhook]:
        holder = uuid4().hex
        """One for each claim: also a node that leases a webhook again is another holder."""

        async def body(transaction: Transaction) -> list[Webhook]:
            now_us = await _clock_us(transaction)
            values = (now_us, limit, holder, now_us + _us(lease_s))
            return [webhook_of(row) for row in await transaction.all("claim_webhooks", *values)]

        if await self._engine.one("webhook_on") is None:
            return ()
        if not (await self._engine.read("webhooks_due", lambda open_: one_row(open_, "webhooks_due")))["due"]:
            return ()
        return await self._engine.write("claim_webhooks", body, custom_plans=True)

    async def renew(self, webhook: Webhook, lease_s: float) -> Webhook | None:
        return await self._engine.write(
            "renew_webhook", lambda open_: _held(open_, "renew_webhook", webhook, lease_s)
        )

    async def skip(
        self, webhook: Webhook, through: int, lease_s: float, lost: Attempt | None = None
    ) -> Webhook | None:
        async def body(transaction: Transaction) -> Webhook | None:
            values = (through, " ".join(webhook.types))
            after = await _held(transaction, "skip_webhook_events", webhook, lease_s, *values)
            if after is not None and lost is not None:
                row = await one_row(transaction, "count_webhook_attempt", webhook.book_id, webhook.id)
                await _log_attempt(transaction, webhook, lost, row["attempts"])
            return after

        return await self._engine.write("skip_webhook_events", body)

    async def delivered(self, webhook: Webhook, attempt: Attempt, lease_s: float) -> Webhook | None:
        async def body(transaction: Transaction) -> Webhook | None:
            values = (attempt.number, await _clock_us(transaction))
            return await _record(transaction, "deliver_webhook_event", webhook, lease_s, attempt, *values)

        return await self._engine.write("deliver_webhook_event", body)

    async def failed(self, webhook: Webhook, attempt: Attempt, decision: Decision) -> NextStep | None:
        name = (webhook.book_id, webhook.id)
        held = (*name, webhook.holder, webhook.delivered_through)

        async def body(transaction: Transaction) -> NextStep | None:
            now_us = await _clock_us(transaction)
            step, try_at_us = decision.step, decision.try_at_us
            row = None
            if step is NextStep.GIVE_UP:
                number, url = attempt.number, webhook.url
                row = await transaction.one("give_up_webhook_event", *held, now_us, number, url)
            elif step is NextStep.SWITCH_OFF:
                row = await transaction.one("stop_webhook", *held, now_us, decision.reason, webhook.url)
            if row is None:
                if step is not NextStep.TRY_AGAIN:  # Its URL was changed during the call.
                    step, try_at_us = NextStep.TRY_AGAIN, now_us + PAUSES_S[0] * US_PER_S
                row = await transaction.one("fail_webhook_event", *held, now_us, try_at_us)
            if row is None:
                return None
            await _log_attempt(transaction, webhook, attempt, row["attempts"])
            if step is NextStep.SWITCH_OFF:
                await transaction.run("end_replays", *name)
            if step is NextStep.GIVE_UP:
                event = (attempt.number, attempt.event_id, attempt.type)
                error = attempt.receipt.error
                await transaction.run("insert_dead_event", *name, *event, now_us, webhook.tries + 1, error)
            return step

        return await self._engine.write("fail_webhook_event", body)

    async def replays(self, webhook: Webhook) -> Sequence[DeadEvent]:
        name = (webhook.book_id, webhook.id)

        async def end(transaction: Transaction) -> None:
            if await transaction.one("lock_webhook", *name) is not None:
                await transaction.run("end_empty_replay", *name)

        rows = await self._engine.read(
            "replayed_dead_events", lambda open_: open_.all("replayed_dead_events", *name)
        )
        if not rows:
            await self._engine.write("end_empty_replay", end)
        return [dead_event_of(row) for row in rows]

    async def replayed(
        self, webhook: Webhook, attempt: Attempt, lease_s: float, *, forget: bool
    ) -> Webhook | None:
        name = (webhook.book_id, webhook.id, attempt.number)

        async def body(transaction: Transaction) -> Webhook | None:
            if await transaction.one("lock_held_webhook", *name[:2], webhook.holder) is None:
                return None
            if forget:
                await transaction.run("forget_dead_event", *name)
            else:
                await transaction.run("keep_dead_event", *name, attempt.receipt.error)
            delivered_at_us = await _clock_us(transaction) if attempt.receipt.delivered else None
            return await _record(transaction, "note_replay", webhook, lease_s, attempt, delivered_at_us)

        return await self._engine.write("replay_webhook_event", body)

    async def release(self, webhook: Webhook) -> None:
        values = (webhook.book_id, webhook.id, webhook.holder)
        await self._engine.write("release_webhook", lambda open_: open_.run("release_webhook", *values))

    async def reencrypt(self, webhook: Webhook, secret: str, previous: str | None, secret_id: str) -> None:
        values = (webhook.book_id, webhook.id, webhook.encrypted_secret, secret, previous, secret_id)
        await self._engine.write("reencrypt_webhook", lambda open_: open_.run("reencrypt_webhook", *values))

    async def attempted(self, webhook: Webhook, attempt: Attempt) -> None:
        async def body(transaction: Transaction) -> None:
            row = await transaction.one("count_webhook_attempt", webhook.book_id, webhook.id)
            if row is not None:
                await _log_attempt(transaction, webhook, attempt, row["attempts"])

        await self._engine.write("webhook_attempt", body)


async def _held(
    transaction: Transaction, query: str, webhook: Webhook, lease_s: float, *values: Value
) -> Webhook | None:
    row = await _held_row(transaction, query, webhook, lease_s, *values)
    return None if row is None else webhook_of(row)


async def _held_row(
    transaction: Transaction, query: str, webhook: Webhook, lease_s: float, *values: Value
) -> Row | None:
    until_us = await _clock_us(transaction) + _us(lease_s)
    return await transaction.one(query, webhook.book_id, webhook.id, webhook.holder, until_us, *values)


async def _record(
    transaction: Transaction, query: str, webhook: Webhook, lease_s: float, attempt: Attempt, *values: Value
) -> Webhook | None:
    """Log the attempt, too. None also if the query ended the lease."""
    row = await _held_row(transaction, query, webhook, lease_s, *values)
    if row is None:
        return None
    await _log_attempt(transaction, webhook, attempt, row["attempts"])
    return webhook_of(row) if row["lease_until_us"] else None


async def _log_attempt(transaction: Transaction, webhook: Webhook, attempt: Attempt, attempts: int) -> None:
    """`attempts`: how many there were, with this one."""
    receipt = attempt.receipt
    await transaction.run(
        "put_webhook_attempt",
        webhook.book_id,
        webhook.id,
        attempts % ATTEMPTS_KEPT,
        attempts,
        attempt.number,
        attempt.event_id,
        attempt.type,
        attempt.at_us,
        receipt.status,
        receipt.duration_ms,
        receipt.error,
        receipt.response,
    )


async def _clock_us(transaction: Transaction) -> int:
    return int((await one_row(transaction, "catalogue_state"))["clock_us"])


def _us(seconds: float) -> int:
    return round(seconds * US_PER_S)
