"""Encryption of short secrets that have to be read again, with a key from the deployment's secret.

Everything else is stored as a hash. BLAKE2b with a key is a pseudo-random function: its output for a random
nonce is the key stream, and its output for nonce and text is the seal. Each has a key of its own.
"""

import secrets
from hmac import compare_digest

from .hashing import Hasher

_NONCE_BYTES = 16
_SEAL_BYTES = 16
TEXT_BYTES_MAX = 32
"""One output of the hash function."""


class NotDecryptable(Exception):
    """It was encrypted with another secret, for another owner, or was changed."""


class Cipher:
    """While the deployment's secret is exchanged, what was encrypted with the other one is decrypted too."""

    def __init__(self, deployment_secret: bytes, purpose: str, other_secret: bytes | None = None) -> None:
        self._stream = Hasher(deployment_secret, f"{purpose} stream")
        self._sealer = Hasher(deployment_secret, f"{purpose} seal")
        self.secret_id = self._sealer.secret_id
        self._other = None if other_secret is None else Cipher(other_secret, purpose)

    def encrypt(self, text: bytes, owner: str) -> str:
        """For this owner only: moved to another row, it cannot be decrypted."""
        if len(text) > TEXT_BYTES_MAX:
            raise ValueError(f"at most {TEXT_BYTES_MAX} bytes can be encrypted")
        nonce = secrets.token_bytes(_NONCE_BYTES)
        body = nonce + _xor(text, self._stream.hash(nonce))
        return (body + self._seal(body, owner)).hex()

    def decrypt(self, encrypted: str, owner: str) -> bytes:
        """May raise NotDecryptable."""
        try:
            whole = bytes.fromhex(encrypted)
        except ValueError:
            raise NotDecryptable from None
        body, seal = whole[:-_SEAL_BYTES], whole[-_SEAL_BYTES:]
        if compare_digest(seal, self._seal(body, owner)):
            return _xor(body[_NONCE_BYTES:], self._stream.hash(body[:_NONCE_BYTES]))
        if self._other is None:
            raise NotDecryptable
        return self._other.decrypt(encrypted, owner)

    def _seal(self, body: bytes, owner: str) -> bytes:
        return self._sealer.hash(body + owner.encode())[:_SEAL_BYTES]


def _xor(text: bytes, stream: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(text, stream, strict=False))
