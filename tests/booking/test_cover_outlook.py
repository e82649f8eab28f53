"""What a node knows of the market when it plans covers."""

from collections.abc import Collection, Mapping
from typing import Any, cast
from zoneinfo import ZoneInfo

import msgspec
import pytest

from bullion.hedge.contract import Contract
from bullion.hedge.venue import FIX, Tradeability
from bullion.hedge.venues import abilities_of
from bullion.hedge.watch import VenueWatch
from bullion.metals.metal import Metal
from bullion.rates.tick import Tick
from bullion.store.book_keeping import Surroundings
from bullion.store.book_profit import book_mark
from bullion.wiring.cover_outlook import NodeOutlook
from bullion.wiring.fix_lines import FixLines
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
    watch = VenueWatch(cast("Any", line), lambda: {"main": {"GOLD"}})
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
    watch = VenueWatch(cast("Any", Line()), dict)
    outlook = NodeOutlook(abilities_of(FIX), watch, lambda _: around, None, lambda: 0)
    shown = book_mark(Metal.GOLD, [small, large], ticks, (), 0).mark
    assert shown is not None
    assert shown.metal.bid_e6 == 7_000
    assert outlook.mark("main", "gold", [small, large]) == shown
