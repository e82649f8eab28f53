"""The verdict on a key, in the ruled order."""

from ipaddress import ip_network

import pytest
from msgspec.structs import replace

from bullion.environment import Environment
from bullion.keys.hashing import Hasher
from bullion.keys.key import Key, Scope
from bullion.keys.text import KeyText
from bullion.keys.verify import verify
from bullion.refusals.catalogue import (
    CREDENTIAL_EXPIRED,
    CREDENTIAL_REVOKED,
    CREDENTIAL_ROTATED,
    INVALID_CREDENTIAL,
)

HASHER = Hasher(b"a deployment's secret", "keys")
SENT = KeyText(Environment.TEST, "main", "0123456789abcdef", b"the secret")
HASH = HASHER.hash(SENT.secret)
KEY = Key(
    key_id=SENT.key_id,
    broker="main",
    account_id=1,
    environment=Environment.TEST,
    name="a key",
    scopes=frozenset(Scope),
    secret_hash=HASH,
    allowed_addresses=(),
    created_at_us=0,
)
NOW_US = 1_000


def test_the_right_secret_passes() -> None:
    assert verify(SENT, HASH, KEY, NOW_US) is None


def test_an_unknown_key_and_a_wrong_secret_are_told_alike() -> None:
    assert verify(SENT, HASH, None, NOW_US) is INVALID_CREDENTIAL
    assert verify(SENT, HASHER.hash(b"another"), KEY, NOW_US) is INVALID_CREDENTIAL


def test_a_key_whose_text_was_altered_around_a_right_secret_is_invalid() -> None:
    assert verify(replace(SENT, environment=Environment.PRODUCTION), HASH, KEY, NOW_US) is INVALID_CREDENTIAL
    assert verify(replace(SENT, broker="other"), HASH, KEY, NOW_US) is INVALID_CREDENTIAL


def test_the_life_of_a_key_is_told_only_to_who_knows_the_secret() -> None:
    wrong = HASHER.hash(b"another")
    for key in (
        replace(KEY, revoked_at_us=1),
        replace(KEY, replaced_by="next", overlap_ends_at_us=1),
        replace(KEY, expires_at_us=1),
    ):
        assert verify(SENT, wrong, key, NOW_US) is INVALID_CREDENTIAL


def test_revoked_comes_before_rotated_and_rotated_before_expired() -> None:
    everything = replace(KEY, revoked_at_us=1, replaced_by="next", overlap_ends_at_us=1, expires_at_us=1)
    assert verify(SENT, HASH, everything, NOW_US) is CREDENTIAL_REVOKED
    assert verify(SENT, HASH, replace(everything, revoked_at_us=None), NOW_US) is CREDENTIAL_ROTATED
    only_expired = replace(everything, revoked_at_us=None, replaced_by=None, overlap_ends_at_us=None)
    assert verify(SENT, HASH, only_expired, NOW_US) is CREDENTIAL_EXPIRED


@pytest.mark.parametrize(("now_us", "works"), [(NOW_US - 1, True), (NOW_US, False), (NOW_US + 1, False)])
def test_expiry_and_overlap_end_at_their_instant(now_us: int, works: bool) -> None:
    expiring = replace(KEY, expires_at_us=NOW_US)
    rotated = replace(KEY, replaced_by="next", overlap_ends_at_us=NOW_US)
    assert (verify(SENT, HASH, expiring, now_us) is None) == works
    assert (verify(SENT, HASH, rotated, now_us) is None) == works


def test_allowed_addresses() -> None:
    assert KEY.allows_address("203.0.113.9")
    limited = replace(KEY, allowed_addresses=(ip_network("10.0.0.0/8"), ip_network("2001:db8::1/128")))
    assert limited.allows_address("10.1.2.3")
    assert limited.allows_address("2001:db8::1")
    assert not limited.allows_address("203.0.113.9")
    assert not limited.allows_address("2001:db8::2")


def test_hashes_differ_by_secret_and_by_purpose() -> None:
    assert HASHER.hash(b"x") != Hasher(b"another deployment's", "keys").hash(b"x")
    assert HASHER.hash(b"x") != Hasher(b"a deployment's secret", "tokens").hash(b"x")
    assert HASHER.hash(b"x") == Hasher(b"a deployment's secret", "keys").hash(b"x")
