"""Metrics of a node's state, for the operator's monitoring. Calls are counted by `bullion.web.calls`.

Values are copied from the parts of the node once a second, and just before the metrics are read: nothing here
costs a call anything. Times are those of the store's clock. With several workers, each metric says how the
values of the workers become one: the newest (all read one store), the worst, or the sum.
"""

import asyncio
import platform
from collections.abc import Callable, Mapping
from math import nan
from time import monotonic_ns
from typing import Literal

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from bullion import __version__
from bullion.booking.book_keeping import KeptBooks
from bullion.booking.booking_counts import BATCH_BOUNDS, BookingCounts
from bullion.booking.hedge_requests import HedgeBacklog
from bullion.booking.queue import BookingQueue
from bullion.budgets.limiter import Limiter
from bullion.budgets.redis import RedisLimiter
from bullion.catalogue.catalogue import US_PER_S
from bullion.faults import StoreFault
from bullion.last_success import last_successes
from bullion.rates.board import MARKET
from bullion.rates.feeds.live_runner import LiveFeedRunner
from bullion.store.postgres import PostgresEngine
from bullion.store.schema import code_level
from bullion.web.health import DRAIN, Checks
from bullion.web.metrics import add_counts

from .counter_copy import CounterCopy
from .store import StoreEngine
from .trading import Trading

_EVERY_S = 1.0
MG_PER_G = 1_000
PAISE_PER_RUPEE = 100
_READ_S = 2.0

_NEWEST: Literal["mostrecent"] = "mostrecent"
_LEAST: Literal["livemin"] = "livemin"
_SUM: Literal["livesum"] = "livesum"

_log = structlog.get_logger("metrics")


class HedgeGauges:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._seen = HedgeBacklog(0, None, 0)
        self._waiting = Gauge(
            "bullion_hedges_waiting",
            "Orders and covers that wait for the venue.",
            registry=registry,
            multiprocess_mode=_NEWEST,
        )
        self._oldest_s = Gauge(
            "bullion_hedge_oldest_seconds",
            "How long the oldest of them has waited.",
            registry=registry,
            multiprocess_mode=_NEWEST,
        )
        self._broken = Gauge(
            "bullion_hedges_broken",
            "Unresolved breaks: the venue's answer contradicts the state of the order.",
            registry=registry,
            multiprocess_mode=_NEWEST,
        )

        self._partly_covered = Gauge(
            "bullion_partly_covered",
            "Orders that the venue filled in part, and whose rest waits for the desk.",
            registry=registry,
            multiprocess_mode=_NEWEST,
        )

        of_book = ["broker", "metal"]
        self._residual_g = Gauge(
            "bullion_book_residual_grams",
            "What a hedge book has at risk, in grams of fine metal. Below zero: the broker owes metal.",
            of_book,
            registry=registry,
            multiprocess_mode=_NEWEST,
        )
        self._limit_used = Gauge(
            "bullion_book_limit_used",
            "The residual of a hedge book as a share of its limit. Absent without a limit, or not a number.",
            of_book,
            registry=registry,
            multiprocess_mode=_NEWEST,
        )
        self._limited: set[tuple[str, str]] = set()
        self._at_risk = Gauge(
            "bullion_book_value_at_risk",
            "What a hedge book may lose in a day, in rupees. Not a number without a fresh rate.",
            of_book,
            registry=registry,
            multiprocess_mode=_NEWEST,
        )
        self._not_counted = Gauge(
            "bullion_book_not_counted",
            "1 if this node could not count the money of a hedge book.",
            of_book,
            registry=registry,
            multiprocess_mode=_NEWEST,
        )

    def show(self, backlog: HedgeBacklog) -> None:
        self._seen = backlog

    def show_books(self, kept: KeptBooks) -> None:
        for each in kept.risks:
            rupees = nan if each.paise is None else each.paise / PAISE_PER_RUPEE
            self._at_risk.labels(each.broker, each.metal).set(rupees)
            self._not_counted.labels(each.broker, each.metal).set(0)
        for name in kept.broken:
            if all((each.broker, each.metal) != name for each in kept.risks):
                self._at_risk.labels(*name).set(nan)
            self._not_counted.labels(*name).set(1)

    def publish(self, now_us: int) -> None:
        """While the store cannot be read, the age of the last known backlog keeps growing."""
        seen = self._seen
        oldest_us = 0 if seen.oldest_at_us is None else now_us - seen.oldest_at_us
        self._waiting.set(seen.requests)
        self._oldest_s.set(max(0, oldest_us) / US_PER_S)
        self._broken.set(seen.breaks)
        self._partly_covered.set(seen.partly_covered)
        for book in seen.books:
            self._residual_g.labels(book.broker, book.metal).set(book.residual_mg / MG_PER_G)
            name = (book.broker, book.metal)
            if book.limit_mg:
                self._limited.add(name)
                self._limit_used.labels(*name).set(abs(book.residual_mg) / book.limit_mg)
            elif name in self._limited:  # It had a limit before: the last share must not stay.
                self._limit_used.labels(*name).set(nan)


class CoverCounts:
    """The outcomes of covers that this node recorded."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._counter = Counter(
            "bullion_covers",
            "Covers of hedge books that the venue answered.",
            ["rule", "outcome"],
            registry=registry,
        )
        self._copies: dict[tuple[str, str], CounterCopy] = {}

    def publish(self, outcomes: Mapping[tuple[str, str], int]) -> None:
        for labels, number in list(outcomes.items()):
            if labels not in self._copies:
                self._copies[labels] = CounterCopy(self._counter.labels(*labels))
            self._copies[labels].update(number)


class FeedGauges:
    """Of the live feed, on the node that runs it."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._age_s = Gauge(
            "bullion_feed_age_seconds",
            "How old the last good quote of a source is.",
            ["source", "instrument"],
            registry=registry,
            multiprocess_mode=_NEWEST,
        )
        self._held = Gauge(
            "bullion_feed_held",
            "Whether a quote of a source is held.",
            ["source", "instrument"],
            registry=registry,
            multiprocess_mode=_NEWEST,
        )
        self._source_up = Gauge(
            "bullion_feed_source_up",
            "Whether a source is connected. Not a number outside of its hours.",
            ["source"],
            registry=registry,
            multiprocess_mode=_NEWEST,
        )
        self._sources: set[str] = set()
        self._dropped = Counter(
            "bullion_feed_dropped", "Quotes that were not believed.", ["source", "reason"], registry=registry
        )
        self._drops: dict[tuple[str, str], CounterCopy] = {}
        self._shown: set[tuple[str, str]] = set()
        self._switches = CounterCopy(
            Counter(
                "bullion_feed_switches", "How often another source of a rate was chosen.", registry=registry
            )
        )

    def publish(self, runner: LiveFeedRunner, clock_us: Callable[[], int]) -> None:
        feed, now_us = runner.feed, clock_us()
        if not runner.holding:
            self._blank()
            return
        status = feed.status("", now_us)
        for source in status.sources:
            self._sources.add(source.name)
            self._source_up.labels(source.name).set(source.connected if source.is_open else nan)
        for instrument in status.instruments:
            for quote in instrument.quotes:
                labels = (quote.source, instrument.instrument)
                self._shown.add(labels)
                self._held.labels(*labels).set(quote.held is not None)
                if quote.received_us is not None:
                    self._age_s.labels(*labels).set(max(0, now_us - quote.received_us) / US_PER_S)
        for drop, number in feed.drops.items():
            if drop not in self._drops:
                self._drops[drop] = CounterCopy(self._dropped.labels(*drop))
            self._drops[drop].update(number)
        self._switches.update(feed.switches)

    def _blank(self) -> None:
        """Another node has the feed: two nodes must not both show ages."""
        while self._shown:
            labels = self._shown.pop()
            self._age_s.labels(*labels).set(nan)
            self._held.labels(*labels).set(0)
        while self._sources:
            self._source_up.labels(self._sources.pop()).set(nan)


class NodeGauges:
    def __init__(
        self,
        registry: CollectorRegistry,
        trading: Trading,
        engine: StoreEngine,
        limiter: Limiter,
        hedges: HedgeGauges,
        checks: Checks,
    ) -> None:
        self._registry = registry
        self._trading = trading
        self._engine = engine
        self._hedges = hedges
        self._covers = CoverCounts(registry)
        self._checks = checks
        self._engine_name = "postgres" if isinstance(engine, PostgresEngine) else "sqlite"
        self._ready = self._gauge(
            "bullion_ready", "Whether each check of readiness passes.", ["check"], _LEAST
        )
        self._store_time = self._gauge(
            "bullion_store_time_seconds", "The store's clock, as this node knows it.", [], _NEWEST
        )
        self._schema = self._gauge(
            "bullion_schema_step", "The last schema step of the code, and of the store.", ["of"], _NEWEST
        )
        self._unreadable = self._gauge(
            "bullion_rows_unreadable",
            "Rows of the store that cannot be read: what they describe is not traded.",
            [],
            _NEWEST,
        )
        self._tasks = self._gauge(
            "bullion_task_success_timestamp_seconds",
            "When each background task last succeeded; if it has not yet, when it began.",
            ["task"],
            _LEAST,
        )
        self._rates = self._gauge(
            "bullion_rate_timestamp_seconds",
            "The time of the newest rate.",
            ["instrument", "source", "broker"],
            _LEAST,
        )
        self._rates_moved = self._gauge(
            "bullion_rate_moved_timestamp_seconds",
            "When its bid or ask last changed.",
            ["instrument", "source", "broker"],
            _LEAST,
        )
        self._venue = self._gauge(
            "bullion_venue_reachable", "Whether a broker's venue can be reached.", ["broker"], _LEAST
        )
        self._crossed = self._gauge(
            "bullion_offers_crossed",
            "Offers, each of a symbol to a group, in which clients could sell for more than they buy for.",
            ["broker"],
            _NEWEST,
        )
        self._gauge("bullion_workers", "Processes that answer calls.", [], _SUM).set(1)
        build = self._gauge(
            "bullion_build_info", "The version that runs.", ["version", "python", "engine"], _NEWEST
        )
        build.labels(__version__, platform.python_version(), self._engine_name).set(1)
        self._publications = [
            *self._booking_publications(),
            *self._limiter_publications(limiter),
            *self._pool_publications(),
        ]

    def publish(self) -> None:
        """Copy the state of the node into the metrics."""
        trading = self._trading
        now_us = trading.catalogue.now_us()
        self._store_time.set(now_us / US_PER_S)
        self._hedges.publish(now_us)
        self._covers.publish(trading.cover_sending.outcomes)
        self._unreadable.set(trading.unreadable_count())
        now_ns = monotonic_ns()
        for task, at_ns in last_successes().items():
            self._tasks.labels(task).set((now_us - (now_ns - at_ns) / 1000) / US_PER_S)
        for broker, tick in trading.board.held():
            labels = (tick.instrument, "feed" if broker == MARKET else "desk", broker)
            self._rates.labels(*labels).set(min(tick.holds_until_us, max(now_us, tick.at_us)) / US_PER_S)
            self._rates_moved.labels(*labels).set(tick.moved_at_us / US_PER_S)
        for tag, known in trading.catalogue.brokers.items():
            here = known.moved_to is None  # Otherwise its line is connected elsewhere.
            self._venue.labels(tag).set(trading.venue_watch.reachable(tag) if here else nan)
        for broker, number in trading.crossed_offers.count(now_us).items():
            self._crossed.labels(broker).set(number)
        for publish in self._publications:
            publish()

    def also(self, publish: Callable[[], None]) -> None:
        """Publish this, too, from now on."""
        self._publications.append(publish)

    async def run(self) -> None:
        """Run for as long as the node does."""
        while True:
            try:
                self.publish()
                checks = await self._checks()
                for check, passes in (*checks.items(), ("staying", not DRAIN.active)):
                    self._ready.labels(check).set(passes)
                if checks.get("store"):
                    await self._read_schema()
            except Exception:  # noqa: BLE001 - the node must not stop because of its metrics
                _log.exception("metrics_failed")
            await asyncio.sleep(_EVERY_S)

    async def _read_schema(self) -> None:
        self._schema.labels("code").set(code_level(self._engine_name))
        try:
            async with asyncio.timeout(_READ_S):
                row = await self._engine.one("schema_step")
        except (StoreFault, TimeoutError):
            return  # The checks of readiness show it.
        if row is not None:
            self._schema.labels("store").set(row["number"])

    def _booking_publications(self) -> list[Callable[[], None]]:
        waiting = self._gauge(
            "bullion_booking_waiting", "Orders that wait for a batch.", ["environment"], _SUM
        )
        batches = Histogram(
            "bullion_booking_batch_orders",
            "Orders in a batch of bookings.",
            ["environment"],
            registry=self._registry,
            buckets=BATCH_BOUNDS,
        )
        retries = Counter(
            "bullion_booking_retries",
            "Batches of bookings that were tried again, in whole or in part.",
            ["environment", "reason"],
            registry=self._registry,
        )

        decisions = Counter(
            "bullion_booking_decisions",
            "Times that an order was decided.",
            ["environment"],
            registry=self._registry,
        )

        def of_queue(environment: str, queue: BookingQueue) -> Callable[[], None]:
            copies = {
                reason: CounterCopy(retries.labels(environment, reason.value))
                for reason in queue.counts.retries
            }
            sizes = _BatchCopy(batches.labels(environment))
            decided = CounterCopy(decisions.labels(environment))

            def publish() -> None:
                waiting.labels(environment).set(queue.waiting_number)
                sizes.update(queue.counts)
                decided.update(queue.counts.decisions)
                for reason, number in queue.counts.retries.items():
                    copies[reason].update(number)

            return publish

        queues: Mapping[str, BookingQueue] = self._trading.queues
        return [of_queue(environment, queue) for environment, queue in queues.items()]

    def _limiter_publications(self, limiter: Limiter) -> list[Callable[[], None]]:
        up = self._gauge("bullion_limiter_up", "Whether calls can be counted.", ["kind"], _LEAST)
        if not isinstance(limiter, RedisLimiter):
            return [lambda: up.labels("memory").set(1)]
        failures = CounterCopy(
            Counter("bullion_limiter_failures", "Calls that could not be counted.", registry=self._registry)
        )

        def publish() -> None:
            up.labels("redis").set(limiter.up)
            failures.update(limiter.failures)

        return [publish]

    def _pool_publications(self) -> list[Callable[[], None]]:
        engine = self._engine
        if not isinstance(engine, PostgresEngine):
            return []
        connections = self._gauge("bullion_store_connections", "Connections to PostgreSQL.", ["state"], _SUM)
        most = self._gauge("bullion_store_connections_max", "How many there may be.", [], _SUM)
        waiting = self._gauge(
            "bullion_store_callers_waiting", "Callers that wait for a connection to PostgreSQL.", [], _SUM
        )
        conflicts = CounterCopy(
            Counter(
                "bullion_store_conflicts",
                "Transactions that were repeated because they conflicted with others.",
                registry=self._registry,
            )
        )

        def publish() -> None:
            use = engine.pool_use()
            connections.labels("in_use").set(use.in_use)
            connections.labels("idle").set(use.idle)
            most.set(engine.pool_size)
            waiting.set(use.waiting)
            conflicts.update(engine.conflicts)

        return [publish]

    def _gauge(
        self,
        name: str,
        help_text: str,
        labels: list[str],
        of_workers: Literal["mostrecent", "livemin", "livesum"],
    ) -> Gauge:
        return Gauge(name, help_text, labels, registry=self._registry, multiprocess_mode=of_workers)


class _BatchCopy:
    """A Prometheus histogram that follows the sizes of batches."""

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram
        self._orders = 0
        self._batches = [0] * (len(BATCH_BOUNDS) + 1)

    def update(self, counts: BookingCounts) -> None:
        new = [now - before for now, before in zip(counts.batches, self._batches, strict=True)]
        add_counts(self._histogram, counts.orders - self._orders, new)
        self._orders, self._batches = counts.orders, list(counts.batches)
