"""The only two places where money is rounded: halves up, to whole paise."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.rates.quote import account_price_paise, total_paise

HALF = Fraction(1, 2)
EXACT = st.builds(
    lambda digits, places: Decimal(f"{digits}E-{places}"), st.integers(0, 10**40), st.integers(0, 30)
)
PAISE = st.integers(-(10**14), 10**14)


@pytest.mark.parametrize(
    ("symbol_price", "premium_paise", "expected_paise"),
    [
        ("150000", 0, 15_000_000),
        ("150000.004999999999999999999999999999999999", 0, 15_000_000),
        ("150000.005", 0, 15_000_001),
        ("150000.015", 0, 15_000_002),
        ("150000.025", 0, 15_000_003),
        ("150000.005", -100, 14_999_901),
        ("0.004", 0, 0),
        ("0.01", -1, 0),
        ("1.5E+5", 1, 15_000_001),
        ("-0.005", 101, 101),
    ],
)
def test_the_accounts_price(symbol_price: str, premium_paise: int, expected_paise: int) -> None:
    assert account_price_paise(Decimal(symbol_price), premium_paise) == expected_paise


@given(EXACT, PAISE)
def test_the_price_is_the_exact_sum_rounded_half_up(symbol_price: Decimal, premium_paise: int) -> None:
    exact = Fraction(symbol_price) * 100 + premium_paise
    with localcontext(prec=2):  # Nobody's context may have a say in it.
        assert account_price_paise(symbol_price, premium_paise) == floor(exact + HALF)


@pytest.mark.parametrize(
    ("price_paise", "quantity_e4", "quoted_weight_e4", "expected_paise"),
    [
        (15_000_000, 1_000_000, 100_000, 150_000_000),
        (15_000_001, 10_000, 100_000, 1_500_000),
        (15_000_005, 10_000, 100_000, 1_500_001),
        (15_000_004, 10_000, 100_000, 1_500_000),
        (1, 1, 2, 1),
        (1, 1, 3, 0),
        (2, 1, 3, 1),
        (30_000_000, 15_000, 10_000, 45_000_000),
    ],
)
def test_the_total(price_paise: int, quantity_e4: int, quoted_weight_e4: int, expected_paise: int) -> None:
    assert total_paise(price_paise, quantity_e4, quoted_weight_e4) == expected_paise


@given(st.integers(1, 10**14), st.integers(1, 10**13), st.integers(1, 10**13))
def test_the_total_is_the_exact_quotient_rounded_half_up(
    price_paise: int, quantity_e4: int, quoted_weight_e4: int
) -> None:
    exact = Fraction(price_paise * quantity_e4, quoted_weight_e4)
    assert total_paise(price_paise, quantity_e4, quoted_weight_e4) == floor(exact + HALF)
