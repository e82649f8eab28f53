"""Opens a file that threads and processes share, and locks it: with `fcntl`, or on Windows with `msvcrt`.

On Linux and macOS the file itself is locked, so it can be replaced while it is open. Windows lets nobody
replace an open file, so there a second file beside it is locked, and the first one is closed for that.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any


@contextmanager
def locked(path: Path) -> Iterator[IO[bytes]]:
    """The file, opened for nobody else until the block ends. It is created if it is not there."""
    if sys.platform == "win32":
        with opened(path.with_name(f"{path.name}.lock")) as lock, _locked_byte(lock), opened(path) as file:
            yield file
        return
    import fcntl

    while True:
        with opened(path) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(file, path):
                try:
                    yield file
                finally:
                    # A process that was forked meanwhile has the file open as well, and would keep the lock.
                    file.flush()
                    fcntl.flock(file, fcntl.LOCK_UN)
                return
        # Another process replaced the file while this one waited.


def opened(path: Path, flags: int = 0) -> IO[bytes]:
    """Open a file to read and write bytes. A new one is only for its owner, where the system can say so."""
    binary = getattr(os, "O_BINARY", 0)  # Without it, Windows would change the ends of lines.
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | binary | flags, 0o600), "r+b")


def replace(file: IO[bytes], path: Path, new: Path) -> None:
    """Put a new file in the place of this one, which is locked."""
    if sys.platform == "win32":
        file.close()
    new.replace(path)
    sync_folder(path)


def sync_folder(path: Path) -> None:
    """The name of a file is stored in its folder, which must reach the disk as well.

    Windows has no such call: there its file system keeps names in a journal of its own.
    """
    if sys.platform == "win32":
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _is_at(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _locked_byte(file: IO[bytes]) -> Iterator[None]:
    """Lock the first byte of a file, however long that takes."""
    msvcrt: Any = import_module("msvcrt")  # By its name, because type checkers know it on Windows only.
    while True:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        except OSError as error:
            # It gives up after ten seconds, and says so with this number.
            if error.errno != errno.EDEADLOCK:
                raise
        else:
            break
    try:
        yield
    finally:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
