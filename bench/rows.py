"""The row of an order that rivals write: as long as ours in every column."""

import contextlib
import sqlite3
from pathlib import Path

import msgspec


class RowSizes(msgspec.Struct, frozen=True):
    """How long the texts in it are that differ from order to order, or from service to service."""

    key_id: int
    request_id: int
    price_anatomy: int


def sizes_of(path: Path) -> RowSizes:
    """Those of the newest order in a service's own store."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        found = connection.execute(
            "SELECT length(key_id), length(request_id), length(price_anatomy) FROM orders"
            " ORDER BY created_at_us DESC LIMIT 1"
        ).fetchone()
    return RowSizes(*found)
