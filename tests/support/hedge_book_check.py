"""Judges the hedge books of a store after a run: H1 to H7, by the code of `books verify`."""

import asyncio
import shutil
import sqlite3
import tempfile
from pathlib import Path

from bullion.books.hedge_books import hedge_book_differences
from bullion.store.engine import Engine
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine


async def hedge_book_problems(engine: Engine) -> list[str]:
    """What is wrong with the hedge books of an open store, in sentences."""
    found = await engine.read_whole("hedge_books", hedge_book_differences)
    return [
        f"{owner}: {check.what} {name}: {stored}, not {right}" for check, owner, name, stored, right in found
    ]


def check_hedge_books(store: str | Path, *, dead: bool = False) -> None:
    """Raise AssertionError with what is wrong in an SQLite file or at a PostgreSQL address.

    A file is copied first: a look must not mend it. `dead`: no node is running.
    """
    if isinstance(store, str):
        found = asyncio.run(_problems(PostgresEngine(store)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = asyncio.run(_problems(SqliteEngine(_copy(store, Path(folder), dead=dead))))
    assert not found, "\n".join(found[:30])


async def _problems(engine: Engine) -> list[str]:
    await engine.open()
    try:
        return await hedge_book_problems(engine)
    finally:
        await engine.close()


def _copy(store: Path, folder: Path, *, dead: bool) -> Path:
    copy = folder / "copy.db"
    if dead:
        for part in ("", "-wal"):
            if Path(f"{store}{part}").exists():
                shutil.copy(f"{store}{part}", f"{copy}{part}")
        return copy
    source, target = sqlite3.connect(f"file:{store}?mode=ro", uri=True), sqlite3.connect(copy)
    try:
        source.backup(target)
    finally:
        source.close()
        target.close()
    return copy
