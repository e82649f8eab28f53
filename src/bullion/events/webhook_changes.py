"""Setting up webhooks, the same for clients and the desk. Each function works in an open transaction."""

import secrets
from collections.abc import Sequence

from bullion.keys.encryption import Cipher

from .webhook import NewWebhook, Webhook, WebhookTable
from .webhook_retries import US_PER_S
from .webhook_secret import new_secret, secret_text

_ID_BYTES = 12
OVERLAP_S = 24 * 3600
"""How long the old secret still signs, beside the new one."""


async def create_webhook(
    table: WebhookTable,
    cipher: Cipher,
    *,
    book_id: int,
    url: str,
    types: Sequence[str],
    description: str,
    created_by: str,
) -> tuple[Webhook, str]:
    """The webhook, and its secret, which is shown once. May raise TooManyWebhooks."""
    webhook_id, secret = f"wh_{secrets.token_hex(_ID_BYTES)}", new_secret()
    new = NewWebhook(
        book_id=book_id,
        id=webhook_id,
        url=url,
        types=tuple(types),
        description=description,
        created_by=created_by,
        encrypted_secret=cipher.encrypt(secret, webhook_id),
        secret_id=cipher.secret_id,
    )
    await table.insert(new)
    made = await table.find(book_id, webhook_id)
    if made is None:
        raise LookupError(f"the webhook {webhook_id} was inserted and is not there")
    return made, secret_text(secret)


async def rotate_secret(table: WebhookTable, cipher: Cipher, webhook: Webhook) -> tuple[Webhook, str] | None:
    """The webhook and its new secret. None: it was rotated or deleted meanwhile."""
    secret = new_secret()
    previous_until_us = await table.clock_us() + OVERLAP_S * US_PER_S
    rotated = await table.put_secret(
        webhook,
        cipher.encrypt(secret, webhook.id),
        cipher.secret_id,
        webhook.encrypted_secret,
        previous_until_us,
    )
    after = await table.find(webhook.book_id, webhook.id) if rotated else None
    return None if after is None else (after, secret_text(secret))
