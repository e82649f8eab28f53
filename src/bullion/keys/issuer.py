"""Makes the ids and secrets of new keys.

An id begins with the *lane* of its account, so that a proxy can send all keys of an account to one node. The
lane is a keyed hash: it tells that two keys may be of one account, and nothing else about it. Keys of earlier
versions begin with random digits instead.
"""

import secrets

import msgspec

from .hashing import Hasher
from .text import new_secret

LANE_DIGITS = 4
_RANDOM_BYTES = 6
"""With the lane, the 16 digits of an id."""


class NewKey(msgspec.Struct, frozen=True):
    key_id: str
    secret: str

    def __repr__(self) -> str:
        return f"NewKey({self.key_id}, secret=…)"


class KeyIssuer:
    def __init__(self, keys: Hasher, lanes: Hasher) -> None:
        self._keys = keys
        self._lanes = lanes
        self.secret_id = keys.secret_id

    def new_key(self, account_id: int) -> NewKey:
        """`account_id`: the number that the account had first, so that its lane stays in another store."""
        return NewKey(self.lane(account_id) + secrets.token_hex(_RANDOM_BYTES), new_secret())

    def lane(self, account_id: int) -> str:
        return self._lanes.hash(b"%d" % account_id).hex()[:LANE_DIGITS]

    def secret_hash(self, secret: str) -> bytes:
        return self._keys.hash(secret.encode("ascii"))
