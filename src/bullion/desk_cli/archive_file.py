"""An archive file: compressed lines of JSON. The first line describes the file, and the last one has the
number of lines and their hash, so that a truncated or changed file is detected."""

import fcntl
import gzip
import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
import msgspec

from bullion.desk.desk import View

_FORM = "bullion archive 1"


class ArchiveFile:
    """Written under another name, which it locks, and renamed when it is complete and on disk."""

    def __init__(self, path: Path, about: View) -> None:
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._hash = sha256()
        self.lines = 0
        try:
            descriptor = os.open(self._part, os.O_WRONLY | os.O_CREAT, 0o600)
            locked = _is_locked(descriptor, self._part)
        except OSError as error:
            raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from None
        if not locked:
            os.close(descriptor)
            raise click.UsageError(f"Another command is writing {path}. Choose another name.")
        if path.exists():
            self._part.unlink()
            os.close(descriptor)
            raise click.UsageError(f"{path} exists already. Choose another name.")
        os.truncate(descriptor, 0)
        self._raw = os.fdopen(descriptor, "wb")
        self._packed = gzip.GzipFile(filename="", mode="wb", fileobj=self._raw, mtime=0)
        self._put({"form": _FORM, **about})

    def add(self, view: View) -> None:
        self._put(view)
        self.lines += 1

    def finish(self) -> View:
        """The number of lines without the first and the last, and the hash of all before the last."""
        end = {"lines": self.lines, "sha256": self._hash.hexdigest()}
        self._put({"end": end})
        self._packed.close()
        self._raw.flush()
        os.fsync(self._raw.fileno())
        self._part.rename(self._path)
        _sync(self._path.parent)
        self._raw.close()
        return {"file": self._path.name, **end}

    def drop(self) -> None:
        """Deletes what was written of a file that could not be finished."""
        if self._raw.closed:
            return
        # While it is locked: afterwards, it may be another command's.
        self._part.unlink(missing_ok=True)
        with suppress(OSError, ValueError):
            self._packed.close()
        self._raw.close()

    def _put(self, value: View) -> None:
        line = msgspec.json.encode(value) + b"\n"
        self._packed.write(line)
        self._hash.update(line)


def _is_locked(descriptor: int, part: Path) -> bool:
    """Lock the file until it is closed. False: another command has it, or had it and renamed it meanwhile."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), part.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class DamagedFile(Exception):
    """The message says what is wrong."""


def check(path: Path) -> View:
    """The first and the last line of the file. May raise DamagedFile."""
    hashed, before, first, lines = sha256(), b"", b"", 0
    try:
        for line in _lines(path):
            if before:
                hashed.update(before)
                lines += 1
            first = first or line
            before = line
        about, end = _object(first), _object(before).get("end")
    except (OSError, EOFError, ValueError) as error:
        raise DamagedFile(f"it cannot be read to its end ({error})") from None
    if about.pop("form", None) != _FORM:
        raise DamagedFile("it is not an archive file")
    if not isinstance(end, dict):
        raise DamagedFile("its last line is missing")
    if end != {"lines": lines - 1, "sha256": hashed.hexdigest()}:
        raise DamagedFile("its lines do not match the count and the hash in its last line")
    return {"file": path.name, **about, **end}


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path, "rb") as packed:
        yield from packed


def _object(line: bytes) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    return found
