"""What an account costs in a node's memory, read from a store as a node does it. One engine is enough."""

import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.follower import CatalogueFollower
from bullion.store.catalogue_source import StoreSource
from bullion.store.sqlite import SqliteEngine

pytestmark = pytest.mark.anyio

ACCOUNTS = 5000
SCOPES = "account:read orders:read orders:write"
BYTES_MAX = 1300
"""For an account with two keys. A hundred thousand of them then leave room in 250 MB for everything else."""


def fill(path: Path) -> None:
    numbers = range(1, ACCOUNTS + 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO brokers (tag, name, created_at_us) VALUES ('main', 'Main', 0)")
        connection.execute("INSERT INTO groups VALUES ('main', 'retail', 1)")
        connection.executemany(
            "INSERT INTO accounts VALUES (?, 'main', ?, ?, 'retail', 1, 1, 0, 0, 0)",
            [(number, f"client{number}", f"Client {number} Bullion Private Limited") for number in numbers],
        )
        connection.executemany(
            "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, '', ?, NULL, NULL, NULL, NULL, '')",
            [
                (
                    f"{kind}{number:015x}",
                    number,
                    environment,
                    f"engine {number}",
                    SCOPES,
                    "ab" * 32,
                    10**15 + number,
                )
                for number in numbers
                for kind, environment in (("a", "test"), ("b", "production"))
            ],
        )


async def test_a_hundred_thousand_accounts_fit(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "bullion.db")
    await engine.open()
    await engine.migrate()
    fill(tmp_path / "bullion.db")
    catalogue = Catalogue()
    catalogue_follower = CatalogueFollower(catalogue, StoreSource(engine))
    tracemalloc.start()
    try:
        while not catalogue.clients.complete:
            await catalogue_follower.catch_up()
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        await engine.close()
    assert len(catalogue.accounts) == ACCOUNTS
    assert len(catalogue.keys) == 2 * ACCOUNTS
    assert held / ACCOUNTS < BYTES_MAX
    # While it is read, no more than a page or two is there twice.
    assert peak - held < held / 2
