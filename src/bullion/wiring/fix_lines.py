"""The venue `fix` of a node: the FIX line of each broker, held by this process or by another one."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from bullion.hedge.contract import Contract
from bullion.hedge.fix.lease import LineHolder, LineLease
from bullion.hedge.fix.line_client import LineClient, LineVenue
from bullion.hedge.fix.line_control import LineControl
from bullion.hedge.fix.line_server import LineServer
from bullion.hedge.fix.message_log import MessageLog
from bullion.hedge.fix.order_factory import Reference
from bullion.hedge.fix.profile import Line
from bullion.hedge.fix.schedule import Schedule
from bullion.hedge.fix.venue import FixVenue
from bullion.hedge.venue import (
    HedgeRequest,
    ListedExecution,
    OutcomeReport,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    VenueUnreachable,
)
from bullion.hedge.venues import FIX, abilities_of
from bullion.market_file import MarketSettings
from bullion.store.fix_lines import StoredLines
from bullion.store.line_records import StoredLineRecords
from bullion.store.line_states import StoredLineControls

from .store import StoreEngine

_LOGOUT_S = 1.0
_LOOK_S = 0.05

Contracts = Callable[[], Collection[Contract]]


class FixLines:
    abilities = abilities_of(FIX)

    def __init__(
        self,
        market: MarketSettings,
        environ: Mapping[str, str],
        engine: StoreEngine,
        holder: str,
        now_us: Callable[[], int],
        contracts: Callable[[str], Collection[Contract]],
        reference: Callable[[str, Contract], int | None],
        host: str,
        place: str,
    ) -> None:
        """`contracts` of a broker; `reference`: the price of a broker's contract now; `host`: where other
        nodes reach this one; `place`: what the desk calls it."""
        self._lines = {
            line.broker: BrokerLine(
                line,
                engine,
                holder,
                now_us,
                partial(contracts, line.broker),
                partial(reference, line.broker),
                password=environ.get(line.password_env, ""),
                log=MessageLog(Path(market.messages.folder), line.name, now_us, market.messages.days),
                host=host,
                place=place,
            )
            for line in market.lines
        }

    @property
    def lines(self) -> Collection["BrokerLine"]:
        return self._lines.values()

    async def run(self) -> None:
        """Keep the lines that this process can get, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for line in self._lines.values():
                group.create_task(line.run())

    async def wait_until_answered(self) -> None:
        """Wait until every line that is open now answers, here or at the process that holds it."""
        await asyncio.gather(*(line.wait_until_answered() for line in self._lines.values()))

    def holds(self, broker: str) -> bool:
        """Whether this process holds the broker's line; True if the broker has none."""
        line = self._lines.get(broker)
        return line is None or line.lease.held()

    def name(self, broker: str) -> str | None:
        line = self._lines.get(broker)
        return None if line is None else line.own.line.line.name

    def tradeability(self, broker: str, contract: Contract) -> Tradeability:
        """For the process that holds the broker's line."""
        line = self._lines.get(broker)
        return Tradeability.UNKNOWN if line is None else line.own.tradeability(contract)

    def closes_us(self, broker: str, at_us: int) -> int | None:
        """When the broker's line closes; None if it is not open, or always."""
        line = self._lines.get(broker)
        if line is None:
            return None
        schedule = Schedule(line.own.line.line.timetable)
        return schedule.next_change_us(at_us) if schedule.is_open(at_us) else None

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        return await self._venue(request.broker).submit(request)

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        return await self._venue(request.broker).order_status(request)

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        return await self._venue(broker).instruments(broker, named)

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        return await self._venue(broker).executions(broker, after, limit)

    async def reports(self) -> AsyncIterator[OutcomeReport]:
        """Those of all lines."""
        found: asyncio.Queue[OutcomeReport] = asyncio.Queue()

        async def forward(line: BrokerLine) -> None:
            async for each in line.reports():
                found.put_nowait(each)

        tasks = [asyncio.create_task(forward(line)) for line in self._lines.values()]
        try:
            while True:
                yield await found.get()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _venue(self, broker: str) -> LineVenue:
        line = self._lines.get(broker)
        if line is None:
            raise VenueUnreachable(f"the market file has no line of the broker {broker}")
        return line.venue


class BrokerLine:
    """One line: our own adapter, the lease on the line, and the way to whoever holds it."""

    def __init__(
        self,
        line: Line,
        engine: StoreEngine,
        holder: str,
        now_us: Callable[[], int],
        contracts: Contracts,
        reference: Reference,
        *,
        password: str,
        log: MessageLog,
        host: str,
        place: str,
    ) -> None:
        self._host = host
        self._log = log
        stored = StoredLines(engine)
        records = StoredLineRecords(engine, line.name, contracts)
        token = secrets.token_urlsafe()
        self.lease = LineLease(stored, line.name, LineHolder(holder, "", token))
        self.own = FixVenue(
            line,
            records,
            contracts,
            now_us,
            reference=reference,
            keep_incoming=None if line.profile.reset_on_logon else partial(records.keep_incoming, holder),
            password=password,
            holder=self.lease,
            kept=stored,
            log=log,
        )
        self._server = LineServer(line.name, self.own, token, self.lease.held)
        client = LineClient(line.name, self.own.abilities, stored)
        self._client = client
        # A holder that stops logs out, releases the lease and hangs up: the others need not wait to see it.
        client.on_gone = self.lease.hurry
        self.lease.on_taken = self.own.line.wake
        self.venue = LineVenue(self.own, client, self.lease.held)
        controls = StoredLineControls(engine)
        self.control = LineControl(self.own.line, controls, holder, self.lease.held, place, now_us)

    def reports(self) -> AsyncIterator[OutcomeReport]:
        return self.own.reports()

    async def wait_until_answered(self) -> None:
        while True:
            try:
                await self.venue.instruments(self.own.line.line.broker, ())
            except VenueUnreachable:
                await asyncio.sleep(_LOOK_S)
            else:
                return

    async def run(self) -> None:
        """Serve other nodes, take the line when it is free, and keep it up while it is ours."""
        self.lease.listen_at(await self._server.start(self._host))
        try:
            await self.control.begin()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._log.run())
                group.create_task(self.lease.run())
                group.create_task(self.control.run())
                line = group.create_task(self.own.run())
                try:
                    await asyncio.wait([line])
                finally:
                    # Log out before the lease is released. A venue that does not answer is not waited for.
                    self.own.line.stop()
                    await asyncio.wait([line], timeout=_LOGOUT_S)
                    line.cancel()
        finally:
            await self._server.stop()
            with contextlib.suppress(asyncio.CancelledError):
                await self._client.close()
