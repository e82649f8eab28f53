"""The list of checks that a dealer sees knows every refusal that an order can meet."""

import pytest

from bullion.desk.order_checks import CHECKS, check_of
from bullion.orders.verdict import Refusal
from bullion.refusals.catalogue import CATALOGUE, PRECEDENCE, PRICE_MOVED, UNKNOWN_SYMBOL
from bullion.refusals.refusal import RefusalCode

NAMES = {check.name for check in CHECKS}
OF_THE_MARKET = CATALOGUE[PRECEDENCE[UNKNOWN_SYMBOL.code] : PRECEDENCE[PRICE_MOVED.code]]


@pytest.mark.parametrize("row", OF_THE_MARKET, ids=lambda row: row.code)
def test_every_refusal_of_the_market_has_its_check(row: RefusalCode) -> None:
    assert check_of(Refusal(row, compared={"halted": True})) in NAMES
