"""One node without its sockets."""

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from bullion.api.app import TradingApi
from bullion.api.docs_page import DOCS, GUIDE, docs_page, guide_page
from bullion.api.endpoints import endpoints
from bullion.api.event_stream import EventStreams
from bullion.api.events import Events
from bullion.api.gate import Gate
from bullion.api.market_data import MarketData
from bullion.api.me import Me
from bullion.api.open_streams import OpenStreams
from bullion.api.openapi import openapi, postman_collection
from bullion.api.order_check import ClientOrderCheck
from bullion.api.orders import Orders, ProductionOrders
from bullion.api.positions import Positions
from bullion.api.public_rates import PublicRatePages
from bullion.api.quote_stream import QuoteStreams
from bullion.api.scenarios import Scenarios
from bullion.api.tracer import Tracer
from bullion.api.webhooks import Webhooks
from bullion.api.wire.events import event_json
from bullion.budgets.redis import RedisLimiter
from bullion.budgets.redis_link import RedisLink
from bullion.desk.authenticator import DeskAuthenticator
from bullion.desk.desk import Desk
from bullion.desk_api.app import DeskApi
from bullion.events.recent_orders import RecentOrders
from bullion.events.watch import EventWatch
from bullion.events.webhook_call import WebhookCalls
from bullion.events.webhook_delivery import WebhookDelivery
from bullion.faults import StoreFault
from bullion.market_file import MarketSettings, read_market_file
from bullion.orders.rate_sampler import RateSampler
from bullion.rates.candle import Step
from bullion.rates.feeds.feed import FeedRunner
from bullion.rates.feeds.simulated import SimulatedFeed
from bullion.rates.feeds.source_settings import FeedSettings
from bullion.records.token import Actor, Role
from bullion.settings import Settings
from bullion.store.event_entering import EventEntering
from bullion.store.event_reader import StoredEvents
from bullion.store.key_hashes import KeyHashes
from bullion.store.key_uses import KeyUses
from bullion.store.node_reports import NodeReports
from bullion.store.order_reader import StoredOrders
from bullion.store.rate_candles import StoredCandles
from bullion.store.schema import SchemaMismatch
from bullion.store.traces import StoredTraces
from bullion.store.webhook_queue import StoredWebhookQueue
from bullion.store.webhooks import StoredWebhooks
from bullion.web.address import SourceAddress
from bullion.web.calls import CallLog
from bullion.web.ending import on_stop
from bullion.web.hand_over import AccountOf, Outcome
from bullion.web.metrics import Metrics
from bullion.web.response import JSON, Response, encode_json

from .background import run_in_background
from .desk import make_default_broker, make_desk
from .gauges import FeedGauges, HedgeGauges, NodeGauges
from .hand_over_gauges import HandOverGauges
from .limiter import make_limiter
from .line_gauges import LineGauges
from .live_feed import make_live_feed
from .node_state import NodeState
from .report_gauges import ReportGauges
from .store import Store, open_store, save_hedge
from .stream_gauges import StreamGauges
from .tracing import traced
from .trading import Trading
from .webhook_gauges import WebhookGauges

_MEMORY_AGE_S_READY = 2.0
_FIRST_CHECKS_S = 1.0
_FIRST_LOGON_S = 2.0
_CHECK_S = 2.0
"""Load balancers do not wait long for the readiness check."""


@dataclass(frozen=True, slots=True)
class Node:
    api: Any
    desk_api: Any
    desk: Desk
    first_actor: Actor
    account_of: AccountOf
    hand_overs: Counter[Outcome]
    """Connections that were to be handed over to other workers, and what became of it."""


@asynccontextmanager
async def open_node(
    settings: Settings, *, may_migrate: bool = True, live_rates: FeedSettings | None = None
) -> AsyncIterator[Node]:
    """`may_migrate` is `migrate` of `open_store`. False for a worker: it starts while others serve.

    `live_rates` are the sources for BULLION_FEED=live.
    """
    async with open_store(settings, migrate=may_migrate, serving=True) as store:
        metrics = Metrics()
        await save_hedge(store, settings.hedge)
        hedge_gauges = HedgeGauges(metrics.registry)
        trading = Trading(settings, store, hedge_gauges.show, hedge_gauges.show_books)
        catalogue, catalogue_follower = trading.catalogue, trading.catalogue_follower
        key_uses = KeyUses(store.engine, catalogue.now_us, catalogue.clients.mark_used)
        key_hashes = KeyHashes(store.engine, store.hashers.keys.secret_id)
        call_log = CallLog(metrics.registry, log_all=settings.log_calls == "all")
        addresses = SourceAddress(settings.trusted_proxies)
        limiter, link = make_limiter(settings)
        traces = StoredTraces(store.engine)
        desk = make_desk(settings, store, trading.refresh, trading.production, traces)
        first_actor = Actor("first token", Role.ADMIN, settings.broker, first=True)
        await make_default_broker(desk, first_actor)
        await catalogue_follower.catch_up()
        # If this fails, `run` tries again, and orders are refused with `rates_not_ready` until then.
        with contextlib.suppress(StoreFault):
            await trading.board_follower.catch_up()
        gate = Gate(
            catalogue=catalogue,
            look_up=catalogue_follower.look_up,
            limiter=limiter,
            key_hasher=store.hashers.keys,
            addresses=addresses,
            default_broker=settings.broker,
            record_key_use=key_uses.add,
            record_other_hash=key_hashes.add,
        )
        authenticator = DeskAuthenticator(store.identities(settings), limiter, addresses)

        async def checks() -> Mapping[str, bool]:
            fresh = catalogue.age_s() < _MEMORY_AGE_S_READY
            try:
                async with asyncio.timeout(_CHECK_S):
                    fresh = fresh and await store.engine.can_write()
                    current = fresh and not await store.engine.missing_steps()
            except SchemaMismatch:
                current = False
            except (StoreFault, TimeoutError):
                fresh = current = False
            return {"store": fresh, "schema": current, "catalogue": catalogue.loaded}

        state = NodeState(settings, trading, limiter)
        reports = NodeReports(store.engine, trading.holder, catalogue.now_us, state.report)
        live_feed = None
        if settings.feed == "live":
            market = _market(settings)
            live_feed = make_live_feed(live_rates or market.feed, market, trading, store.engine)
        gauges = NodeGauges(metrics.registry, trading, store.engine, limiter, hedge_gauges, checks)
        if live_feed is not None:
            gauges.also(partial(FeedGauges(metrics.registry).publish, live_feed, catalogue.now_us))
        if trading.fix_lines is not None:
            gauges.also(LineGauges(metrics.registry, trading.fix_lines).publish)

        def measured() -> Response:
            call_log.publish()
            gauges.publish()
            return metrics.response()

        public_rates = PublicRatePages(catalogue, trading.market, settings.broker)
        tracer = Tracer(traces, catalogue.now_us)
        reader = StoredOrders(store.engine)
        stored_events = StoredEvents(store.engine, settings.event_days, catalogue.now_us)
        watch = EventWatch(stored_events)
        on_stop(watch.stop)
        entering = EventEntering(
            store.engine, settings.event_days, catalogue.now_us, lambda: catalogue.serial
        )
        delivery = WebhookDelivery(
            StoredWebhookQueue(store.engine),
            stored_events,
            WebhookCalls(allow_private=settings.webhook_allow_private),
            store.hashers.webhooks,
            event_json,
            catalogue.now_us,
        )

        def after_commit() -> None:
            watch.look_soon()
            delivery.look_soon()

        store.engine.on_commit = after_commit
        gauges.also(WebhookGauges(metrics.registry, delivery).publish)
        gauges.also(ReportGauges(metrics.registry, store.reports).publish)
        webhooks = Webhooks(
            StoredWebhooks(store.engine),
            delivery,
            store.hashers.webhooks,
            limiter,
            catalogue.now_us,
            allow_private=settings.webhook_allow_private,
        )
        production = trading.production
        check = ClientOrderCheck(gate, trading.test_market)
        production_check = ClientOrderCheck(gate, trading.market, production.why_closed)
        stored_events.recent = recent = RecentOrders(
            watch.is_watched, failovers=lambda: store.engine.failovers
        )
        test_orders = Orders(trading.test_queue, check, reader, tracer, gate, recent)
        test_data = MarketData(catalogue, trading.test_market)
        production_data = MarketData(catalogue, trading.market, production.why_closed)
        streams = OpenStreams(gate, settings.streams_per_key)
        hand_overs: Counter[Outcome] = Counter()
        gauges.also(HandOverGauges(metrics.registry, hand_overs).publish)
        gauges.also(StreamGauges(metrics.registry, streams.counts).publish)
        event_streams = EventStreams(stored_events, watch, streams)
        test_quotes = QuoteStreams(catalogue, test_data, streams)
        production_quotes = QuoteStreams(catalogue, production_data, streams)
        api_endpoints = endpoints(
            Me(deploy_on=settings.production),
            Positions(reader),
            test=(test_orders, test_data),
            production=(
                ProductionOrders(production, production_check, reader, tracer, gate, recent),
                production_data,
            ),
            events=Events(stored_events, watch, gate),
            webhooks=webhooks,
            scenarios=Scenarios(catalogue, reader, tracer, test_orders),
            event_streams=event_streams,
            quote_streams=(test_quotes, production_quotes),
        )
        sampler = RateSampler(catalogue, trading.board, _candles(settings, store), trading.holder)
        tasks = [
            *trading.background_tasks(),
            *trading.settlement_tasks(),
            key_uses.run(),
            key_hashes.run(),
            call_log.run(),
            gauges.run(),
            traces.run(),
            reports.run(),
            sampler.run(),
            watch.run(),
            entering.run(),
            streams.run(),
            event_streams.run(),
            test_quotes.run(),
            production_quotes.run(),
            delivery.run(),
        ]
        tasks += [store.records.run(), *([link.run()] if link else []), *_simulated_feed(settings, trading)]
        tasks += [limiter.watch()] if isinstance(limiter, RedisLimiter) else []
        tasks += [live_feed.run()] if live_feed else []
        async with run_in_background(*tasks):
            await _first_checks(trading, link)
            apps = (
                TradingApi(gate, call_log, checks, api_pages(), api_endpoints, public_rates),
                DeskApi(desk, authenticator, call_log, checks, measured),
            )
            gates = (
                (gate, "admit", "gate"),
                (authenticator, "authenticate", "gate"),
                (limiter, "take", "rate limits"),
            )
            with traced(settings, store.engine, trading, gates, apps) as (api, desk_api):
                yield Node(
                    api=api,
                    desk_api=desk_api,
                    desk=desk,
                    first_actor=first_actor,
                    account_of=catalogue.account_of_key,
                    hand_overs=hand_overs,
                )
        await reports.remove()
        await key_uses.write(everything=True)
        await key_hashes.write()
        await traces.write()
        await sampler.stop()
        call_log.write()


def _market(settings: Settings) -> MarketSettings:
    if settings.market is None:
        return MarketSettings()
    return read_market_file(Path(settings.market), os.environ)


def _candles(settings: Settings, store: Store) -> StoredCandles:
    kept = {
        Step.MINUTE: settings.minute_rates_days,
        Step.HOUR: settings.hour_rates_days,
        Step.DAY: settings.day_rates_days,
    }
    return StoredCandles(store.engine, kept)


def _simulated_feed(settings: Settings, trading: Trading) -> list[Coroutine[Any, Any, None]]:
    if settings.feed != "simulated":
        return []
    feed = SimulatedFeed(settings.feed_seed)
    runner = FeedRunner(feed, trading.rates, trading.board, trading.catalogue.now_us, holder=trading.holder)
    return [runner.run()]


async def _first_checks(trading: Trading, link: RedisLink | None) -> None:
    """Ask Redis and the venue once before the first call arrives."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_FIRST_CHECKS_S):
            if link is not None:
                await link.tried.wait()
            await trading.check()
    if trading.fix_lines is not None:
        # After a restart no order is refused because a line is not logged on yet.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_LOGON_S):
                await trading.fix_lines.wait_until_answered()
                await trading.check()


@cache
def api_pages() -> Mapping[str, Response]:
    """The description of the API and its page, made once. The bare address leads to the page."""
    description = openapi()
    return {
        "/": Response(302, encode_json({"docs": DOCS}), (JSON, (b"location", DOCS.encode()))),
        "/openapi.json": Response(200, encode_json(description)),
        "/postman.json": Response(200, encode_json(postman_collection(description))),
        DOCS: docs_page(),
        GUIDE: guide_page(),
    }
