"""Where the rooms are tied together: the only module that knows which adapter stands behind which port."""

import asyncio
import fcntl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest

from bullion.api.app import TradingApi
from bullion.api.docs_page import docs_page
from bullion.api.gate import Gate
from bullion.api.openapi import openapi
from bullion.budgets.memory import MemoryLimiter
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.keeper import Keeper
from bullion.desk.actions.brokers import put_broker
from bullion.desk.bodies import BrokerBody
from bullion.desk.desk import Desk
from bullion.desk.doorkeeper import Doorkeeper
from bullion.desk.http import desk_app
from bullion.keys.hashing import Hasher
from bullion.records.audit import Chain
from bullion.records.token import Actor, Role
from bullion.secret import deployment_secret
from bullion.settings import Settings, WrongSetting
from bullion.store.catalogue_source import StoreSource
from bullion.store.engine import Engine, Transaction, one_row
from bullion.store.key_uses import KeyUses
from bullion.store.records import DurableRecords
from bullion.store.sqlite import SqliteEngine, sqlite_path
from bullion.web.address import SourceAddress
from bullion.web.answer import Answer, encode_json
from bullion.web.calls import CallJournal

_MEMORY_AGE_S_READY = 2.0


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

    engine: Engine
    hashers: Hashers
    records: DurableRecords
    chain: Chain
    steps_taken: int
    """How many steps the schema was behind."""


@dataclass(frozen=True, slots=True)
class Node:
    api: Any
    desk_api: Any
    desk: Desk
    first_actor: Actor


@asynccontextmanager
async def open_store(settings: Settings, *, migrate: bool) -> AsyncIterator[Store]:
    """`migrate` also makes a store that is not there; without it nothing is written."""
    path = sqlite_path(settings.database_url)
    if not migrate and not path.exists():
        raise WrongSetting(f"BULLION_DATABASE_URL: there is no store at {path}. 'bullion migrate' makes it.")
    hashers = Hashers.of(deployment_secret(settings.secret, path.parent))
    engine = SqliteEngine(path)
    await engine.open()
    try:
        steps_taken = await engine.migrate() if migrate else 0
        if not await engine.schema_current():
            raise WrongSetting("The store's schema is not the one of this version. Run 'bullion migrate'.")
        await _check_secret(engine, hashers.fingerprint.hash(b"fingerprint").hex(), keep=migrate)
        yield Store(engine, hashers, DurableRecords(engine), Chain(hashers.audit), steps_taken)
    finally:
        await engine.close()


async def _check_secret(engine: Engine, fingerprint: str, *, keep: bool) -> None:
    """With another secret every key would be refused and every audit entry look forged: do not start."""

    async def kept(transaction: Transaction) -> str:
        return str((await one_row(transaction, "deployment_value", "secret_fingerprint"))["value"])

    async def keep_and_read(transaction: Transaction) -> str:
        await transaction.run("keep_deployment_value", "secret_fingerprint", fingerprint)
        return await kept(transaction)

    name = "secret_fingerprint"
    if (await engine.write(name, keep_and_read) if keep else await engine.read(name, kept)) != fingerprint:
        raise WrongSetting(
            "BULLION_SECRET (or the file 'secret' beside the store) is not the one this store was made with. "
            "Put the old one back: without it no key and no audit entry can be verified."
        )


@asynccontextmanager
async def _only_node(store: Path) -> AsyncIterator[None]:
    """Budgets in memory hold for one node alone, so a second one on the same file is not let in."""
    store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with store.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WrongSetting(
                f"BULLION_DATABASE_URL: another node is serving {store}. An SQLite store serves one node at a time."
            ) from None
        yield


@asynccontextmanager
async def open_node(settings: Settings) -> AsyncIterator[Node]:
    """Everything of one node but its sockets."""
    async with _only_node(sqlite_path(settings.database_url)), open_store(settings, migrate=True) as store:
        catalogue = Catalogue()
        keeper = Keeper(catalogue, StoreSource(store.engine))
        await keeper.catch_up()
        key_uses = KeyUses(store.engine, catalogue.now_us)
        registry = CollectorRegistry()
        journal = CallJournal(registry, log_all=settings.log_calls == "all")
        addresses = SourceAddress(settings.trusted_proxies)
        limiter = MemoryLimiter()
        desk = Desk(
            store=store.records,
            chain=store.chain,
            key_hasher=store.hashers.keys,
            token_hasher=store.hashers.tokens,
            refresh=keeper.catch_up,
        )
        first_actor = Actor("first token", Role.ADMIN, settings.broker, first=True)
        await _make_default_broker(desk, first_actor, catalogue)
        gate = Gate(
            catalogue=catalogue,
            catch_up=keeper.catch_up,
            limiter=limiter,
            key_hasher=store.hashers.keys,
            addresses=addresses,
            default_broker=settings.broker,
            note_use=key_uses.note,
        )
        doorkeeper = Doorkeeper(
            store=store.records,
            hasher=store.hashers.tokens,
            limiter=limiter,
            addresses=addresses,
            default_broker=settings.broker,
            first_token_hash=_first_token_hash(settings, store.hashers.tokens),
        )

        async def checks() -> Mapping[str, bool]:
            return {
                "store": catalogue.age_s() < _MEMORY_AGE_S_READY,
                "schema": await store.engine.schema_current(),
                "catalogue": catalogue.loaded,
            }

        def metrics() -> Answer:
            return Answer(200, generate_latest(registry), ((b"content-type", b"text/plain; version=0.0.4"),))

        async with _running(keeper.keep(), key_uses.keep(), journal.keep()):
            yield Node(
                api=TradingApi(gate, journal, checks, _pages(), deploy_on=settings.production),
                desk_api=desk_app(desk, doorkeeper, journal, checks, metrics),
                desk=desk,
                first_actor=first_actor,
            )
        await key_uses.write()
        journal.write()


@asynccontextmanager
async def _running(*duties: Any) -> AsyncIterator[None]:
    """Keep the node's duties going. One that fails ends the node: it would be blind or mute without it."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(duty) for duty in duties]
        yield
        for task in tasks:
            task.cancel()


async def _make_default_broker(desk: Desk, actor: Actor, catalogue: Catalogue) -> None:
    if actor.broker not in catalogue.brokers:
        await put_broker(desk, actor, actor.broker, BrokerBody(name=actor.broker))


def _first_token_hash(settings: Settings, hasher: Hasher) -> bytes | None:
    return None if settings.desk_token is None else hasher.hash(settings.desk_token.encode("ascii"))


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
