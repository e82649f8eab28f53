"""The verdict on a key: is it the one it says it is, and does it still work?"""

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
"""Compared with when there is no such key, so that an unknown id costs what a wrong secret costs."""


def verify(sent: KeyText, secret_hash: bytes, key: Key | None, now_us: int) -> RefusalCode | None:
    """None when the key may be used. Its life is told only to a caller who proved the secret."""
    proved = compare_digest(secret_hash, _DECOY_HASH if key is None else key.secret_hash)
    if key is None or not proved:
        return INVALID_CREDENTIAL
    if key.environment is not sent.environment or key.broker != sent.broker:
        # The secret is right but the text around it was altered: no key reads like that.
        return INVALID_CREDENTIAL
    return life(key, now_us)


def life(key: Key, now_us: int) -> RefusalCode | None:
    """None while the key is in force."""
    if key.revoked_at_us is not None:
        return CREDENTIAL_REVOKED
    if key.overlap_ends_at_us is not None and key.overlap_ends_at_us <= now_us:
        return CREDENTIAL_ROTATED
    if key.expires_at_us is not None and key.expires_at_us <= now_us:
        return CREDENTIAL_EXPIRED
    return None
