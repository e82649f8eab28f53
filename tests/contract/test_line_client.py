"""A venue whose line another process holds keeps to the contract of venues, too."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from bullion.hedge.fix.lease import LineHolder
from bullion.hedge.fix.line_client import LineClient
from bullion.hedge.fix.line_server import LineServer
from bullion.hedge.simulated import SimulatedVenue
from bullion.hedge.venue import Venue
from bullion.store.engine import Engine
from bullion.store.fix_lines import StoredLines
from tests.booking.fixtures import create_books
from tests.contract.conftest import MakeEngine
from tests.contract.test_venue import SimulatedTrial
from tests.support.venue_contract import VenueContract, VenueTrial
from tests.support.venues import store_clock, venue_book_of

pytestmark = pytest.mark.anyio


class LineTrial(SimulatedTrial):
    """The simulated venue at the holder; adapters call the holder."""

    def __init__(self, engine: Engine, make_engine: MakeEngine, engines: AsyncExitStack) -> None:
        super().__init__(engine, make_engine, engines)
        self._stack = engines
        self._leases = StoredLines(engine)
        self._venue = SimulatedVenue(venue_book_of(engine), store_clock)

    async def hold_line(self) -> None:
        server = LineServer("gold", self._venue, "token", lambda: True)
        address = await server.start()
        self._stack.push_async_callback(server.stop)
        assert await self._leases.take("gold", LineHolder("holder", address, "token"), 600)

    async def report(self) -> None:
        pytest.skip("The holder itself records what the venue reports: its clients hear nothing unasked.")

    async def adapter(self) -> Venue:
        client = LineClient("gold", self._venue.abilities, self._leases)
        self._stack.push_async_callback(client.close)
        return client


@pytest.fixture
def engine_name() -> str:
    """One engine is enough: `test_venue` and `test_fix_lines` have both, and the stream is the same."""
    return "sqlite"


@pytest.fixture
async def trial(
    engine: Engine,
    make_engine: MakeEngine,
) -> AsyncIterator[VenueTrial]:
    await create_books(engine, 1)
    async with AsyncExitStack() as stack:
        trial = LineTrial(engine, make_engine, stack)
        await trial.hold_line()
        yield trial


class TestLineClient(VenueContract):
    pass
