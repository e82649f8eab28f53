"""What a node knows of the market when it plans covers."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast
from zoneinfo import ZoneInfo

import msgspec
import pytest

from bullion.booking.cover_sending import MarketPrice
from bullion.hedge.contract import Contract
from bullion.hedge.venue import Tradeability
from bullion.hedge.venues import FIX, abilities_of
from bullion.hedge.watch import VenueWatch
from bullion.metals.metal import Metal
from bullion.metals.pricing import Direct
from bullion.rates.tick import Tick
from bullion.store.book_keeping import Surroundings
from bullion.store.book_profit import book_mark
from bullion.wiring.cover_outlook import NodeOutlook, market_price
from bullion.wiring.fix_lines import FixLines
from tests.booking.fixtures import GOLD
from tests.hedge.book.samples import SEED

pytestmark = pytest.mark.anyio

LINE = SEED["GOLDPETAL"].venue
NOTHING = Surroundings(ZoneInfo("Asia/Kolkata"), (), ())


class Line:
    """A broker's line, which this node holds."""

    def __init__(self) -> None:
        self.said = Tradeability.TRADABLE

    def name(self, broker: str) -> str:
        assert broker == "main"
        return LINE

    def tradeability(self, broker: str, contract: Contract) -> Tradeability:
        assert (broker, contract.code) == ("main", "GOLDPETAL")
        return self.said

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        assert broker == "main"
        return dict.fromkeys(named, self.said)


async def test_a_contract_that_no_symbol_is_hedged_in_is_not_planned_with_while_the_line_is_closed() -> None:
    line = Line()
    watch = VenueWatch(cast("Any", line), lambda: ["main"], lambda _: {"GOLD"})
    await watch.check()
    outlook = NodeOutlook(abilities_of(FIX), watch, lambda _: NOTHING, cast("FixLines", line), lambda: 0)
    contract = msgspec.structs.replace(SEED["GOLDPETAL"], instrument="GOLDPETAL")
    assert outlook.sendable("main", contract)
    assert outlook.available("main", contract)
    line.said = Tradeability.SUSPENDED
    assert watch.reachable("main")
    assert not outlook.available("main", contract)


def test_rules_fire_at_the_values_that_the_desk_is_shown() -> None:
    """Of two contracts in rupees, the larger one values the book, whatever their codes are."""
    large = msgspec.structs.replace(SEED["GOLD"], code="Z", instrument="LARGE")
    small = msgspec.structs.replace(SEED["GOLDPETAL"], code="A", instrument="SMALL")
    ticks = [Tick(each, price_e6, price_e6, 0, 0) for each, price_e6 in (("LARGE", 7_000), ("SMALL", 9_000))]
    around = msgspec.structs.replace(NOTHING, ticks=ticks)
    watch = VenueWatch(cast("Any", Line()), list, lambda _: set())
    outlook = NodeOutlook(abilities_of(FIX), watch, lambda _: around, None, lambda: 0)
    shown = book_mark(Metal.GOLD, [small, large], ticks, (), 0).mark
    assert shown is not None
    assert shown.metal.bid_e6 == 7_000
    assert outlook.mark("main", "gold", [small, large]) == shown


@pytest.mark.parametrize(
    ("metal_age_s", "dollar_age_s", "in_rupees", "in_dollars"),
    [
        (60, 60, MarketPrice(7_005, 0), MarketPrice(7_005, 88)),
        (61, 0, None, None),
        (0, 61, MarketPrice(7_005, 0), None),
        (None, 0, None, None),
        (0, None, MarketPrice(7_005, 0), None),
        (-6, 0, MarketPrice(7_005, 0), MarketPrice(7_005, 88)),
        (-7, 0, None, None),  # From before the clock was set back.
    ],
)
def test_a_cover_is_measured_by_fresh_rates_alone(
    metal_age_s: int | None,
    dollar_age_s: int | None,
    in_rupees: MarketPrice | None,
    in_dollars: MarketPrice | None,
) -> None:
    now_us = 10**9
    ages = (("GOLD", 7_000, 7_010, metal_age_s), ("USDINR", 87, 89, dollar_age_s))
    ticks = [
        Tick(name, bid, ask, now_us - age_s * 10**6, 0) for name, bid, ask, age_s in ages if age_s is not None
    ]
    around = msgspec.structs.replace(NOTHING, ticks=ticks)
    rupees = msgspec.structs.replace(SEED["GOLD"], instrument="GOLD")
    dollars = msgspec.structs.replace(SEED["XAU"], instrument="GOLD")
    assert market_price(rupees, around, now_us) == in_rupees
    assert market_price(dollars, around, now_us) == in_dollars


@pytest.mark.parametrize(
    ("limit_s", "price"), [(5, None), (600, MarketPrice(7_005, 0)), (None, MarketPrice(7_005, 0))]
)
def test_a_rate_is_as_long_fresh_for_a_cover_as_for_an_order(
    limit_s: int | None, price: MarketPrice | None
) -> None:
    symbol = replace(GOLD, rate_age_s_max=limit_s, pricing=Direct("GOLD"))
    around = msgspec.structs.replace(NOTHING, ticks=[Tick("GOLD", 7_000, 7_010, 10**9, 0)], symbols=[symbol])
    contract = msgspec.structs.replace(SEED["GOLD"], instrument="GOLD")
    assert market_price(contract, around, 10**9 + 90 * 10**6) == price
