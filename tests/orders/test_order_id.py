"""Order ids are UUIDs of version 7 that sort by their time and end in their order's ordinal."""

from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.orders.order_id import RANDOM_BITS, ids_since, order_id, ordinal_of

TIMES_US = st.integers(0, 2**48 * 1000 - 1)
ORDINALS = st.integers(1, 2**40 - 1)
RANDOM = st.integers(0, 2**RANDOM_BITS - 1)


@given(TIMES_US, ORDINALS, RANDOM)
def test_the_form(at_us: int, ordinal: int, random_bits: int) -> None:
    text = order_id(at_us, ordinal, random_bits)
    parsed = UUID(text)
    assert str(parsed) == text
    assert (parsed.version, parsed.variant) == (7, RFC_4122)
    assert parsed.int >> 80 == at_us // 1000
    assert ordinal_of(text) == ordinal


@given(TIMES_US, ORDINALS, RANDOM, RANDOM)
def test_every_random_bit_is_in_it(at_us: int, ordinal: int, one: int, other: int) -> None:
    assert (order_id(at_us, ordinal, one) == order_id(at_us, ordinal, other)) is (one == other)


@pytest.mark.parametrize("bit", range(RANDOM_BITS))
def test_no_random_bit_touches_time_version_variant_or_ordinal(bit: int) -> None:
    changed = UUID(order_id(5_000, 0, 1 << bit)).int ^ UUID(order_id(5_000, 0, 0)).int
    assert changed.bit_count() == 1
    assert changed & (0xFFFFFFFFFFFF << 80 | 0xF << 76 | 0x3 << 62 | 2**40 - 1) == 0


def test_enough_of_it_cannot_be_guessed() -> None:
    assert RANDOM_BITS >= 32


@given(TIMES_US, RANDOM, TIMES_US, RANDOM)
def test_a_later_millisecond_sorts_later(one_us: int, one: int, other_us: int, other: int) -> None:
    if one_us // 1000 < other_us // 1000:
        assert order_id(one_us, 2**40 - 1, one) < order_id(other_us, 1, other)


@given(TIMES_US, RANDOM, TIMES_US)
def test_ids_from_a_time_on_are_found_by_text(at_us: int, random_bits: int, since_us: int) -> None:
    found = order_id(at_us, 1, random_bits) >= ids_since(since_us)
    assert found is (at_us // 1000 >= since_us // 1000)


def test_before_the_epoch_is_everything() -> None:
    assert ids_since(-1) == ids_since(0) <= order_id(0, 0, 0)


@given(st.text("0123456789abcdef", min_size=32, max_size=32))
def test_the_ordinal_of_any_uuid_is_a_number_that_stores_can_be_asked_for(digits: str) -> None:
    assert 0 <= ordinal_of(str(UUID(digits))) < 2**40
