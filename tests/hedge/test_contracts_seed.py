"""The contracts that a new broker begins with."""

from fractions import Fraction

import pytest

from bullion.hedge.contract import ONE_E8, contract_problems
from bullion.hedge.contracts_seed import seed_contracts

SEED = {contract.code: contract for contract in seed_contracts()}


def test_every_row_is_valid_and_waits_for_a_dealer() -> None:
    assert len(SEED) == len(seed_contracts()) == 13
    for contract in SEED.values():
        assert not contract_problems(contract), contract.code
        assert (contract.venue, contract.mode) == ("desk", "suggest")
    assert {each.venue for each in seed_contracts("a", "b", "c")} == {"a", "b", "c"}


def test_by_one_rate_a_gram_costs_the_same_in_every_contract() -> None:
    """The rate is the reference of a cover, what it counts at without a price, and the base of its limit."""
    costs: dict[str, set[Fraction]] = {}
    for each in SEED.values():
        paise = each.value_minor(1_000 * ONE_E8, 125_000 * 10**6)
        costs.setdefault(each.instrument, set()).add(Fraction(paise, each.lot_ng))
    assert {instrument: len(found) for instrument, found in costs.items()} == dict.fromkeys(costs, 1)


@pytest.mark.parametrize(
    ("code", "fine_mg", "price", "minor"),
    [
        ("GOLD", 995_000, 125_000, 12_500_000_00),  # per 10 g
        ("GOLDM", 99_500, 125_000, 1_250_000_00),
        ("GOLDTEN", 9_990, 125_000, 125_000_00),
        ("GOLDGUINEA", 7_960, 100_000, 100_000_00),  # per 8 g
        ("GOLDPETAL", 999, 12_500, 12_500_00),  # per gram
        ("SILVER", 29_970_000, 150_000, 4_500_000_00),  # per kilogram
        ("SILVERM", 4_995_000, 150_000, 750_000_00),
        ("SILVERMIC", 999_000, 150_000, 150_000_00),
        ("GC", 3_110_348, 4_800, 480_000_00),  # per ounce, in cents
        ("MGC", 311_035, 4_800, 48_000_00),
        ("SI", 155_361_867, 50, 250_000_00),
        ("XAU", 31_103, 4_800, 4_800_00),
        ("XAG", 31_072, 50, 50_00),
    ],
)
def test_weight_and_value_of_one_lot(code: str, fine_mg: int, price: int, minor: int) -> None:
    assert SEED[code].fine_mg(ONE_E8) == fine_mg
    assert SEED[code].value_minor(ONE_E8, price * 10**6) == minor
