"""The text of a key: what is written is read back, what is mistyped is noticed."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.environment import Environment
from bullion.keys.text import KeyText, new_secret, read_key, secret_from, write_key
from bullion.refusals.catalogue import MALFORMED_CREDENTIAL, MISSING_CREDENTIAL

RANDOM = st.binary(min_size=32, max_size=32)
ENVIRONMENTS = st.sampled_from(Environment)


@given(RANDOM, ENVIRONMENTS)
def test_a_key_is_read_as_it_was_written(random_bytes: bytes, environment: Environment) -> None:
    secret = secret_from(random_bytes)
    text = write_key(environment, "main", "0123456789abcdef", secret)
    assert read_key([text.encode()]) == KeyText(environment, "main", "0123456789abcdef", secret.encode())


def test_the_prefix_tells_the_environment() -> None:
    assert write_key(Environment.TEST, "b", "0" * 16, "s").startswith("key_test.")
    assert write_key(Environment.PRODUCTION, "b", "0" * 16, "s").startswith("key_live.")


@given(RANDOM, st.data())
def test_one_wrong_character_in_the_secret_is_noticed(random_bytes: bytes, data: st.DataObject) -> None:
    text = write_key(Environment.TEST, "main", "0123456789abcdef", secret_from(random_bytes))
    place = data.draw(st.integers(min_value=len(text) - 51, max_value=len(text) - 1))
    other = data.draw(
        st.sampled_from(string.ascii_letters + string.digits).filter(lambda c: c != text[place])
    )
    mistyped = text[:place] + other + text[place + 1 :]
    assert read_key([mistyped.encode()]) is MALFORMED_CREDENTIAL


@given(st.lists(RANDOM, min_size=2, max_size=2, unique=True))
def test_two_secrets_of_different_bits_differ(pair: list[bytes]) -> None:
    assert secret_from(pair[0]) != secret_from(pair[1])


def test_new_secrets_differ_and_have_their_shape() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(re.fullmatch(r"[0-9A-Za-z]{43}[0-9a-f]{8}", secret) for secret in secrets)


def test_no_header_and_an_empty_one_are_missing() -> None:
    assert read_key([]) is MISSING_CREDENTIAL
    assert read_key([b""]) is MISSING_CREDENTIAL
    assert read_key([b" \t "]) is MISSING_CREDENTIAL


GOOD = write_key(Environment.TEST, "main", "0123456789abcdef", secret_from(bytes(range(32)))).encode()


@pytest.mark.parametrize(
    "values",
    [
        [GOOD, GOOD],
        [GOOD, b""],
        [b"", b""],
        [b"Bearer " + GOOD],
        [GOOD.replace(b"key_test", b"key_demo")],
        [GOOD.replace(b"main", b"Main")],
        [GOOD.replace(b"main", b"")],
        [GOOD.replace(b"main", b"m" * 33)],
        [GOOD.replace(b"0123456789abcdef", b"0123456789abcde")],
        [GOOD[:-1]],
        [GOOD + b"0"],
        [GOOD.replace(b".", b"-")],
        [b"\xff\xfe"],
        [b"key_test." + b"a" * 5000],
    ],
)
def test_other_shapes_are_malformed(values: list[bytes]) -> None:
    assert read_key(values) is MALFORMED_CREDENTIAL


def test_blanks_around_a_key_are_not_part_of_it() -> None:
    assert read_key([b" " + GOOD + b" \t"]) == read_key([GOOD])
    assert isinstance(read_key([GOOD]), KeyText)


def test_a_key_does_not_show_its_secret_when_printed() -> None:
    key = read_key([GOOD])
    assert isinstance(key, KeyText)
    assert key.secret.decode() not in repr(key)
