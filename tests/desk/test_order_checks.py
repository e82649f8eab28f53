"""The list of checks that a dealer sees shows every refusal that an order can meet."""

from dataclasses import replace

import pytest

from bullion.desk.order_checks import REFUSED, list_checks
from bullion.orders.verdict import Refusal
from bullion.refusals.catalogue import CATALOGUE, PRECEDENCE, PRICE_MOVED, UNKNOWN_SYMBOL
from bullion.refusals.refusal import RefusalCode

OF_THE_MARKET = CATALOGUE[PRECEDENCE[UNKNOWN_SYMBOL.code] : PRECEDENCE[PRICE_MOVED.code]]
NEW = replace(UNKNOWN_SYMBOL, code="minimum_total", message="The total of this order is too small.")


@pytest.mark.parametrize("row", [*OF_THE_MARKET, NEW], ids=lambda row: row.code)
def test_a_refusal_of_the_market_is_shown_under_one_check(row: RefusalCode) -> None:
    listed = list_checks([Refusal(row, compared={"halted": True})], unknown=())
    (refused,) = (each for each in listed if each["state"] == REFUSED)
    assert refused["code"] == row.code


def test_a_refusal_without_a_check_of_its_own_is_the_last_of_the_list() -> None:
    last = list_checks([Refusal(NEW)], unknown=())[-1]
    assert (last["check"], last["message"]) == ("other", "The total of this order is too small.")
    assert "other" not in {each["check"] for each in list_checks([], unknown=())}
