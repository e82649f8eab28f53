"""SQLite stores with the tables of this version and no rows: copying one is far cheaper than migrating."""

import asyncio
import atexit
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine

from .servers import new_folder


def copy_migrated(path: Path) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.copy(_migrated_file(), path)


@cache
def _migrated_file() -> Path:
    folder = new_folder("bullion-migrated-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    migrate(SqliteEngine(folder / "bullion.db"))
    return folder / "bullion.db"


def migrate(engine: PostgresEngine | SqliteEngine) -> None:
    """In a thread: the loop of a browser may run in this one."""

    async def work() -> None:
        await engine.open()
        await engine.migrate()
        await engine.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work()).result()
