"""The simulated venue keeps to the contract of venues, with its book on either engine."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from bullion.hedge.simulated import Mode, SimulatedVenue
from bullion.hedge.venue import Tradeability, Venue
from bullion.store.engine import Engine
from tests.booking.fixtures import create_books, rows
from tests.contract.conftest import MakeEngine
from tests.support.venue_contract import VenueContract, VenueTrial
from tests.support.venues import behave, store_clock, venue_book_of

pytestmark = pytest.mark.anyio

LINGERS_MS = 300


class SimulatedTrial:
    broker = "main"
    instrument = "GOLD"
    smallest_e4 = 1

    def __init__(self, engine: Engine, make_engine: MakeEngine, engines: AsyncExitStack) -> None:
        self._engine = engine
        self._make_engine = make_engine
        self._engines = engines

    async def adapter(self) -> Venue:
        """On a connection of its own to the same book."""
        own = self._make_engine()
        await own.open()
        self._engines.push_async_callback(own.close)
        return SimulatedVenue(venue_book_of(own), store_clock)

    async def fill(self) -> None:
        await behave(self._engine, Mode.FILL)

    async def refuse(self) -> None:
        await behave(self._engine, Mode.REFUSE)

    async def hold(self) -> None:
        await behave(self._engine, Mode.HOLD)

    async def linger(self) -> None:
        await behave(self._engine, Mode.FILL, delay_ms=LINGERS_MS)

    async def fill_partly(self) -> None:
        await behave(self._engine, Mode.FILL, fill_percent=60)

    async def report(self) -> None:
        await behave(self._engine, Mode.FILL, unasked=True)

    async def lag(self) -> None:
        await behave(self._engine, Mode.FILL, delay_ms=LINGERS_MS)

    async def close(self) -> None:
        await behave(self._engine, Mode.FILL, instruments={self.instrument: Tradeability.SUSPENDED})

    async def cut(self) -> None:
        await behave(self._engine, Mode.DOWN)

    async def executions(self, order_id: str) -> set[str]:
        found = await rows(
            self._engine,
            "SELECT execution_id FROM venue_orders WHERE order_id = $1 AND outcome = 'confirmed'",
            order_id,
        )
        return {row["execution_id"] for row in found}


@pytest.fixture
async def trial(
    engine: Engine,
    make_engine: MakeEngine,
) -> AsyncIterator[VenueTrial]:
    await create_books(engine, 1)
    async with AsyncExitStack() as engines:
        yield SimulatedTrial(engine, make_engine, engines)


class TestSimulatedVenue(VenueContract):
    pass
