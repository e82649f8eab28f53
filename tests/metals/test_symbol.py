"""The size rule, and what a symbol refuses to be."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bullion.metals.metal import Metal
from bullion.metals.pricing import Direct
from bullion.metals.symbol import Side, SizeRule, Symbol

SIZES = st.integers(min_value=1, max_value=10**6)


@given(SIZES, SIZES, SIZES, st.integers(min_value=-10, max_value=2 * 10**6))
def test_a_size_is_allowed_within_bounds_and_on_a_step(
    minimum: int, maximum: int, step: int, quantity: int
) -> None:
    assume(minimum <= maximum // step * step)
    rule = SizeRule(minimum, maximum, step)
    steps = range(0, quantity + 1, step)
    assert rule.allows(quantity) == (minimum <= quantity <= maximum and quantity in steps)


def test_one_gram_steps() -> None:
    rule = SizeRule(10_000, 100_000, 10_000)
    assert rule.allows(10_000)
    assert rule.allows(100_000)
    assert not rule.allows(10_001)
    assert not rule.allows(0)
    assert not rule.allows(110_000)


@pytest.mark.parametrize(
    ("minimum", "maximum", "step", "why"),
    [
        (0, 10, 1, "must be above 0"),
        (11, 10, 1, "must be above 0"),
        (1, 10, 0, "must be above 0"),
        (1, 10, -1, "must be above 0"),
        (11, 19, 10, "no multiple of step"),
    ],
)
def test_a_rule_nothing_could_meet_cannot_be_made(minimum: int, maximum: int, step: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        SizeRule(minimum, maximum, step)


def test_a_symbol_without_sides_or_weight_cannot_be_made() -> None:
    symbol = Symbol(
        broker="main",
        code="GOLD",
        metal=Metal.GOLD,
        quoted_weight_e4=100_000,
        trading=True,
        sides=frozenset(Side),
        frozen=False,
        size=SizeRule(1, 2, 1),
        rate_age_s_max=None,
        freeze_after_s=None,
        pricing=Direct("GOLD"),
    )
    assert symbol.unit == "g"
    assert replace(symbol, metal=Metal.SILVER).unit == "kg"
    with pytest.raises(ValueError, match="sides"):
        replace(symbol, sides=frozenset())
    with pytest.raises(ValueError, match="quoted_weight"):
        replace(symbol, quoted_weight_e4=0)
    for fineness_e4 in (0, 10_001):
        with pytest.raises(ValueError, match="fineness"):
            replace(symbol, fineness_e4=fineness_e4)
