"""A file that leaves the store: compressed lines of JSON between a first that says what it is and a last that
says how many there are and how they hash. So a file that was cut off or changed is found out."""

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
    """Written beside its place under another name, and put there when it is whole and on disk."""

    def __init__(self, path: Path, about: View) -> None:
        if path.exists():
            raise click.UsageError(f"{path} is there already. Name a file that is not.")
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._hash = sha256()
        self.lines = 0
        try:
            descriptor = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except OSError as error:
            raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from None
        self._raw = os.fdopen(descriptor, "wb")
        self._packed = gzip.GzipFile(filename="", mode="wb", fileobj=self._raw, mtime=0)
        self._put({"form": _FORM, **about})

    def add(self, view: View) -> None:
        self._put(view)
        self.lines += 1

    def finish(self) -> View:
        """How many lines there are besides the first and the last, and how all before the last hash."""
        end = {"lines": self.lines, "sha256": self._hash.hexdigest()}
        self._put({"end": end})
        self._packed.close()
        self._raw.flush()
        os.fsync(self._raw.fileno())
        self._raw.close()
        self._part.rename(self._path)
        _sync(self._path.parent)
        return {"file": self._path.name, **end}

    def drop(self) -> None:
        """It could not be finished: nobody shall take it for one that was."""
        with suppress(OSError, ValueError):
            self._packed.close()
        self._raw.close()
        self._part.unlink(missing_ok=True)

    def _put(self, value: View) -> None:
        line = msgspec.json.encode(value) + b"\n"
        self._packed.write(line)
        self._hash.update(line)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class NotWhole(Exception):
    """The message says what is wrong."""


def check(path: Path) -> View:
    """What the file says of itself, if it is whole. May raise NotWhole."""
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
        raise NotWhole(f"it cannot be read to its end ({error})") from None
    if about.pop("form", None) != _FORM:
        raise NotWhole("it is not a file of the archive")
    if not isinstance(end, dict):
        raise NotWhole("its last line is missing")
    if end != {"lines": lines - 1, "sha256": hashed.hexdigest()}:
        raise NotWhole("it was changed: its lines are not those that its last line counts and hashes")
    return {"file": path.name, **about, **end}


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path, "rb") as packed:
        yield from packed


def _object(line: bytes) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    return found
