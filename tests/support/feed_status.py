"""The state of a live feed in a store, without a node that runs one."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import msgspec

from bullion.rates.feeds.status import FeedStatus, HeldStatus, InstrumentStatus, QuoteStatus, SourceStatus


def put_feed_status(store: Path) -> None:
    """Write it into a store of SQLite."""
    with closing(sqlite3.connect(store)) as open_store, open_store:
        open_store.execute(feed_status_statement())


def feed_status() -> FeedStatus:
    """As if a node ran a live feed with two sources, each of which has a held quote."""
    at_us = time.time_ns() // 1000
    held = HeldStatus(158_000_000_000, 158_020_000_000, at_us, 1)
    names = ("vendor-a", "vendor-b")
    quotes = [QuoteStatus(name, False, None, None, None, None, held, {}) for name in names]  # noqa: FBT003
    gold = InstrumentStatus("GOLD", None, False, None, None, False, None, tuple(quotes))  # noqa: FBT003
    sources = [SourceStatus(name, "http", True, True, at_us, None, None) for name in names]  # noqa: FBT003
    return FeedStatus(at_us, "a node", tuple(sources), (gold,), 0)


def feed_status_statement() -> str:
    value = msgspec.json.encode(feed_status()).decode()
    return (
        f"INSERT INTO deployment (name, value) VALUES ('feed', '{value}') "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )
