"""Connections share the accounts of a job as the clients would that they stand for."""

import pytest

from bench.connection import FRESH_KEY, form_of
from bench.turns import Sharing, turns_of

ACCOUNTS = [b"%d" % number for number in range(20)]


def test_each_connection_has_one_request() -> None:
    assert turns_of(ACCOUNTS[:2], 3, Sharing.ONE) == [[b"0"], [b"1"], [b"0"]]


def test_pairs_have_a_group_and_begin_with_the_same_account() -> None:
    turns = turns_of(ACCOUNTS, 8, Sharing.PAIRS)

    pairs = list(zip(turns[:4], turns[4:], strict=True))
    for one, other in pairs:
        assert one[0] == other[0]
        assert one[1:] == other[:0:-1]
    assert sorted(account for one, _ in pairs for account in one) == sorted(ACCOUNTS)


def test_pairs_without_an_account_are_refused() -> None:
    with pytest.raises(ValueError, match="need 4 accounts"):
        turns_of(ACCOUNTS[:3], 8, Sharing.PAIRS)


def test_mixed_connections_have_every_account_in_an_order_of_their_own() -> None:
    turns = turns_of(ACCOUNTS, 3, Sharing.MIXED)

    assert all(sorted(each) == sorted(ACCOUNTS) for each in turns)
    assert turns[0] != turns[1] != turns[2]
    assert turns == turns_of(ACCOUNTS, 3, Sharing.MIXED)


def test_a_form_takes_a_key_and_keeps_all_else() -> None:
    assert form_of(b"100% of " + FRESH_KEY + b" %d") % 10 == b"100% of " + b"a".rjust(36, b"0") + b" %d"
