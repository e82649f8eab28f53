"""Exact decimals: what is read is what is written, and nothing inexact is read."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.metals.rupees import paise, rupees_text
from bullion.metals.scaled import NotAnAmount, plain, scaled
from bullion.metals.weight import weight_e4, weight_text

PLACES = st.integers(min_value=0, max_value=10)
VALUES = st.integers(min_value=-(10**15) + 1, max_value=10**15 - 1)


@given(VALUES, PLACES)
def test_writing_and_reading_gives_the_value_back(value: int, places: int) -> None:
    text = plain(value, places) if places else f"{value}"
    assert scaled(text, places) == value


@given(VALUES, PLACES.filter(bool))
def test_the_text_is_the_exact_decimal(value: int, places: int) -> None:
    assert Decimal(plain(value, places)) == Decimal(value).scaleb(-places)


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=6, allow_nan=False))
def test_reading_never_rounds(amount: Decimal) -> None:
    text = f"{amount:f}"
    exact = amount.scaleb(4)
    if exact == exact.to_integral_value():
        assert weight_e4(text) == int(exact)
    else:
        with pytest.raises(NotAnAmount):
            weight_e4(text)


@given(VALUES)
def test_there_is_no_minus_zero_and_no_exponent(value: int) -> None:
    text = rupees_text(value)
    assert "e" not in text.lower()
    assert text.startswith("-") == (value < 0)
    assert paise(text) == value


def test_all_places_are_always_written() -> None:
    assert weight_text(15000) == "1.5000"
    assert weight_text(0) == "0.0000"
    assert weight_text(-1) == "-0.0001"
    assert rupees_text(1) == "0.01"
    assert rupees_text(-150) == "-1.50"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "+1",
        "1.",
        ".5",
        "1e2",
        "1E2",
        "NaN",
        "Infinity",
        "1,000",
        "٣",
        "0x10",
        "1_0",
        "--1",
        "1.2.3",
    ],
)
def test_what_is_not_a_plain_decimal_is_not_read(text: str) -> None:
    with pytest.raises(NotAnAmount):
        scaled(text, 4)


def test_decimal_places_are_judged_by_value() -> None:
    assert weight_e4("100.0000000") == 1_000_000
    with pytest.raises(NotAnAmount, match="more than 4 decimal places"):
        weight_e4("1.00005")
