"""What a node knows of the market when it plans covers."""

from collections.abc import Collection, Mapping
from typing import Any, cast

import msgspec
import pytest

from bullion.hedge.contract import Contract
from bullion.hedge.venue import FIX, Tradeability
from bullion.hedge.venues import abilities_of
from bullion.hedge.watch import VenueWatch
from bullion.rates.board import Board
from bullion.wiring.cover_outlook import NodeOutlook
from bullion.wiring.fix_lines import FixLines
from tests.hedge.book.samples import SEED

pytestmark = pytest.mark.anyio

LINE = SEED["GOLDPETAL"].venue


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
    outlook = NodeOutlook(
        abilities_of(FIX), watch, Board(), cast("FixLines", line), lambda: 0, lambda _: "USDINR"
    )
    contract = msgspec.structs.replace(SEED["GOLDPETAL"], instrument="GOLDPETAL")
    assert outlook.sendable("main", contract)
    assert outlook.available("main", contract)
    line.said = Tradeability.SUSPENDED
    assert watch.reachable("main")
    assert not outlook.available("main", contract)
