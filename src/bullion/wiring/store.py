"""Opens the store: the right engine, a current schema, and the secret that the store was created with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bullion.desk.identities import Identities
from bullion.faults import StoreUnavailable
from bullion.keys.encryption import Cipher
from bullion.keys.hashing import Hasher, fingerprint
from bullion.records.audit import Chain
from bullion.secret import deployment_secret
from bullion.settings import Settings, WrongSetting
from bullion.store.engine import Engine, Transaction
from bullion.store.postgres import PostgresEngine
from bullion.store.records import RecordStore
from bullion.store.sqlite import SqliteEngine, sqlite_path
from bullion.store.standby import Reports, Standby

StoreEngine = PostgresEngine | SqliteEngine


@dataclass(frozen=True, slots=True)
class Hashers:
    """One for each purpose, so that a hash made for one is not valid for another."""

    keys: Hasher
    lanes: Hasher
    """For the first digits of new keys' ids: see `keys.issuer`."""
    tokens: Hasher
    audit: Hasher
    console: Hasher
    locks: Hasher
    """Signs locked prices."""
    factors: Cipher
    """Encrypts the secrets of second factors."""
    webhooks: Cipher
    """Encrypts the secrets of webhooks."""

    @classmethod
    def of(cls, secret: bytes, other: bytes | None = None) -> "Hashers":
        def hasher(purpose: str) -> Hasher:
            return Hasher(secret, purpose, other)

        return cls(
            keys=hasher("keys"),
            lanes=hasher("lanes"),
            tokens=hasher("tokens"),
            audit=hasher("audit"),
            console=hasher("console"),
            locks=hasher("locks"),
            factors=factor_cipher(secret, other),
            webhooks=webhook_cipher(secret, other),
        )


def factor_cipher(secret: bytes, other: bytes | None = None) -> Cipher:
    return Cipher(secret, "factor", other)


def webhook_cipher(secret: bytes, other: bytes | None = None) -> Cipher:
    return Cipher(secret, "webhook", other)


@dataclass(frozen=True, slots=True)
class Store:
    """The open store, with what commands and the desk need."""

    engine: StoreEngine
    hashers: Hashers
    records: RecordStore
    reports: Reports
    chain: Chain
    steps_taken: int
    """How many migrations were applied."""

    def identities(self, settings: Settings) -> Identities:
        first = settings.desk_token
        first_hash = None if first is None else self.hashers.tokens.hash(first.encode("ascii"))
        return Identities(self.records, self.hashers.tokens, settings.broker, first_hash)


def make_engine(settings: Settings) -> StoreEngine:
    if settings.sqlite:
        return SqliteEngine(sqlite_path(settings.database_url))
    return PostgresEngine(settings.database_url)


def _secret_folder(settings: Settings) -> Path:
    """Where the deployment's secret is kept when the settings do not give it."""
    return sqlite_path(settings.database_url).parent if settings.sqlite else Path("var")


@asynccontextmanager
async def open_store(
    settings: Settings, *, migrate: bool, serving: bool = False, force: bool = False
) -> AsyncIterator[Store]:
    """`migrate` also creates a store that does not exist; without it nothing is written.

    `serving` is for a node: it registers as one before it changes anything. It creates a new store, and
    migrates an SQLite store, which only one node uses. Several nodes may use a PostgreSQL store, so that is
    left to `bullion migrate`. `force` takes steps that nodes that serve now do not work with.
    """
    where = location(settings)
    if not migrate and not store_exists(settings):
        raise WrongSetting(
            f"BULLION_DATABASE_URL: there is no store at {where}. 'bullion migrate' creates it."
        )
    engine = make_engine(settings)
    try:
        await engine.open()
        if serving and not await engine.register_node(exclusive=settings.redis_url is None):
            raise WrongSetting(_cannot_register(settings))
        exists = await engine.has_schema()
        if migrate and exists:
            await check_secret(settings, engine)
        steps_taken = 0
        if migrate and (not serving or not exists or settings.sqlite):
            steps_taken = await engine.migrate(exclusive=serving, force=force)
        await _require_schema(engine)
        hashers = await _hashers(settings, engine, may_create=migrate)
    except StoreUnavailable as fault:
        await engine.close()
        raise WrongSetting(f"BULLION_DATABASE_URL: the store {where} cannot be used: {fault}.") from fault
    except BaseException:
        await engine.close()
        raise
    records = RecordStore(engine)
    reports = Reports(records, _standby(settings, engine))
    try:
        yield Store(engine, hashers, records, reports, Chain(hashers.audit), steps_taken)
    finally:
        await reports.close()
        await engine.close()


def _standby(settings: Settings, engine: StoreEngine) -> Standby | None:
    if settings.reports_url is None or not isinstance(engine, PostgresEngine):
        return None
    return Standby(settings.reports_url, engine)


async def check_schema(settings: Settings) -> None:
    """Raise WrongSetting or SchemaMismatch if this code cannot serve the store as it is."""
    async with open_engine(settings) as engine:
        await _require_schema(engine)


@asynccontextmanager
async def open_engine(settings: Settings) -> AsyncIterator[StoreEngine]:
    engine = make_engine(settings)
    try:
        await engine.open()
        yield engine
    finally:
        await engine.close()


async def _require_schema(engine: Engine) -> None:
    if await engine.missing_steps():
        raise WrongSetting("The store's schema is older than this version of Bullion. Run 'bullion migrate'.")


def store_exists(settings: Settings) -> bool:
    """Whether the file of an SQLite store is there. Opening it would create it."""
    return not settings.sqlite or sqlite_path(settings.database_url).exists()


async def save_hedge(store: Store, hedge: str) -> None:
    """Nodes save the venue, so that desk commands need no setting for it."""
    await store.engine.write("hedge", lambda open_: open_.run("put_deployment_value", "hedge", hedge))


async def saved_hedge(store: Store) -> str | None:
    """None in a store that no node has served."""
    row = await store.engine.read("hedge", lambda open_: open_.one("deployment_value", "hedge"))
    return None if row is None else str(row["value"])


def location(settings: Settings) -> str:
    """Where the store is, without the password that its address may contain."""
    if settings.sqlite:
        return str(sqlite_path(settings.database_url))
    return f"at {settings.database_url.rpartition('@')[2].rpartition('//')[2].partition('?')[0]}"


async def check_secret(settings: Settings, engine: Engine) -> None:
    """Before the first migration, so that a wrong secret changes nothing in the store."""
    store_fingerprint = await engine.read("secret_fingerprint", _read_fingerprint)
    if (
        store_fingerprint is not None
    ):  # None: the process that created the store stopped before it saved this.
        _sort_by_store(secrets_of(settings, may_create=False), store_fingerprint)


async def _hashers(settings: Settings, engine: Engine, *, may_create: bool) -> Hashers:
    """Made from the deployment's secret, after checking that the store was created with it.

    With another secret every key would be refused, and every audit entry would look forged.
    """
    store_fingerprint = await engine.read("secret_fingerprint", _read_fingerprint)
    secrets = secrets_of(settings, may_create=may_create and store_fingerprint is None)

    async def keep(transaction: Transaction) -> str | None:
        await transaction.run("keep_deployment_value", "secret_fingerprint", fingerprint(secrets[0]))
        return await _read_fingerprint(transaction)

    if store_fingerprint is None and may_create:
        store_fingerprint = await engine.write("secret_fingerprint", keep)
    return Hashers.of(*(secrets if store_fingerprint is None else _sort_by_store(secrets, store_fingerprint)))


def secrets_of(settings: Settings, *, may_create: bool) -> list[bytes]:
    """The deployment's secret, and the old one while it is exchanged."""
    secret = deployment_secret(settings.secret, _secret_folder(settings), may_create=may_create)
    return [secret] if settings.secret_old is None else [secret, settings.secret_old.encode("ascii")]


def _sort_by_store(secrets: list[bytes], store_fingerprint: str) -> list[bytes]:
    """The store's own secret first: what is hashed now has to be accepted by every node."""
    if store_fingerprint not in map(fingerprint, secrets):
        raise WrongSetting(
            "BULLION_SECRET (or the file 'secret' beside the store) is not the one this store was made with. "
            "Put the old one back: without it no key and no audit entry can be verified."
        )
    return sorted(secrets, key=lambda secret: fingerprint(secret) != store_fingerprint)


async def _read_fingerprint(transaction: Transaction) -> str | None:
    row = await transaction.one("deployment_value", "secret_fingerprint")
    return None if row is None else str(row["value"])


def _cannot_register(settings: Settings) -> str:
    if settings.sqlite:
        path = sqlite_path(settings.database_url)
        return (
            f"BULLION_DATABASE_URL: another node serves {path} already. An SQLite store takes one node: "
            "stop that one first, or name another store."
        )
    return (
        "Another node serves this store already, and budgets in memory hold for one node only. "
        "Set BULLION_REDIS_URL, for all nodes the same, so that they count together."
    )
