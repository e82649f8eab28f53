"""Verifies a key: its secret, and whether it is still valid."""

from hmac import compare_digest

from bullion.refusals.catalogue import (
    CREDENTIAL_EXPIRED,
    CREDENTIAL_REVOKED,
    CREDENTIAL_ROTATED,
    INVALID_CREDENTIAL,
)
from bullion.refusals.refusal import RefusalCode

from .key import Key
from .text import KeyText

_DECOY_HASH = bytes(32)
"""Compared with if the key does not exist, so that an unknown id takes as long as a wrong secret."""


def verify(
    sent: KeyText, secret_hash: bytes, key: Key | None, now_us: int, other_hash: bytes | None = None
) -> RefusalCode | None:
    """None if the key may be used. Only a caller with the secret learns that a key expired or was revoked.

    `other_hash`: made with the other secret of the deployment, while that is exchanged.
    """
    stored = _DECOY_HASH if key is None else key.secret_hash
    proved = compare_digest(secret_hash, stored)
    if other_hash is not None:
        proved |= compare_digest(other_hash, stored)
    if key is None or not proved:
        return INVALID_CREDENTIAL
    if key.environment is not sent.environment or key.broker != sent.broker:
        # The secret is right, but the text around it was changed: no such key exists.
        return INVALID_CREDENTIAL
    return check_validity(key, now_us)


def check_validity(key: Key, now_us: int) -> RefusalCode | None:
    """None while the key is valid."""
    if key.revoked_at_us is not None:
        return CREDENTIAL_REVOKED
    if key.overlap_ends_at_us is not None and key.overlap_ends_at_us <= now_us:
        return CREDENTIAL_ROTATED
    if key.expires_at_us is not None and key.expires_at_us <= now_us:
        return CREDENTIAL_EXPIRED
    return None
