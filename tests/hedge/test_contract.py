"""A contract converts its quantities to fine weight and back exactly, and names its own mistakes."""

from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.hedge.contract import ONE_E8, Contract, contract_problems
from bullion.metals.fine_weight import NG_PER_G, NG_PER_KG, NG_PER_OUNCE

GOLDM = Contract(
    code="GOLDM",
    venue="mcx",
    venue_symbol="GOLDM26DEC",
    security_id="",
    metal="gold",
    instrument="GOLD",
    lot_ng=100 * NG_PER_G,
    fineness_e4=9_950,
    step_e8=ONE_E8,
    price_ng=10 * NG_PER_G,
    currency="INR",
    tick_e6=1_000_000,
    expires_on="2026-12-04",
    hold_until="2026-11-27",
)
GC = msgspec.structs.replace(
    GOLDM,
    code="GC",
    lot_ng=100 * NG_PER_OUNCE,
    fineness_e4=10_000,
    price_ng=NG_PER_OUNCE,
    currency="USD",
    tick_e6=100_000,
)
XAU = msgspec.structs.replace(
    GC, code="XAU", lot_ng=NG_PER_OUNCE, step_e8=ONE_E8 // 1_000, expires_on="", hold_until=""
)
SILVER = msgspec.structs.replace(
    GOLDM, code="SILVER", metal="silver", lot_ng=30 * NG_PER_KG, fineness_e4=9_990, price_ng=NG_PER_KG
)


@pytest.mark.parametrize(
    ("contract", "quantity_e8", "mg"),
    [
        (GOLDM, ONE_E8, 99_500),
        (GOLDM, -3 * ONE_E8, -298_500),
        (GC, ONE_E8, 3_110_348),  # 3110347.68
        (GC, 2 * ONE_E8, 6_220_695),  # 6220695.36: rounded down
        (GC, -2 * ONE_E8, -6_220_695),
        (XAU, ONE_E8 // 1_000, 31),
        (SILVER, ONE_E8, 29_970_000),
        (SILVER, 0, 0),
    ],
)
def test_weights_of_quantities(contract: Contract, quantity_e8: int, mg: int) -> None:
    assert contract.fine_mg(quantity_e8) == mg
    assert contract.quantity_e8(mg) == quantity_e8


@pytest.mark.parametrize(
    ("contract", "mg", "quantity_e8"),
    [
        (GOLDM, 99_499, 0),
        (GOLDM, 199_000 - 1, ONE_E8),
        (GOLDM, -99_499, 0),
        (GOLDM, -250_000, -2 * ONE_E8),
        (GC, 6_220_694, ONE_E8),
        (XAU, 20_000, 643 * ONE_E8 // 1_000),  # 20 g are 0.64301 ounces
        (SILVER, 29_969_999, 0),
    ],
)
def test_weights_become_whole_steps_towards_zero(contract: Contract, mg: int, quantity_e8: int) -> None:
    assert contract.quantity_e8(mg) == quantity_e8


def test_a_weight_that_was_rounded_down_is_not_enough_for_the_strict_conversion() -> None:
    assert GC.quantity_within_e8(6_220_695) == ONE_E8
    assert GC.quantity_within_e8(6_220_696) == 2 * ONE_E8
    assert GC.quantity_within_e8(-6_220_696) == -2 * ONE_E8
    assert GC.fine_mg_up(2 * ONE_E8) == 6_220_696
    assert GC.fine_mg_up(-2 * ONE_E8) == -6_220_696


CONTRACTS = st.builds(
    lambda lot_ng, fineness_e4, step_e8: msgspec.structs.replace(
        GOLDM, lot_ng=lot_ng, fineness_e4=fineness_e4, step_e8=step_e8
    ),
    st.one_of(
        st.integers(NG_PER_G // 100, 100 * NG_PER_KG), st.sampled_from([NG_PER_OUNCE, 5_000 * NG_PER_OUNCE])
    ),
    st.sampled_from([9_950, 9_990, 9_999, 10_000, 9_160, 1]),
    st.sampled_from([ONE_E8, ONE_E8 // 10, ONE_E8 // 1_000, 3 * ONE_E8]),
).filter(lambda contract: not contract_problems(contract))
WEIGHTS = st.integers(-(10**12), 10**12)


@given(CONTRACTS, st.integers(-(10**6), 10**6))
def test_a_quantity_survives_its_weight(contract: Contract, steps: int) -> None:
    quantity_e8 = steps * contract.step_e8
    assert contract.quantity_e8(contract.fine_mg(quantity_e8)) == quantity_e8
    assert contract.quantity_within_e8(contract.fine_mg_up(quantity_e8)) == quantity_e8


@given(CONTRACTS, WEIGHTS)
def test_a_quantity_is_the_largest_that_fits(contract: Contract, mg: int) -> None:
    quantity_e8 = contract.quantity_e8(abs(mg))
    assert quantity_e8 % contract.step_e8 == 0
    assert contract.fine_mg(quantity_e8) <= abs(mg) < contract.fine_mg(quantity_e8 + contract.step_e8)
    below_e8 = contract.quantity_e8(-abs(mg))
    assert contract.fine_mg(below_e8 - contract.step_e8) < -abs(mg) <= contract.fine_mg(below_e8)
    within_e8 = contract.quantity_within_e8(abs(mg))
    assert contract.fine_mg_up(within_e8) <= abs(mg) < contract.fine_mg_up(within_e8 + contract.step_e8)


@given(CONTRACTS, WEIGHTS)
def test_the_weight_is_the_exact_one_rounded_half_up(contract: Contract, quantity_e8: int) -> None:
    exact = (
        Fraction(quantity_e8, ONE_E8)
        * Fraction(contract.lot_ng, 1_000_000)
        * Fraction(contract.fineness_e4, 10_000)
    )
    assert contract.fine_mg(quantity_e8) == (exact + Fraction(1, 2)).__floor__()
    assert abs(contract.fine_mg_up(quantity_e8)) == abs(exact).__ceil__()


def test_values_are_in_paise_and_cents() -> None:
    assert GOLDM.value_minor(2 * ONE_E8, 125_000 * 1_000_000) == 2 * 10 * 125_000 * 100  # per 10 g
    assert GC.value_minor(ONE_E8, 4_800_100_000) == 480_010_00
    assert XAU.value_minor(ONE_E8 // 1_000, 4_805_000_000) == 481  # 480.5 cents: half up
    assert SILVER.value_minor(-ONE_E8, 150_000 * 1_000_000) == -30 * 150_000 * 100


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"code": "gold m"}, "code", "capital letters"),
        ({"venue": ""}, "venue", "name a line"),
        ({"venue_symbol": ""}, "venue_symbol", "security_id"),
        ({"venue_symbol": "GOLDM\x0154=2"}, "venue_symbol", "printable"),
        ({"security_id": "1" * 65}, "security_id", "at most 64"),
        ({"metal": "tin"}, "metal", "gold or silver"),
        ({"instrument": ""}, "instrument", "rate"),
        ({"currency": "EUR"}, "currency", "INR or USD"),
        ({"mode": "maybe"}, "mode", "suggest or auto"),
        ({"lot_ng": 0}, "lot_ng", "above 0"),
        ({"lot_ng": 10**18}, "lot_ng", "at most"),
        ({"fineness_e4": 10_001}, "fineness_e4", "from 1 to 10000"),
        ({"fineness_e4": 0}, "fineness_e4", "from 1 to 10000"),
        ({"step_e8": 0}, "step_e8", "above 0"),
        ({"step_e8": 1}, "step_e8", "1 mg"),
        ({"price_ng": -1}, "price_ng", "above 0"),
        ({"tick_e6": 0}, "tick_e6", "above 0"),
        ({"expires_on": "4 Dec"}, "expires_on", "must be a day"),
        ({"expires_on": "20261204"}, "expires_on", "must be a day"),
        ({"hold_until": "2026-13-01"}, "hold_until", "must be a day"),
        ({"hold_until": "2026-12-05"}, "hold_until", "after expires_on"),
        ({"expires_on": ""}, "hold_until", "does not expire"),
    ],
)
def test_a_mistake_is_named(change: dict[str, Any], field: str, words: str) -> None:
    assert not contract_problems(GOLDM)
    (problem,) = contract_problems(msgspec.structs.replace(GOLDM, **change))
    assert problem[0] == field
    assert words in problem[1]


def test_all_mistakes_are_named_at_once() -> None:
    wrong = msgspec.structs.replace(GOLDM, code="", metal="", lot_ng=0, tick_e6=0, expires_on="?")
    assert [field for field, _ in contract_problems(wrong)] == [
        "code",
        "metal",
        "lot_ng",
        "tick_e6",
        "expires_on",
    ]


def test_a_contract_dealt_by_telephone_needs_no_symbol() -> None:
    assert not contract_problems(msgspec.structs.replace(GOLDM, venue="desk", venue_symbol=""))
