"""One node's way of orders in both environments, without its sockets; calls can get lost, and time pass."""

from itertools import count
from typing import ClassVar

from bullion.allocation.book import book_id
from bullion.booking.attempt import Booked, OrderAttempt, Outcome, ToHedge
from bullion.booking.hedging import Hedging
from bullion.booking.ledger import Ledger
from bullion.booking.production import Production
from bullion.booking.queue import BookingQueue
from bullion.booking.reconciliation import Reconciliation
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.follower import CatalogueFollower
from bullion.environment import Environment
from bullion.faults import StoreUnavailable
from bullion.hedge.simulated import SimulatedVenue
from bullion.hedge.venue import FinalAnswer, HedgeRequest, SubmitAnswer, Tradeability, VenueUnreachable
from bullion.hedge.venues import SIMULATED
from bullion.orders.market import Market
from bullion.orders.order import Order
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Verdict
from bullion.rates.board import Board
from bullion.store.catalogue_source import StoreSource
from bullion.store.engine import Engine
from bullion.store.execution_records import StoredExecutionRecords
from bullion.store.hedge_requests import StoredHedgeRequests
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine
from bullion.store.venue_book import StoredVenueBook
from tests.booking.fixtures import NOW_US, CheckBy

LOST_ON_THE_WAY, LOST_ON_THE_WAY_BACK, NOT_WRITTEN, DIED = "to the venue", "from the venue", "commit", "died"
HELD = "held"
"""The submission arrives much later, when nobody waits for it any more."""
_requests = count(1)


class Clock(Catalogue):
    """The node's memory, by a clock that stands still until a test moves it on."""

    at_us = NOW_US

    def now_us(self) -> int:
        return self.at_us


class LossyVenue(SimulatedVenue):
    """The next submit may not arrive, or only much later, or its answer may not come back."""

    lose: str | None = None
    held: ClassVar[list[HedgeRequest]] = []
    """On their way to the venue, whichever node sent them."""

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        lost, self.lose = self.lose, None
        if lost == LOST_ON_THE_WAY:
            raise VenueUnreachable("lost on the way")
        if lost == HELD:
            self.held.append(request)
            raise VenueUnreachable("held on the line")
        word = await super().submit(request)
        if lost == LOST_ON_THE_WAY_BACK:
            raise VenueUnreachable("lost on the way back")
        return word

    async def release(self, request: HedgeRequest) -> None:
        """It arrives after all."""
        await super().submit(request)
        self.held.remove(request)


class LossyRequests(StoredHedgeRequests):
    """The next final word may not be written down."""

    lose = False

    async def answer(self, to_hedge: ToHedge, word: FinalAnswer) -> Order:
        lost, self.lose = self.lose, False
        if lost:
            raise StoreUnavailable("gone for a moment")
        return await super().answer(to_hedge, word)


class ProductionNode:
    def __init__(self, engine: Engine, holder: str) -> None:
        assert isinstance(engine, PostgresEngine | SqliteEngine)
        self.clock = Clock()
        self.catalogue_follower = CatalogueFollower(self.clock, StoreSource(engine))
        board = Board()
        board.apply([], 1)
        on_postgres = isinstance(engine, PostgresEngine)
        ledger: Ledger = (
            PostgresLedger(engine, holder)
            if isinstance(engine, PostgresEngine)
            else SqliteLedger(engine, holder)
        )

        def queue(*, verifies: bool) -> BookingQueue:
            slots = 2 if on_postgres else 1
            return BookingQueue(
                ledger, self.clock, self.catalogue_follower, slots=slots, batch_max=32, verifies=verifies
            )

        self._test_market, self._test_queue = Market(self.clock, board), queue(verifies=False)
        self.venue = LossyVenue(StoredVenueBook(engine), self.clock.now_us)
        self.requests = LossyRequests(engine, holder, self.clock.now_us)
        self.hedging = Hedging(self.venue, self.requests, self.clock.now_us)
        self.reconciliation = Reconciliation(
            self.venue,
            self.requests,
            StoredExecutionRecords(engine, SIMULATED, self.clock.now_us),
            lambda: self.clock.brokers,
            lambda broker, instrument: None,
        )
        self._queue = queue(verifies=True)
        market = Market(self.clock, board, lambda _broker, _instrument: Tradeability.TRADABLE)
        self._production = Production(
            deploy_on=True,
            catalogue=self.clock,
            market=market,
            queue=self._queue,
            hedging=self.hedging,
            reachable=lambda _: True,
            schema_current=lambda: True,
            look_up_account=self.catalogue_follower.look_up_account,
        )

    async def place(
        self, account_id: int, source: str, key: str, asked: PlaceOrder, lose: str | None = None
    ) -> Outcome:
        """A production order of any channel. `lose`: what goes wrong after it is recorded."""

        def judge() -> Verdict:
            account = self.clock.accounts[account_id]
            return self._production.why_closed(account) or self._production.check(account, asked)

        attempt = self._attempt(account_id, Environment.PRODUCTION, source, key, asked)
        if lose == DIED:
            return await self._queue.place(attempt, CheckBy(judge))
        self.venue.lose, self.requests.lose = lose, lose == NOT_WRITTEN
        try:
            return await self._production.place(attempt, CheckBy(judge))
        finally:
            self.venue.lose, self.requests.lose = None, False

    async def place_test(self, account_id: int, key: str, asked: PlaceOrder) -> Outcome:
        def judge() -> Verdict:
            return self._test_market.check(self.clock.accounts[account_id], asked)

        attempt = self._attempt(account_id, Environment.TEST, "api", key, asked)
        return await self._test_queue.place(attempt, CheckBy(judge))

    def _attempt(
        self, account_id: int, environment: Environment, source: str, key: str, asked: PlaceOrder
    ) -> OrderAttempt:
        broker = self.clock.accounts[account_id].broker
        request_id = f"{next(_requests):032x}"
        return OrderAttempt(book_id(account_id, environment), broker, source, key, asked, None, request_id)


def told(outcome: Outcome) -> str:
    """In a word."""
    if isinstance(outcome, Booked):
        return "replayed" if outcome.replayed else "booked"
    return outcome.refusal.code + (" again" if outcome.replayed else "")
