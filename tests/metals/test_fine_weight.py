"""Fine weights: pure metal in whole milligrams, rounded once."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.metals.fine_weight import NG_PER_G, NG_PER_OUNCE, fine_mg
from bullion.metals.metal import Metal
from bullion.metals.rounding import half_up, towards_zero

QUANTITIES = st.integers(-(10**13), 10**13)


@pytest.mark.parametrize(
    ("quantity_e4", "metal", "fineness_e4", "mg"),
    [
        (10_000, Metal.GOLD, 10_000, 1_000),  # 1 g of pure gold
        (10_000, Metal.GOLD, 9_990, 999),
        (1_000_000, Metal.GOLD, 9_160, 91_600),  # 100 g of 22 carat
        (10_000_000, Metal.GOLD, 9_950, 995_000),  # 1 kg of 995
        (10_000, Metal.SILVER, 9_990, 999_000),  # 1 kg of 999
        (300_000, Metal.SILVER, 9_990, 29_970_000),
        (5, Metal.GOLD, 10_000, 1),  # half a milligram goes up
        (4, Metal.GOLD, 10_000, 0),
        (1, Metal.SILVER, 9_990, 100),  # 99.9 mg
        (0, Metal.GOLD, 9_990, 0),
    ],
)
def test_fine_weights(quantity_e4: int, metal: Metal, fineness_e4: int, mg: int) -> None:
    assert fine_mg(quantity_e4, metal, fineness_e4) == mg


def test_one_kilogram_in_fine_ounces() -> None:
    for fineness_e4, ounces_e3 in ((9_950, 31_990), (9_990, 32_119)):
        weight_mg = fine_mg(10_000_000, Metal.GOLD, fineness_e4)
        assert half_up(weight_mg * 1_000_000 * 1_000, NG_PER_OUNCE) == ounces_e3
    assert Fraction("31.1034768") * NG_PER_G == NG_PER_OUNCE


@given(QUANTITIES, st.sampled_from(Metal), st.integers(1, 10_000))
def test_a_fine_weight_is_within_half_a_milligram(quantity_e4: int, metal: Metal, fineness_e4: int) -> None:
    unit_mg = 1_000 if metal is Metal.GOLD else 1_000_000
    exact = Fraction(quantity_e4, 10_000) * unit_mg * Fraction(fineness_e4, 10_000)
    assert Fraction(-1, 2) < fine_mg(quantity_e4, metal, fineness_e4) - exact <= Fraction(1, 2)


@given(QUANTITIES, st.integers(1, 10**9))
def test_rounding(numerator: int, denominator: int) -> None:
    exact = Fraction(numerator, denominator)
    assert Fraction(-1, 2) < half_up(numerator, denominator) - exact <= Fraction(1, 2)
    assert towards_zero(numerator, denominator) == int(exact)


def test_a_half_goes_up_also_below_zero() -> None:
    assert [half_up(each, 2) for each in (-3, -1, 1, 3)] == [-1, 0, 1, 2]
