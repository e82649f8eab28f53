"""A FIX venue for tests: the acceptor in this process, and `FixVenue` on a line to it."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from bullion.hedge.contract import ONE_E8, Contract
from bullion.hedge.fix.pace import Rate
from bullion.hedge.fix.profile import RESETTING, Line, OrderType, Profile
from bullion.hedge.fix.records import LineRecords
from bullion.hedge.fix.schedule import Timetable
from bullion.hedge.fix.session_effects import LineState
from bullion.hedge.fix.venue import FixVenue
from bullion.hedge.venue import (
    HedgeRequest,
    ListedExecution,
    OutcomeReport,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    Venue,
)
from bullion.market_demo.exchange import Behaviour, Exchange
from bullion.market_demo.faults import Faults
from bullion.market_demo.fix_acceptor import FixAcceptor, open_book
from bullion.market_demo.session_acceptor import acceptor_settings, clock_us

GRAMS = Contract(
    code="GRAM", venue="spot", venue_symbol="XAU/g", security_id="", metal="gold", instrument="GOLD",
    lot_ng=1_000_000_000, fineness_e4=10_000, step_e8=ONE_E8 // 1000, price_ng=1_000_000_000, currency="USD",
    tick_e6=10_000,
)  # fmt: skip
"""By the milligram: every order of the tests can be covered."""
QUICK = msgspec.structs.replace(
    RESETTING,
    rate=Rate(count=0),
    order_type=OrderType.MARKET,
    unknown_after_s=0.5,
    report_ms=5000,
    rate_logout_s=0,
)
SILENT_MS = 250
"""How long a call waits for an answer that does not come. One that comes may take long on a busy machine."""


def contracts() -> Collection[Contract]:
    return (GRAMS,)


def line_of(port: int, profile: Profile = QUICK) -> Line:
    return Line(
        name="spot", broker="main", host="127.0.0.1", port=port, sender="US", target="THEM", profile=profile,
        tls=None,
    )  # fmt: skip


def new_acceptor(behaviour: Behaviour | None = None, faults: Faults | None = None) -> FixAcceptor:
    faults = faults or Faults()
    exchange = Exchange(open_book(":memory:"), faults, behaviour or Behaviour())
    return FixAcceptor(exchange, faults, acceptor_settings("THEM", "US"))


class LineHolder:
    """The process that holds the line. `restart` ends it without a word and starts another one."""

    def __init__(self, line: Line, records: LineRecords) -> None:
        self._line = line
        self._records = records
        self.venue = FixVenue(line, records, contracts, clock_us)
        self._task: asyncio.Task[None] | None = None

    def wait_for_answers(self, wait_ms: int) -> None:
        """From now on a call waits so long for the venue's answer."""
        profile = msgspec.structs.replace(self._line.profile, report_ms=wait_ms)
        self._line = msgspec.structs.replace(self._line, profile=profile)
        self.venue._calls._patience_s = wait_ms / 1000

    async def restart(self) -> None:
        await self.stop()
        self.venue = FixVenue(self._line, self._records, contracts, clock_us)
        self._task = asyncio.ensure_future(self.venue.run())
        if not self.venue.line.is_open():
            return
        await self.up()
        # From then on the venue's ignorance of an order that this process did not send is a proof.
        await asyncio.sleep(self._line.profile.unknown_after_s)

    async def close(self) -> None:
        """From now on the timetable has the line closed."""
        today = datetime.now(UTC).date()
        days = tuple((today + timedelta(days)).isoformat() for days in (-1, 0, 1))
        self._line = msgspec.structs.replace(self._line, timetable=Timetable(closed_on=days))
        await self.restart()

    async def up(self) -> None:
        async with asyncio.timeout(20):
            while self.venue.line.state is not LineState.UP:
                await asyncio.sleep(0.005)

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None


class NodeVenue:
    """As a node has it that does not hold the line: every call goes to whoever holds it now."""

    def __init__(self, holder: LineHolder) -> None:
        self._holder = holder
        self.abilities = FixVenue.abilities

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        return await self._holder.venue.submit(request)

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        return await self._holder.venue.order_status(request)

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        return await self._holder.venue.instruments(broker, named)

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        return await self._holder.venue.executions(broker, after, limit)

    def reports(self) -> AsyncIterator[OutcomeReport]:
        return self._holder.venue.reports()


def as_node(holder: LineHolder) -> Venue:
    return NodeVenue(holder)
