"""The parts of a node that check, record and hedge orders. Some desk commands need them too."""

import os
from collections.abc import Callable, Collection, Coroutine, Mapping
from pathlib import Path
from socket import gethostname
from typing import Any
from uuid import uuid4

from bullion.booking.book_keeping import BookKeeping, KeptBooks
from bullion.booking.cover_planning import CoverPlanning
from bullion.booking.cover_sending import CoverSending, MarketPrice
from bullion.booking.hedge_requests import HedgeBacklog
from bullion.booking.hedging import Hedging
from bullion.booking.ledger import Ledger
from bullion.booking.production import Production
from bullion.booking.queue import BookingQueue
from bullion.booking.reconciliation import Reconciliation
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.follower import CatalogueFollower
from bullion.environment import Environment
from bullion.hedge.by_hand import VenueByHand
from bullion.hedge.contract import Contract
from bullion.hedge.simulated import SimulatedVenue
from bullion.hedge.venue import Venue
from bullion.hedge.venues import BY_HAND, FIX
from bullion.hedge.watch import VenueWatch
from bullion.market_file import read_market_file
from bullion.metals.metal import Metal
from bullion.orders.crossed import CrossedOffers
from bullion.orders.market import Market
from bullion.rates.board import Board
from bullion.rates.follower import BoardFollower
from bullion.settings import Settings, WrongSetting
from bullion.store.book_keeping import StoredBookKeeping, Surroundings
from bullion.store.catalogue_source import StoreSource
from bullion.store.cover_planning import StoredCoverPlans
from bullion.store.cover_sending import StoredSentCovers
from bullion.store.execution_records import StoredExecutionRecords
from bullion.store.hedge_requests import StoredHedgeRequests
from bullion.store.house_book import StoredHouseBook
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.postgres import PostgresEngine
from bullion.store.rates import StoredRates
from bullion.store.sqlite import SqliteEngine
from bullion.store.venue_book import StoredVenueBook

from .contract_follower import ContractFollower
from .cover_outlook import NodeOutlook, market_price
from .fix_lines import FixLines
from .schema_watch import SchemaWatch
from .store import Store, StoreEngine

# How many batches of an environment may run at once, and how many orders each may hold.
TWO_BATCHES = (2, 32)
"""The second batch is decided while the first is recorded."""
ONE_BATCH = (1, 64)
"""For a store whose single writer decides the orders: a second batch could only wait for it."""


class Trading:
    def __init__(
        self,
        settings: Settings,
        store: Store,
        report: Callable[[HedgeBacklog], None] = lambda _: None,
        report_books: Callable[[KeptBooks], None] = lambda _: None,
    ) -> None:
        engine = store.engine
        self.catalogue = Catalogue()
        self.catalogue_follower = CatalogueFollower(self.catalogue, StoreSource(engine))
        self.board = Board()
        self.rates = StoredRates(engine)
        self.board_follower = BoardFollower(self.board, self.rates)
        self.holder = uuid4().hex
        now_us = self.catalogue.now_us
        ledger = ledger_of(engine, self.holder, settings.hedge)

        def queue(*, verifies: bool) -> BookingQueue:
            locks_first = verifies and isinstance(engine, SqliteEngine)
            slots, batch_max = ONE_BATCH if locks_first else TWO_BATCHES
            return BookingQueue(
                ledger,
                self.catalogue,
                self.catalogue_follower,
                slots=slots,
                batch_max=batch_max,
                verifies=verifies,
                locks_first=locks_first,
            )

        # Each environment has its own market and queue: a flood of orders in one does not delay the other,
        # and nothing that handles a test order knows the venue.
        self.test_market = Market(self.catalogue, self.board)
        self.test_queue = queue(verifies=False)
        self.crossed_offers = CrossedOffers(self.catalogue, self.board)
        self._venue_book = StoredVenueBook(engine, lambda: self.catalogue.serial)
        self._contracts = ContractFollower(store.records)
        self.fix_lines = self._make_fix_lines(settings, engine) if settings.hedge == FIX else None
        self.venue = venue = self.fix_lines or self._venue(settings)
        self.venue_watch = VenueWatch(venue, lambda: self.catalogue.brokers, self._traded)
        self._schema = SchemaWatch(engine)
        self.market = Market(self.catalogue, self.board, self.venue_watch.tradeability)
        self._queue = queue(verifies=True)
        requests = StoredHedgeRequests(engine, self.holder, now_us, settings.hedge)
        sent_covers = StoredSentCovers(engine, self.holder, now_us, settings.hedge)
        self.cover_sending = CoverSending(venue, sent_covers, now_us, self._market_price)
        market = (self.venue_watch, self._surroundings, self.fix_lines, now_us)
        outlook = NodeOutlook(venue.abilities, *market)
        self._planning = CoverPlanning(StoredCoverPlans(engine, self.holder), outlook)
        house_book = StoredHouseBook(engine, now_us, self._planning.note_orders)
        self._hedging = Hedging(venue, requests, now_us, report, house_book, self.cover_sending)
        records = StoredExecutionRecords(engine, settings.hedge, now_us)
        self._reconciliation = Reconciliation(
            venue,
            requests,
            records,
            self._brokers_here,
            self._metal_of,
            self.cover_sending.answer,
        )
        books = StoredBookKeeping(engine, self.holder, now_us, self._surroundings)
        self._book_keeping = BookKeeping(books, report_books)
        self.production = Production(
            deploy_on=settings.production,
            catalogue=self.catalogue,
            market=self.market,
            queue=self._queue,
            hedging=self._hedging,
            reachable=self.venue_watch.reachable,
            schema_current=self._schema.current,
            look_up_account=self.catalogue_follower.look_up_account,
        )

    @property
    def queues(self) -> Mapping[str, BookingQueue]:
        """The booking queue of each environment."""
        return {Environment.TEST.value: self.test_queue, Environment.PRODUCTION.value: self._queue}

    @property
    def schema_current(self) -> bool:
        return self._schema.current()

    def unreadable_count(self) -> int:
        """How many of the rows that this node keeps in memory could not be read."""
        return len(self.catalogue.unreadable) + len(self.board.unreadable) + len(self._venue_book.unreadable)

    async def refresh(self) -> None:
        """Bring memory to what the store holds. May raise StoreFault."""
        await self.catalogue_follower.catch_up()
        await self.board_follower.catch_up()
        if (
            self.venue_watch.has_new_instruments()
        ):  # The desk has added a symbol: it can be traded after this.
            await self.venue_watch.check()

    async def check(self) -> None:
        """Check the venue and the schema once."""
        await self.venue_watch.check()
        await self._schema.check()

    def background_tasks(self) -> list[Coroutine[Any, Any, None]]:
        """Background tasks that placing orders needs."""
        return [
            self.catalogue_follower.run(),
            self.board_follower.run(),
            self.test_queue.run(),
            self._queue.run(),
            self.venue_watch.run(),
            self._schema.run(),
        ]

    def settlement_tasks(self) -> list[Coroutine[Any, Any, None]]:
        """Background tasks that only nodes run: a command hedges only its own order."""
        tasks = [
            self._hedging.run(),
            self._hedging.take_reports(),
            self.cover_sending.run(),
            self._hedging.review_books(),
            self._planning.run(),
            self._reconciliation.run(),
            self._book_keeping.run(),
        ]
        return tasks if self.fix_lines is None else [*tasks, self._contracts.run(), self.fix_lines.run()]

    def _surroundings(self, broker: str) -> Surroundings:
        """What values the hedge books of a broker."""
        symbols = list(self.catalogue.symbols_of(broker).values())
        ticks = tuple(self.board.ticks(broker))
        return Surroundings(self.catalogue.switches_of(broker).zone, ticks, symbols)

    def _brokers_here(self) -> Collection[str]:
        """Not those that were moved to another store: their executions are compared there."""
        return [tag for tag, broker in self.catalogue.brokers.items() if broker.moved_to is None]

    def _metal_of(self, broker: str, instrument: str) -> Metal | None:
        for symbol in self.catalogue.symbols_of(broker).values():
            if symbol.hedged_in == instrument:
                return symbol.metal
        return None

    def _traded(self, broker: str) -> Collection[str]:
        return {symbol.hedged_in for symbol in self.catalogue.symbols_of(broker).values()}

    def _make_fix_lines(self, settings: Settings, engine: StoreEngine) -> FixLines:
        if settings.market is None:  # A command takes the venue from the store, not from its own settings.
            raise WrongSetting("The service covers orders over FIX: set BULLION_MARKET as it has it.")
        return FixLines(
            read_market_file(Path(settings.market), os.environ),
            os.environ,
            engine,
            self.holder,
            self.catalogue.now_us,
            self._contracts.of_broker,
            self._reference_e6,
            settings.line_host,
            f"{gethostname()}:{settings.port}",
        )

    def _reference_e6(self, broker: str, contract: Contract) -> int | None:
        """The middle of the instrument's rate, which is quoted like the contract; None if there is none.

        It may be old: the market's checks judged its age by the symbol's own limit, which a rate of the desk
        may not have. A limit from an old rate costs at most a refusal.
        """
        tick = self.board.tick(broker, contract.instrument)
        return None if tick is None else (tick.bid_e6 + tick.ask_e6) // 2

    def _market_price(self, broker: str, contract: Contract) -> MarketPrice | None:
        return market_price(contract, self._surroundings(broker), self.catalogue.now_us())

    def _venue(self, settings: Settings) -> Venue:
        if settings.hedge == BY_HAND:
            return VenueByHand()
        return SimulatedVenue(self._venue_book, self.catalogue.now_us)


def ledger_of(engine: StoreEngine, holder: str, venue: str) -> Ledger:
    if isinstance(engine, PostgresEngine):
        return PostgresLedger(engine, holder, venue)
    return SqliteLedger(engine, holder, venue)
