"""Keyed hashes: without the deployment's secret, the stored hashes cannot be used to guess keys."""

from hashlib import blake2b

_ID_DIGITS = 16


class Hasher:
    """Hashes for one purpose; a hash made for one purpose is not valid for another.

    While the deployment's secret is exchanged, hashes made with the other secret are accepted too.
    """

    def __init__(self, deployment_secret: bytes, purpose: str, other_secret: bytes | None = None) -> None:
        self._empty = blake2b(key=_derived(deployment_secret, purpose), digest_size=32)
        """Copied for each hash, which is faster than to make one with the key."""
        self.secret_id = fingerprint(deployment_secret)[:_ID_DIGITS]
        """Names the secret that `hash` uses, without giving it away."""
        self.other = None if other_secret is None else Hasher(other_secret, purpose)

    def hash(self, text: bytes) -> bytes:
        hashed = self._empty.copy()
        hashed.update(text)
        return hashed.digest()

    def other_hash(self, text: bytes) -> bytes | None:
        """With the other secret, if there is one."""
        return None if self.other is None else self.other.hash(text)


def fingerprint(secret: bytes) -> str:
    """Kept in the store, so that no node starts with a secret other than the store's."""
    return blake2b(b"fingerprint", key=_derived(secret, "fingerprint"), digest_size=32).hexdigest()


def _derived(secret: bytes, purpose: str) -> bytes:
    return blake2b(secret, digest_size=32, person=purpose.encode("ascii")[:16]).digest()
