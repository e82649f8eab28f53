"""The text of a key, `key_test.<broker>.<key_id>.<secret>`: writing it and reading it.

The secret is 256 random bits in base 62 and ends with a checksum of them, so that a mistyped key is
recognised without a look-up, and secret scanners recognise a leaked one.
"""

import re
import secrets
import string
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import msgspec

from bullion.environment import Environment
from bullion.refusals.catalogue import MALFORMED_CREDENTIAL, MISSING_CREDENTIAL
from bullion.refusals.refusal import RefusalCode

BROKER_TAG = r"[a-z0-9][a-z0-9-]{0,31}"

_PREFIX = {Environment.TEST: "key_test", Environment.PRODUCTION: "key_live"}
_ENVIRONMENT = {b"key_test": Environment.TEST, b"key_live": Environment.PRODUCTION}
_TAG = re.compile(BROKER_TAG.encode())
_KEY_ID = re.compile(rb"[0-9a-f]{16}")
_RANDOM_LENGTH = 43
_SECRET_LENGTH = _RANDOM_LENGTH + 8
_BASE62 = string.digits + string.ascii_letters


class KeyText(msgspec.Struct, gc=False):
    """A key as a caller sent it: well-formed, and nothing more is known yet."""

    environment: Environment
    broker: str
    key_id: str
    secret: bytes

    def __repr__(self) -> str:
        return f"KeyText({self.environment}, {self.broker}, {self.key_id}, secret=…)"


def read_key(values: Sequence[bytes]) -> KeyText | RefusalCode:
    """Read the values of all `X-API-Key` headers of a call."""
    if not values:
        return MISSING_CREDENTIAL
    if len(values) > 1:
        return MALFORMED_CREDENTIAL
    # Blanks around a header's value are not part of it, but the parser leaves trailing ones.
    value = values[0].strip(b" \t")
    if not value:
        return MISSING_CREDENTIAL
    try:
        environment, broker, key_id = _before_secret(value[:-_SECRET_LENGTH])
    except ValueError:
        return MALFORMED_CREDENTIAL
    secret = value[-_SECRET_LENGTH:]
    if not secret.isalnum() or _checksum(secret[:_RANDOM_LENGTH]) != secret[_RANDOM_LENGTH:]:
        return MALFORMED_CREDENTIAL
    return KeyText(environment, broker, key_id, secret)


@lru_cache(maxsize=4096)
def _before_secret(text: bytes) -> tuple[Environment, str, str]:
    """Environment, broker and key id, cached because the same callers come again and again.

    Raises ValueError for any other text, which is not cached: it could contain a part of a secret.
    """
    prefix, broker, key_id, nothing = text.split(b".")
    environment = _ENVIRONMENT.get(prefix)
    if environment is None or nothing or not _TAG.fullmatch(broker) or not _KEY_ID.fullmatch(key_id):
        raise ValueError("not the beginning of a key")
    return environment, broker.decode("ascii"), key_id.decode("ascii")


def write_key(environment: Environment, broker: str, key_id: str, secret: str) -> str:
    return f"{_PREFIX[environment]}.{broker}.{key_id}.{secret}"


def new_secret() -> str:
    return secret_from(secrets.token_bytes(32))


def secret_from(random_bytes: bytes) -> str:
    """The text of 32 random bytes, with its checksum."""
    number = int.from_bytes(random_bytes, "big")
    digits = []
    for _ in range(_RANDOM_LENGTH):
        number, digit = divmod(number, 62)
        digits.append(_BASE62[digit])
    random_part = "".join(digits)
    return random_part + _checksum(random_part.encode("ascii")).decode("ascii")


def _checksum(random_part: bytes) -> bytes:
    return b"%08x" % crc32(random_part)
