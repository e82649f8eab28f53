"""Stores with our schema and so many accounts, to be measured without a service or before one starts."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import asyncpg

from bullion.allocation.book import book_id
from bullion.environment import Environment
from bullion.keys.issuer import KeyIssuer
from bullion.keys.text import write_key
from bullion.settings import Settings
from bullion.wiring.store import Hashers, open_store
from tests.support.node import SECRET

Address = str | Path
"""Of a store: an SQLite file, or the URL of a PostgreSQL database."""

BROKER, GROUP = "main", "retail"
_LIMIT_E4 = 10**12
_AT_US = 1_700_000_000_000_000
_SCOPES = "account:read orders:read orders:write"
_KEY_COLUMNS = (
    *("key_id", "account_id", "environment", "name", "scopes", "secret_hash", "allowed_addresses"),
    "created_at_us",
)

_Table = tuple[str, tuple[str, ...], list[tuple[object, ...]]]
"""Its name, columns and rows."""


def make_store(address: Address, accounts: int) -> None:
    """One without a service: the schema, a broker, a group and the accounts."""
    asyncio.run(_migrate(address))
    broker: _Table = ("brokers", ("tag", "name", "created_at_us"), [(BROKER, "Bench", _AT_US)])
    group: _Table = ("groups", ("broker", "code", "trading"), [(BROKER, GROUP, 1)])
    _put(address, [broker, group])
    add_accounts(address, range(1, accounts + 1))


def add_accounts(address: Address, ids: range) -> None:
    """With both books and a key for each environment, past the desk: that would take minutes.

    Nobody has the secrets of these keys.
    """
    accounts: list[tuple[object, ...]] = []
    books: list[tuple[object, ...]] = []
    keys: list[tuple[object, ...]] = []
    for account_id in ids:
        login_id = f"client{account_id:07d}"
        accounts.append((account_id, BROKER, login_id, "Bench and Sons", GROUP, 1, 1, 1, _AT_US))
        for environment in Environment:
            book = book_id(account_id, environment)
            books.append((book, account_id, environment.value, _LIMIT_E4, _LIMIT_E4))
            # Such a hash is as long as a true one, and there are no two alike.
            keys.append(_key_row(f"{book:016x}", account_id, environment, f"{book:064x}"))
    flags = ("active", "api_access", "production_trading")
    tables: list[_Table] = [
        (
            "accounts",
            ("id", "broker", "login_id", "firm_name", "group_code", *flags, "created_at_us"),
            accounts,
        ),
        ("books", ("id", "account_id", "environment", "gold_limit_e4", "silver_limit_e4"), books),
        ("keys", _KEY_COLUMNS, keys),
    ]
    _put(address, tables)


def add_traders(address: Address, number: int) -> tuple[str, ...]:
    """So many accounts, and a test key of each, in a store that no service has opened yet."""
    ids = range(1, number + 1)
    add_accounts(address, ids)
    hashers = Hashers.of(SECRET.encode())
    issuer = KeyIssuer(hashers.keys, hashers.lanes)
    texts: list[str] = []
    rows: list[tuple[object, ...]] = []
    for account_id in ids:
        new = issuer.new_key(account_id)
        secret_hash = issuer.secret_hash(new.secret).hex()
        rows.append(_key_row(new.key_id, account_id, Environment.TEST, secret_hash))
        texts.append(write_key(Environment.TEST, BROKER, new.key_id, new.secret))
    _put(address, [("keys", _KEY_COLUMNS, rows)])
    return tuple(texts)


def _key_row(key_id: str, account_id: int, environment: Environment, secret_hash: str) -> tuple[object, ...]:
    return key_id, account_id, environment.value, "a key", _SCOPES, secret_hash, "", _AT_US


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """As our own engine opens it: every commit is on disk."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        yield connection


async def _migrate(address: Address) -> None:
    url = address if isinstance(address, str) else f"sqlite:///{address}"
    async with open_store(Settings(database_url=url, secret=SECRET), migrate=True):
        pass


def _put(address: Address, tables: Sequence[_Table]) -> None:
    if isinstance(address, str):
        asyncio.run(_copy(address, tables))
    else:
        _insert(address, tables)


async def _copy(url: str, tables: Sequence[_Table]) -> None:
    connection = await asyncpg.connect(url)
    try:
        for table, columns, rows in tables:
            await connection.copy_records_to_table(table, columns=columns, records=rows)
        await connection.execute("ANALYZE")
    finally:
        await connection.close()


def _insert(path: Path, tables: Sequence[_Table]) -> None:
    with opened(path) as connection:
        connection.execute("BEGIN")
        for table, columns, rows in tables:
            places = ", ".join("?" * len(columns))
            statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608 - our own
            connection.executemany(statement, rows)
        connection.execute("COMMIT")
        connection.execute("ANALYZE")
