"""Files of SQLite stores: readable by their owner only, and synced to disk before they are used."""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from bullion.settings import WrongSetting

_PAGES_AT_ONCE = 2_000
_SUFFIXES = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite keeps beside a database."""


class DamagedStore(WrongSetting):
    """SQLite cannot read the file, or finds damage in it."""


@contextmanager
def private_copy(source: Path, beside: Path, progress: Callable[[int, int], None]) -> Iterator[Path]:
    """A copy of a store in the folder of `beside`, at one moment, while others use the store.

    It is removed at the end, unless it was moved to its final name before.
    """
    copy = beside.with_name(f".{beside.name}.{secrets.token_hex(4)}.partial")
    try:
        os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise WrongSetting(f"{beside} cannot be written: {error.strerror}.") from error
    try:
        _copy(source, copy, progress)
        yield copy
    finally:
        for name in (copy, *files_beside(copy)):
            name.unlink(missing_ok=True)


def _copy(source: Path, target: Path, progress: Callable[[int, int], None]) -> None:
    while True:
        before = _state(source)
        # Without a log no process uses the file. `immutable` also allows a read-only disk.
        unused = not Path(f"{source}-wal").exists()
        _copy_pages(source, target, progress, "&immutable=1" if unused else "")
        if not unused or (before == _state(source) and not Path(f"{source}-wal").exists()):
            return
        # A process has begun to use it: the copy may have half of what it wrote.
        os.truncate(target, 0)


def _copy_pages(source: Path, target: Path, progress: Callable[[int, int], None], options: str) -> None:
    try:
        with (
            closing(
                sqlite3.connect(f"{_uri(source)}?mode=ro{options}", uri=True, isolation_level=None)
            ) as old,
            closing(sqlite3.connect(target, isolation_level=None)) as new,
        ):
            # One snapshot for all steps. Otherwise SQLite would restart the copy after each booking.
            old.execute("BEGIN")
            old.execute("SELECT count(*) FROM sqlite_master").fetchone()
            old.backup(
                new, pages=_PAGES_AT_ONCE, progress=lambda _, left, of: progress(of - left, of), sleep=0.01
            )
    except sqlite3.Error as error:
        raise DamagedStore(f"{source} cannot be copied: {error}.") from error


def _state(source: Path) -> tuple[int, int, int]:
    """It differs after the file was written to or replaced."""
    found = source.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def check_integrity(store: Path) -> None:
    """May raise DamagedStore."""
    try:
        with closing(sqlite3.connect(store)) as opened:
            found = [str(row[0]) for row in opened.execute("PRAGMA integrity_check(5)")]
    except sqlite3.Error as error:
        found = [str(error)]
    if found != ["ok"]:
        raise DamagedStore(f"SQLite finds damage in {store.name}: {'; '.join(found)}.")


def put_in_place(copy: Path, target: Path, keep_as: Path | None = None) -> None:
    """Sync a finished copy to disk, and move it to its final name. `keep_as`: for what is there.

    There is a store at every moment: a service that finds none would begin with an empty one.
    """
    if files_beside(copy):
        raise DamagedStore(f"The log of {copy.name} was not written back into it. Is the disk full?")
    sync(copy)
    if keep_as is not None:
        _keep(target, keep_as)
    copy.rename(target)
    sync(target.parent)


def _keep(store: Path, name: Path) -> None:
    """Give a store another name too, and its log only that: SQLite would apply it to the next store.

    The log may be all that is left of a store.
    """
    for each in files_beside(store):
        each.rename(f"{name}{each.name.removeprefix(store.name)}")
    if not store.exists():
        return
    try:
        os.link(store, name)
    except OSError:  # A file system without links.
        store.rename(name)


def sync(file_or_folder: Path) -> None:
    descriptor = os.open(file_or_folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def files_beside(store: Path) -> list[Path]:
    return [each for suffix in _SUFFIXES if (each := Path(f"{store}{suffix}")).exists()]


def in_use(store: Path) -> bool:
    """Whether any process has the store open. If none has, its log is written back into it.

    False for a damaged store: its use cannot be detected.
    """
    with suppress(sqlite3.Error), closing(sqlite3.connect(store, timeout=0, isolation_level=None)) as opened:
        # Every connection to a store with a write-ahead log holds a shared lock on its file.
        opened.execute("PRAGMA locking_mode=EXCLUSIVE")
        try:
            opened.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")
        opened.execute("ROLLBACK")
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return False


def require_file(path: Path, what: str) -> None:
    if not path.is_file():
        raise WrongSetting(f"There is no {what} at {path}.")


def _uri(path: Path) -> str:
    return path.absolute().as_uri()
