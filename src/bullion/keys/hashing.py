"""Keyed hashes. Whoever reads the store without the deployment's secret cannot try keys against it."""

from hashlib import blake2b


class Hasher:
    """Hashes for one purpose; the purpose keeps a hash made for one from passing as another's."""

    def __init__(self, deployment_secret: bytes, purpose: str) -> None:
        self._key = blake2b(deployment_secret, digest_size=32, person=purpose.encode("ascii")[:16]).digest()

    def hash(self, text: bytes) -> bytes:
        return blake2b(text, key=self._key, digest_size=32).digest()
