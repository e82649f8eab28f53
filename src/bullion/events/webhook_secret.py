"""Secrets of webhooks, and signatures as Standard Webhooks has them."""

import secrets
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from hmac import digest

from bullion.keys.encryption import Cipher, NotDecryptable

from .webhook import Webhook

_PREFIX = "whsec_"
_SECRET_BYTES = 32
_VERSION = "v1"


def new_secret() -> bytes:
    return secrets.token_bytes(_SECRET_BYTES)


def secret_text(secret: bytes) -> str:
    """As it is shown, once."""
    return _PREFIX + b64encode(secret).decode()


def signature(keys: Sequence[bytes], message_id: str, at_s: int, body: bytes) -> str:
    """The value of `webhook-signature`: one for each secret, separated by a space."""
    signed = b"%b.%d.%b" % (message_id.encode(), at_s, body)
    return " ".join(f"{_VERSION},{b64encode(digest(key, signed, sha256)).decode()}" for key in keys)


def signing_keys(webhook: Webhook, cipher: Cipher, now_us: int) -> list[bytes]:
    """The secrets that are valid now, the newest first. May raise NotDecryptable for the newest."""
    keys = [cipher.decrypt(webhook.encrypted_secret, webhook.id)]
    until_us = webhook.previous_until_us
    if webhook.previous_secret is not None and until_us is not None and now_us < until_us:
        try:
            keys.append(cipher.decrypt(webhook.previous_secret, webhook.id))
        except NotDecryptable:
            # It was encrypted with a secret of the deployment that is no longer known. The newest is enough.
            return keys
    return keys
