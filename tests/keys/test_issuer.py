"""Ids of new keys: the account's lane first, then random digits."""

import re

from bullion.environment import Environment
from bullion.keys.hashing import Hasher
from bullion.keys.issuer import KeyIssuer
from bullion.keys.text import KeyText, read_key, write_key


def issuer(secret: bytes = b"a secret of the deployment") -> KeyIssuer:
    return KeyIssuer(Hasher(secret, "keys"), Hasher(secret, "lanes"))


def test_all_keys_of_an_account_begin_with_its_lane() -> None:
    made = [issuer().new_key(7) for _ in range(100)]
    assert {each.key_id[:4] for each in made} == {issuer().lane(7)}
    assert len({each.key_id for each in made}) == 100
    assert len({each.secret for each in made}) == 100
    assert all(re.fullmatch(r"[0-9a-f]{16}", each.key_id) for each in made)


def test_accounts_are_spread_over_all_lanes() -> None:
    lanes = [issuer().lane(account_id) for account_id in range(1, 4001)]
    assert len(set(lanes)) > 3_800  # Of 65,536: two accounts seldom share one.
    for digit in "0123456789abcdef":
        assert 150 < sum(lane.startswith(digit) for lane in lanes) < 350


def test_without_the_secret_of_the_deployment_a_lane_tells_no_account() -> None:
    mine = [issuer().lane(account_id) for account_id in range(1, 101)]
    others = [issuer(b"another secret").lane(account_id) for account_id in range(1, 101)]
    of_keys = [
        Hasher(b"a secret of the deployment", "keys").hash(b"%d" % each).hex()[:4] for each in range(1, 101)
    ]
    assert sum(a == b for a, b in zip(mine, others, strict=True)) < 5
    assert sum(a == b for a, b in zip(mine, of_keys, strict=True)) < 5


def test_a_new_key_is_read_and_never_shown() -> None:
    new = issuer().new_key(7)
    text = write_key(Environment.TEST, "main", new.key_id, new.secret)
    assert read_key([text.encode()]) == KeyText(Environment.TEST, "main", new.key_id, new.secret.encode())
    assert new.secret not in repr(new)
