"""Keyed hashes: without the deployment's secret, the stored hashes cannot be used to guess keys."""

from hashlib import blake2b


class Hasher:
    """Hashes for one purpose; a hash made for one purpose is not valid for another."""

    def __init__(self, deployment_secret: bytes, purpose: str) -> None:
        self._key = blake2b(deployment_secret, digest_size=32, person=purpose.encode("ascii")[:16]).digest()

    def hash(self, text: bytes) -> bytes:
        return blake2b(text, key=self._key, digest_size=32).digest()
