"""The FIX venue keeps to the contract of venues: on either engine, with doubled ids refused and taken."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bullion.hedge.fix import reconnect_pause
from bullion.hedge.venue import Venue
from bullion.market_demo.exchange import Behaviour, Mode
from bullion.market_demo.faults import Fault
from bullion.store.engine import Engine
from bullion.store.line_records import StoredLineRecords
from tests.support.fix_venue import QUICK, SILENT_MS, LineHolder, as_node, contracts, line_of, new_acceptor
from tests.support.venue_contract import VenueContract, VenueTrial

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LINGERS_MS = 300
LAGS_MS = 60


class FixTrial:
    broker = "main"
    instrument = "GOLD"
    smallest_e4 = 10

    def __init__(self, engine: Engine, *, refuses_doubles: bool) -> None:
        self._acceptor = new_acceptor(Behaviour(refuses_doubles=refuses_doubles))
        self._records = StoredLineRecords(engine, "spot", contracts)
        self._holder: LineHolder | None = None
        self._port = 0

    async def start(self) -> None:
        await self._acceptor.start(port=self._port)
        self._port = self._acceptor.port

    async def adapter(self) -> Venue:
        """The holder of the line starts anew; adapters of before reach the new one."""
        holder = self._made_holder()
        await holder.restart()
        return as_node(holder)

    def _made_holder(self) -> LineHolder:
        if self._holder is None:
            self._holder = LineHolder(line_of(self._port), self._records)
        return self._holder

    async def fill(self) -> None:
        await self._behave(Mode.FILL)

    async def refuse(self) -> None:
        await self._behave(Mode.REFUSE)

    async def hold(self) -> None:
        await self._behave(Mode.HOLD, answers=False)

    async def linger(self) -> None:
        await self._behave(Mode.FILL, LINGERS_MS)

    async def fill_partly(self) -> None:
        await self._behave(Mode.FILL, fill_percent=60)

    async def report(self) -> None:
        """Later than a call waits for it."""
        await self._behave(Mode.FILL, 2 * SILENT_MS, answers=False)

    async def lag(self) -> None:
        await self._behave(Mode.FILL)
        self._acceptor.exchange.behaviour.lag_ms = LAGS_MS
        self._acceptor.faults.chances[Fault.LAG] = 1

    async def close(self) -> None:
        await self._behave(Mode.FILL)
        await self._made_holder().close()

    async def cut(self) -> None:
        await self._acceptor.stop()
        await asyncio.sleep(0.02)

    async def executions(self, order_id: str) -> set[str]:
        return set(self._acceptor.exchange.executed_orders().get(order_id, {}))

    async def _behave(
        self, mode: Mode, delay_ms: int = 0, fill_percent: int = 100, *, answers: bool = True
    ) -> None:
        behaviour = self._acceptor.exchange.behaviour
        behaviour.mode, behaviour.delay_ms, behaviour.fill_percent = mode, delay_ms, fill_percent
        self._acceptor.faults.chances.clear()
        self._made_holder().wait_for_answers(QUICK.report_ms if answers else SILENT_MS)
        if not self._acceptor.serving:
            await self.start()
            if self._holder is not None:
                await self._holder.up()

    async def stop(self) -> None:
        if self._holder is not None:
            await self._holder.stop()
        await self._acceptor.stop()


@pytest.fixture(params=["sqlite-doubles-refused", "sqlite-doubles-taken", "postgres-doubles-taken"])
def case(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine_name(case: str) -> str:
    return case.partition("-")[0]


@pytest.fixture
async def trial(engine: Engine, case: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[VenueTrial]:
    monkeypatch.setattr(reconnect_pause, "_PAUSE_S", 0.01)
    trial = FixTrial(engine, refuses_doubles=case.endswith("refused"))
    await trial.start()
    yield trial
    await trial.stop()


class TestFixVenue(VenueContract):
    pass
