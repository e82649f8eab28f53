"""Which offers are crossed, and how many of them a node counts."""

from dataclasses import replace

import msgspec
import pytest

from bullion.accounts.broker import Broker
from bullion.accounts.group import Group, Terms
from bullion.metals.pricing import Fixed
from bullion.metals.symbol import Side, Symbol
from bullion.orders.crossed import CrossedOffers, crossed_groups
from bullion.rates.board import Board
from bullion.rates.formula import symbol_price

from .market_place import NOW_US, SYMBOL, TICK, Memory

FIXED = replace(SYMBOL, code="COIN", pricing=Fixed(buy_paise=7_000_000, sell_paise=6_999_000))


def group(code: str, buy: int | None, sell: int | None, *, trading: bool = True) -> Group:
    return Group("main", code, trading=trading, terms={}, default_terms=Terms(buy, sell))


GROUPS = [
    group("even", 0, 0),
    group("touching", 0, 1_000),
    group("crossed", 0, 1_001),
    group("by-buys", -1_001, 0),
    group("one-sided", -5_000, None),
    group("closed", -5_000, 0, trading=False),
    Group("main", "without", trading=True, terms={}, default_terms=None),
]


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        (FIXED, ["crossed", "by-buys"]),
        (replace(FIXED, sides=frozenset({Side.SELL})), []),
        (replace(FIXED, trading=False), []),
        (replace(FIXED, pricing=Fixed(7_000_000, None)), []),
        (SYMBOL, []),  # It has no rate.
    ],
)
def test_a_group_is_crossed_where_it_could_sell_for_more_than_it_buys_for(
    symbol: Symbol, expected: list[str]
) -> None:
    price = symbol_price(symbol, lambda _: None, lambda _: None, NOW_US)
    assert crossed_groups(symbol, price, GROUPS) == expected


def test_a_node_counts_the_crossed_offers_of_each_broker() -> None:
    memory, board = Memory(), Board()
    offers = CrossedOffers(memory, board)
    memory.put(Broker("other", "Other"), FIXED, *GROUPS)
    assert offers.count(NOW_US) == {"main": 2, "other": 0}
    # GOLD follows its rate: crossed for two groups at a spread of 10 rupees, and for none at 20.
    board.apply([("", TICK)], 1)
    assert offers.count(NOW_US)["main"] == 4
    board.apply([("", msgspec.structs.replace(TICK, ask_e6=TICK.bid_e6 + 20_000_000))], 2)
    assert offers.count(NOW_US)["main"] == 2
