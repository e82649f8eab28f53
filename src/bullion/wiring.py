"""Where the rooms are tied together: the only module that knows which adapter stands behind which port."""

import asyncio
import contextlib
import os
import pwd
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from bullion.api.app import TradingApi
from bullion.api.docs_page import docs_page
from bullion.api.endpoints import endpoints
from bullion.api.gate import Gate
from bullion.api.market_data import MarketData
from bullion.api.me import Me
from bullion.api.openapi import openapi
from bullion.api.orders import Orders
from bullion.api.positions import Positions
from bullion.api.tracer import Tracer
from bullion.booking.ledger import Ledger
from bullion.booking.queue import BookingQueue
from bullion.budgets.limiter import Limiter
from bullion.budgets.memory import MemoryLimiter
from bullion.budgets.redis import RedisLimiter
from bullion.budgets.redis_link import RedisLink
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.keeper import Keeper
from bullion.desk.actions.brokers import put_broker
from bullion.desk.bodies import BrokerBody
from bullion.desk.desk import Desk
from bullion.desk.doorkeeper import Doorkeeper
from bullion.desk.http import desk_app
from bullion.desk.identities import Identities
from bullion.faults import AlreadyThere, StoreFault, StoreUnavailable
from bullion.keys.hashing import Hasher
from bullion.orders.market import Market
from bullion.rates.board import Board
from bullion.rates.feeds.feed import FeedRunner
from bullion.rates.feeds.simulated import INSTRUMENTS, SimulatedFeed
from bullion.rates.keeper import BoardKeeper
from bullion.records.audit import Chain
from bullion.records.token import Actor, Role
from bullion.secret import deployment_secret
from bullion.settings import Settings, WrongSetting
from bullion.store.catalogue_source import StoreSource
from bullion.store.engine import Engine, Transaction
from bullion.store.key_uses import KeyUses
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.order_reader import StoredOrders
from bullion.store.postgres import PostgresEngine
from bullion.store.rates import StoredRates
from bullion.store.records import DurableRecords
from bullion.store.schema import SchemaMismatch
from bullion.store.sqlite import SqliteEngine, sqlite_path
from bullion.store.traces import StoredTraces
from bullion.web.address import SourceAddress
from bullion.web.answer import Answer, encode_json
from bullion.web.calls import CallJournal
from bullion.web.metrics import Metrics

_MEMORY_AGE_S_READY = 2.0
_CHECK_S = 2.0
"""A load balancer that asks whether we are ready does not wait for long."""


@dataclass(frozen=True, slots=True)
class Hashers:
    """One for each thing that is hashed, so that a hash of one never passes as another's."""

    keys: Hasher
    tokens: Hasher
    audit: Hasher
    fingerprint: Hasher

    @classmethod
    def of(cls, secret: bytes) -> "Hashers":
        return cls(*(Hasher(secret, purpose) for purpose in ("keys", "tokens", "audit", "fingerprint")))


@dataclass(frozen=True, slots=True)
class Store:
    """The open store with everything that needs no running node: enough for commands and for the desk."""

    engine: "StoreEngine"
    hashers: Hashers
    records: DurableRecords
    chain: Chain
    steps_taken: int
    """How many steps the schema was behind."""

    def identities(self, settings: Settings) -> Identities:
        first = settings.desk_token
        first_hash = None if first is None else self.hashers.tokens.hash(first.encode("ascii"))
        return Identities(self.records, self.hashers.tokens, settings.broker, first_hash)


@dataclass(frozen=True, slots=True)
class Node:
    api: Any
    desk_api: Any
    desk: Desk
    first_actor: Actor


StoreEngine = PostgresEngine | SqliteEngine


def make_engine(settings: Settings) -> StoreEngine:
    if settings.sqlite:
        return SqliteEngine(sqlite_path(settings.database_url))
    return PostgresEngine(settings.database_url)


def _secret_folder(settings: Settings) -> Path:
    """Where the deployment's secret is kept when the settings do not give it."""
    return sqlite_path(settings.database_url).parent if settings.sqlite else Path("var")


@asynccontextmanager
async def open_store(settings: Settings, *, migrate: bool, serving: bool = False) -> AsyncIterator[Store]:
    """`migrate` also makes a store that is not there; without it nothing is written.

    `serving` is for a node: it is counted among those that serve the store, before it changes anything.
    """
    place = _place(settings)
    if not migrate and settings.sqlite and not sqlite_path(settings.database_url).exists():
        raise WrongSetting(f"BULLION_DATABASE_URL: there is no store at {place}. 'bullion migrate' makes it.")
    engine = make_engine(settings)
    try:
        await engine.open()
        if serving and not await engine.join(alone=settings.redis_url is None):
            raise WrongSetting(_cannot_join(settings))
        steps_taken = await engine.migrate() if migrate else 0
        if await engine.steps_missing():
            raise WrongSetting("The store's schema is not the one of this version. Run 'bullion migrate'.")
        hashers = await _hashers(settings, engine, may_make=migrate)
    except StoreUnavailable as fault:
        await engine.close()
        raise WrongSetting(f"BULLION_DATABASE_URL: the store {place} cannot be used: {fault}.") from fault
    except BaseException:
        await engine.close()
        raise
    try:
        yield Store(engine, hashers, DurableRecords(engine), Chain(hashers.audit), steps_taken)
    finally:
        await engine.close()


def _place(settings: Settings) -> str:
    """Where the store is, without the password that its address may hold before or after that."""
    if settings.sqlite:
        return str(sqlite_path(settings.database_url))
    return f"at {settings.database_url.rpartition('@')[2].rpartition('//')[2].partition('?')[0]}"


async def _hashers(settings: Settings, engine: Engine, *, may_make: bool) -> Hashers:
    """Made from the deployment's secret, once it is known to be the one that the store was made with.

    With another secret every key would be refused and every audit entry look forged: better not to start.
    """

    async def read(transaction: Transaction) -> str | None:
        row = await transaction.one("deployment_value", "secret_fingerprint")
        return None if row is None else str(row["value"])

    made_with = await engine.read("secret_fingerprint", read)
    secret = deployment_secret(
        settings.secret, _secret_folder(settings), may_make=may_make and made_with is None
    )
    hashers = Hashers.of(secret)
    fingerprint = hashers.fingerprint.hash(b"fingerprint").hex()

    async def keep(transaction: Transaction) -> str | None:
        await transaction.run("keep_deployment_value", "secret_fingerprint", fingerprint)
        return await read(transaction)

    if made_with is None and may_make:
        made_with = await engine.write("secret_fingerprint", keep)
    if made_with not in (None, fingerprint):
        raise WrongSetting(
            "BULLION_SECRET (or the file 'secret' beside the store) is not the one this store was made with. "
            "Put the old one back: without it no key and no audit entry can be verified."
        )
    return hashers


def _desk(settings: Settings, store: Store, refresh: Callable[[], Awaitable[None]]) -> Desk:
    return Desk(
        store=store.records,
        chain=store.chain,
        key_hasher=store.hashers.keys,
        token_hasher=store.hashers.tokens,
        refresh=refresh,
        fed_instruments=frozenset(INSTRUMENTS if settings.feed == "simulated" else ()),
    )


def _user_name() -> str:
    """Of the process itself: what the environment says of a user could be anything."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # As in many a container.
        return f"uid {os.geteuid()}"


@asynccontextmanager
async def open_desk(
    settings: Settings, token: str | None, broker: str | None
) -> AsyncIterator[tuple[Desk, Actor]]:
    """The desk without a node, for commands: what is changed reaches the nodes through the store."""

    async def nothing() -> None:
        return

    async with open_store(settings, migrate=False) as store:
        actor: Actor | None = Actor(
            f"command line ({_user_name()})", Role.ADMIN, broker or settings.broker, first=True
        )
        if token is not None:
            actor = await store.identities(settings).actor(token)
        if actor is None:
            raise WrongSetting("--token (or BULLION_TOKEN) is not a valid desk token.")
        if broker is not None and broker != actor.broker:
            raise WrongSetting(f"--broker: this token acts for {actor.broker} only.")
        desk = _desk(settings, store, nothing)
        if actor.first and actor.broker == settings.broker:
            await _make_default_broker(desk, actor)
        elif await store.records.read("broker", lambda records: records.broker(actor.broker)) is None:
            raise WrongSetting(f"--broker: there is no broker {actor.broker}.")
        yield desk, actor


@asynccontextmanager
async def open_node(settings: Settings) -> AsyncIterator[Node]:
    """Everything of one node but its sockets."""
    async with open_store(settings, migrate=True, serving=True) as store:
        catalogue = Catalogue()
        keeper = Keeper(catalogue, StoreSource(store.engine))
        key_uses = KeyUses(store.engine, catalogue.now_us)
        metrics = Metrics()
        journal = CallJournal(metrics.registry, log_all=settings.log_calls == "all")
        addresses = SourceAddress(settings.trusted_proxies)
        limiter, limiter_duties = _limiter(settings)
        board = Board()
        rates = StoredRates(store.engine)
        board_keeper = BoardKeeper(board, rates)

        async def refresh() -> None:
            await keeper.catch_up()
            await board_keeper.catch_up()

        desk = _desk(settings, store, refresh)
        first_actor = Actor("first token", Role.ADMIN, settings.broker, first=True)
        await _make_default_broker(desk, first_actor)
        await keeper.catch_up()
        with contextlib.suppress(
            StoreFault
        ):  # Then it goes on trying; orders are told that rates are not ready.
            await board_keeper.catch_up()
        gate = Gate(
            catalogue=catalogue,
            catch_up=keeper.catch_up,
            limiter=limiter,
            key_hasher=store.hashers.keys,
            addresses=addresses,
            default_broker=settings.broker,
            note_use=key_uses.note,
        )
        doorkeeper = Doorkeeper(store.identities(settings), limiter, addresses)

        async def checks() -> Mapping[str, bool]:
            fresh = catalogue.age_s() < _MEMORY_AGE_S_READY
            try:
                async with asyncio.timeout(_CHECK_S):
                    current = fresh and await store.engine.steps_missing() == 0
            except SchemaMismatch:
                current = False
            except (StoreFault, TimeoutError):
                fresh = current = False
            return {"store": fresh, "schema": current, "catalogue": catalogue.loaded}

        def measured() -> Answer:
            journal.publish()
            return metrics.answer()

        traces = StoredTraces(store.engine)
        market = Market(catalogue, board)
        ledger, lanes, batch_max = _ledger(store.engine)
        reader = StoredOrders(store.engine)
        queue = BookingQueue(ledger, catalogue, keeper, lanes=lanes, batch_max=batch_max)
        api_endpoints = endpoints(
            Me(deploy_on=settings.production),
            Orders(market, queue, reader, Tracer(traces, catalogue.now_us), gate),
            Positions(reader),
            MarketData(catalogue, market),
        )
        duties = [
            keeper.keep(),
            board_keeper.keep(),
            key_uses.keep(),
            journal.keep(),
            traces.keep(),
            queue.keep(),
        ]
        duties += [*limiter_duties, *_feed(settings, rates, board, catalogue.now_us)]
        async with _running(*duties):
            yield Node(
                api=TradingApi(gate, journal, checks, _pages(), api_endpoints),
                desk_api=desk_app(desk, doorkeeper, journal, checks, measured),
                desk=desk,
                first_actor=first_actor,
            )
        await key_uses.write()
        await traces.write()
        journal.write()


def _cannot_join(settings: Settings) -> str:
    if settings.sqlite:
        path = sqlite_path(settings.database_url)
        return f"BULLION_DATABASE_URL: another node serves {path} already. An SQLite store takes one node."
    return (
        "Another node serves this store already, and budgets in memory hold for one node only. "
        "Set BULLION_REDIS_URL, for all nodes the same, so that they count together."
    )


def _ledger(engine: StoreEngine) -> tuple[Ledger, int, int]:
    """With it, how many batches may be under way at once, and how many orders a batch may hold."""
    if isinstance(engine, PostgresEngine):
        return PostgresLedger(engine), 2, 32
    return SqliteLedger(engine), 1, 64


def _feed(
    settings: Settings, rates: StoredRates, board: Board, now_us: Callable[[], int]
) -> list[Coroutine[Any, Any, None]]:
    if settings.feed != "simulated":
        return []
    feed = SimulatedFeed(settings.feed_seed)
    return [FeedRunner(feed, rates, board, now_us, holder=uuid4().hex).keep()]


def _limiter(settings: Settings) -> tuple[Limiter, list[Coroutine[Any, Any, None]]]:
    if settings.redis_url is None:
        return MemoryLimiter(), []
    link = RedisLink(settings.redis_url)
    return RedisLimiter(link, MemoryLimiter()), [link.keep()]


@asynccontextmanager
async def _running(*duties: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Keep the node's duties going. One that fails ends the node: it would be blind or mute without it."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(duty) for duty in duties]
        yield
        for task in tasks:
            task.cancel()


async def _make_default_broker(desk: Desk, actor: Actor) -> None:
    """Nodes that start together all see it missing; one makes it, and the others find it made."""
    if await desk.store.read("default_broker", lambda records: records.broker(actor.broker)) is None:
        with contextlib.suppress(AlreadyThere):
            await put_broker(desk, actor, actor.broker, BrokerBody(name=actor.broker), only_new=True)


def _pages() -> Mapping[str, Answer]:
    """The description of the interface: made once, served as it is."""
    description = openapi()
    page, policy = docs_page(description)
    html = (
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-security-policy", policy.encode("ascii")),
    )
    return {
        "/openapi.json": Answer(200, encode_json(description)),
        "/docs": Answer(200, page.encode(), html),
    }
