"""What a group is offered, and the anatomy of its price."""

import json
from dataclasses import replace
from datetime import date
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.accounts.group import Group, Sizes, Terms
from bullion.metals.pricing import Direct, Fixed
from bullion.metals.symbol import Side, SizeRule
from bullion.orders.offer import Offer, make_offer
from bullion.rates.duty import Duty, DutyTable
from bullion.rates.tick import Tick
from bullion.refusals.refusal import RefusalCode

from .market_place import GROUP, LANDED, NOW_US, SWITCHES, SYMBOL, TICK

XAUUSD = Tick("XAUUSD", 4_800_000_000, 4_800_500_000, NOW_US - 9, NOW_US - 9)
USDINR = Tick("USDINR", 92_000_000, 92_010_000, NOW_US - 4, NOW_US - 4)
DUTY = DutyTable("main", "gold", (Duty(date(2026, 5, 13), 850_000), Duty(date(2026, 7, 1), 900_000)))
TICKS = {tick.instrument: tick for tick in (TICK, XAUUSD, USDINR)}


def offer(group: Group = GROUP, ticks: dict[str, Tick] = TICKS, **symbol: Any) -> Offer:
    return make_offer(replace(SYMBOL, **symbol), group, SWITCHES, ticks.get, {"gold": DUTY}.get, NOW_US)


def anatomy(of: Offer, side: Side) -> Any:
    deal = of.side_price(side)
    assert deal is not None
    return json.loads(deal.price_anatomy)


def test_the_anatomy_of_a_direct_price() -> None:
    assert anatomy(offer(), Side.BUY) == {
        "components": [
            {"name": "instrument", "value": "GOLD"},
            {"name": "ask", "value": "70010.00"},
            {"name": "symbol_price", "value": "70010.00"},
        ],
        "premium": "100.00",
        "price": "70110.00",
        "quoted_weight": "10.0000",
        "unit": "g",
        "tolerance_percent": "0.2500",
        "ticks": [
            {
                "instrument": "GOLD",
                "bid": "70000.000000",
                "ask": "70010.000000",
                "at": "2026-06-10T05:59:59.000000+00:00",
            }
        ],
    }


@pytest.mark.parametrize("side", list(Side))
def test_the_parts_of_a_landed_price_make_the_price(side: Side) -> None:
    shown = anatomy(offer(pricing=LANDED), side)
    parts = {each["name"]: Decimal(each["value"]) for each in shown["components"]}
    metal = (parts["spot"] + parts["premium_usd"]) * (parts["currency"] + parts["interbank"])
    metal *= parts["conversion"]
    assert parts["metal"] == metal
    assert parts["symbol_price"] == metal + parts["duty"] + parts["margin"]
    assert (parts["duty"], parts["margin"]) == (Decimal(8500), Decimal(25))
    paise = (parts["symbol_price"] * 100 + Decimal("0.5")).to_integral_value(ROUND_FLOOR)
    assert Decimal(shown["price"]) == paise / 100 + Decimal(shown["premium"])
    quoted = "ask" if side is Side.BUY else "bid"
    assert [Decimal(tick[quoted]) for tick in shown["ticks"]] == [parts["spot"], parts["currency"]]


def test_the_rate_is_as_old_as_its_oldest_tick() -> None:
    assert offer().rate_at_us == TICK.at_us
    assert offer(pricing=LANDED).rate_at_us == XAUUSD.at_us
    assert offer(pricing=Fixed(5, 4)).rate_at_us is None


def test_a_landed_price_holds_until_the_next_duty() -> None:
    price = offer(pricing=LANDED).price
    assert not isinstance(price, RefusalCode)
    assert price.valid_until_us == DUTY.duties[1].from_us


def test_without_a_price_there_is_no_deal() -> None:
    none = offer(ticks={})
    assert isinstance(none.price, RefusalCode)
    assert (none.buy, none.sell, none.rate_at_us) == (None, None, None)
    assert Side.BUY in none.offered


def test_without_terms_no_side_is_left_out_but_none_has_a_price() -> None:
    none = offer(replace(GROUP, terms={}))
    assert Side.BUY in none.offered
    assert (none.buy, none.sell) == (None, None)


def test_the_groups_own_terms_go_before_its_default() -> None:
    group = replace(GROUP, default_terms=Terms(1, 1))
    own, default = offer(group).buy, offer(group, code="SILVER").buy
    assert own is not None
    assert default is not None
    assert own.price_paise - default.price_paise == 10_000 - 1


@pytest.mark.parametrize(
    ("terms", "sizes"),
    [
        (Terms(0, 0), (10_000, 10_000_000, 5_000)),
        (Terms(0, 0, 5_000, 20_000_000, 2_000), (10_000, 10_000_000, 10_000)),
        (Terms(0, 0, 70_000, 80_000, 15_000), (70_000, 80_000, 15_000)),
        (None, (10_000, 10_000_000, 5_000)),
    ],
)
def test_sizes_are_those_that_pass_symbol_and_terms(terms: Terms | None, sizes: tuple[int, int, int]) -> None:
    assert offer(replace(GROUP, terms={}, default_terms=terms)).sizes == Sizes(*sizes)


SIZES = st.none() | st.integers(1, 60)


@given(SIZES, SIZES, SIZES, st.integers(1, 200))
def test_a_quantity_within_sizes_passes_both_and_no_other_does(
    minimum: int | None, maximum: int | None, step: int | None, quantity: int
) -> None:
    if minimum is not None and maximum is not None and minimum > maximum:
        return
    size, terms = SizeRule(6, 120, 4), Terms(0, 0, minimum, maximum, step)
    sizes = offer(replace(GROUP, terms={"GOLD": terms}), size=size).sizes
    assert sizes.allow(quantity) is (size.allows(quantity) and terms.allow(quantity))


@given(st.integers(1, 10**12), st.integers(0, 10**6), st.integers(-(10**6), 10**6))
def test_the_price_is_rounded_half_up_to_paise_and_then_the_premium(
    bid_e6: int, spread_e6: int, premium: int
) -> None:
    tick = Tick("GOLD", bid_e6, bid_e6 + spread_e6, NOW_US, NOW_US)
    made = offer(
        replace(GROUP, terms={"GOLD": Terms(premium, premium)}), {"GOLD": tick}, pricing=Direct("GOLD")
    )
    assert made.buy is not None
    assert made.sell is not None
    assert made.buy.price_paise == (2 * tick.ask_e6 + 10_000) // 20_000 + premium
    assert made.sell.price_paise == (2 * tick.bid_e6 + 10_000) // 20_000 + premium
    assert msgspec.json.decode(made.buy.price_anatomy)["price"] == f"{made.buy.price_paise / 100:.2f}"
