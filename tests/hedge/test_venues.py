"""What each venue can do."""

import msgspec
import pytest

from bullion.hedge.contracts_seed import seed_contracts
from bullion.hedge.venues import BY_HAND, FIX, SIMULATED, abilities_of, sendable


@pytest.mark.parametrize(
    ("venue", "by_telephone", "over_a_line"),
    [(SIMULATED, True, True), (FIX, False, True), (BY_HAND, False, False)],
)
def test_which_covers_can_be_sent(venue: str, by_telephone: bool, over_a_line: bool) -> None:
    contract = seed_contracts()[0]
    line = msgspec.structs.replace(contract, venue="mcx")
    abilities = abilities_of(venue)
    assert (sendable(abilities, contract), sendable(abilities, line)) == (by_telephone, over_a_line)
