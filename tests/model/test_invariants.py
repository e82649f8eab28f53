"""The checker finds what is wrong: each kind of damage, done to a sound store by hand."""

import sqlite3
from pathlib import Path

import pytest

from bullion.store.sqlite import SqliteEngine
from tests.booking.fixtures import Node, asked, create_books, reset
from tests.booking.small_blocks import keep_small_blocks
from tests.support.migrated_store import copy_migrated

from . import invariants

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "bullion.db"
    copy_migrated(path)
    engine = SqliteEngine(path)
    await engine.open()
    await keep_small_blocks(engine, monkeypatch, (2, 8, 32))
    books = await create_books(engine, 2, gold_e4=50_000, silver_e4=50_000)
    node = await Node(engine).start()
    await node.place(books[0], "archived")
    await reset(engine, books[0])
    await node.catalogue_follower.catch_up()
    for key, of in {
        "a": asked("buy", 30_000),
        "b": asked("sell", 10_000, symbol_code="SILVER"),
        "c": asked("buy", 20_000),
        "d": asked("sell", expected_price="1"),
    }.items():
        await node.place(books[0], key, of)
    await node.place(books[1], "a", asked("sell", 5))
    await engine.close()
    return path


LIMITS = {2: (50_000, 50_000), 4: (50_000, 50_000)}


async def check(store: Path) -> None:
    await invariants.check(store, limits_e4=LIMITS, other_changes={2: 1})


async def test_a_sound_store_passes(store: Path) -> None:
    await check(store)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("UPDATE books SET gold_net_e4 = gold_net_e4 + 1 WHERE id = 2", "gold, its orders say"),
        ("UPDATE books SET silver_net_e4 = 0 WHERE id = 2", "silver, its orders say"),
        ("UPDATE books SET gold_net_e4 = 1 WHERE id = 3", "gold, its orders say"),
        ("UPDATE books SET order_count = order_count + 1 WHERE id = 2", "counts 5 orders"),
        ("UPDATE books SET archived_count = 0 WHERE id = 2", "its orders say"),
        ("UPDATE books SET archived_count = 9 WHERE id = 4", "archived of"),
        # Orders may share their time where the clock was just set back a little: three steps might do.
        ("UPDATE books SET version = version - 5 WHERE id = 2", "moved 1 times"),
        ("UPDATE books SET version = version + 1 WHERE id = 2", "moved 7 times"),
        ("UPDATE books SET last_order_at_us = 5 WHERE id = 4", "its last order"),
        ("UPDATE orders SET ordinal = 9 WHERE idempotency_key = 'c'", "has the ordinals"),
        ("DELETE FROM orders WHERE book_id = 4", "has the ordinals"),
        ("UPDATE orders SET created_at_us = 5 WHERE idempotency_key = 'c'", "older than the one before"),
        ("UPDATE orders SET id = 'f' || substr(id, 2) WHERE idempotency_key = 'b'", "was not made at"),
        ("UPDATE orders SET id = (SELECT max(id) FROM orders)", "times"),
        (
            "UPDATE orders SET quantity_e4 = 40000 WHERE idempotency_key = 'c'",
            "from 30000 to 70000",
        ),
        ("UPDATE orders SET key_id = 'nobody' WHERE idempotency_key = 'c'", "another book's key"),
        ("UPDATE orders SET status = 'open' WHERE idempotency_key = 'c'", "is open in a test book"),
        ("UPDATE orders SET book_id = 99 WHERE book_id = 4", "which there is not"),
        ("UPDATE price_moves SET idempotency_key = 'a'", "is settled 2 times"),
        (
            "UPDATE books SET account_id = 2, environment = 'production' WHERE id = 4",
            "is not that of",
        ),
        ("DELETE FROM block_counts WHERE level = 1", "kept 0, there are"),
        ("UPDATE block_counts SET orders = orders + 1 WHERE symbol_code = 'SILVER'", "kept 2, there are 1"),
        ("INSERT INTO block_counts VALUES (2, 0, 7, 'X', 'buy', 'filled', 1)", "kept 1, there are 0"),
        ("UPDATE books SET unsummed_from = 1 WHERE id = 2", "is summed up to 1"),
        ("UPDATE books SET unsummed_from = 99 WHERE id = 4", "is summed up to 99"),
    ],
)
async def test_damage_is_found(store: Path, damage: str, words: str) -> None:
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    if "account_id" in damage:
        connection.execute("DELETE FROM books WHERE id = 5")
    assert connection.execute(damage).rowcount > 0
    connection.commit()
    connection.close()
    with pytest.raises(AssertionError, match=words):
        await check(store)
