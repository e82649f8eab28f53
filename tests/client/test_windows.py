"""The journal where the system is Windows, which is simulated: its locks, open files and missing calls."""

import ast
import errno
import fcntl
import os
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import bullion_client
from bullion_client import Environment, Journal, file_lock
from tests.client.calls import INTENT

FOLDER = Path(bullion_client.__file__).parent
O_BINARY = os.O_CLOEXEC  # Any flag that changes nothing here.
LOCKS_HELD_FOR_LONG = 3
"""So often `LK_LOCK` gives up at first, as it does after ten seconds."""


class SimulatedMsvcrt:
    """`msvcrt.locking` made from locks of an open file, which keep out other threads and processes alike."""

    LK_UNLCK, LK_LOCK = 0, 1

    def __init__(self) -> None:
        self.gave_up = 0
        self.held = 0

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        kind = fcntl.F_UNLCK if mode == self.LK_UNLCK else fcntl.F_WRLCK
        if mode == self.LK_LOCK and self.gave_up < LOCKS_HELD_FOR_LONG:
            self.gave_up += 1
            raise OSError(errno.EDEADLOCK, "Resource deadlock avoided")
        if mode == self.LK_UNLCK:
            self.held -= 1
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
        fcntl.fcntl(
            descriptor, fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", kind, os.SEEK_SET, start, count, 0)
        )
        if mode == self.LK_LOCK:
            self.held += 1
        assert self.held in (0, 1), "two have the lock"


def _open_files() -> Iterator[Path]:
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # It was closed in between.
            yield descriptor.readlink()


@pytest.fixture
def msvcrt(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedMsvcrt]:
    """A system without `fcntl`, that opens no folders, and replaces no file that somebody has open."""
    simulated = SimulatedMsvcrt()
    open_file, replace_file = os.open, Path.replace

    def open_no_folder(path: Path, flags: int, mode: int = 0o777) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        assert flags & O_BINARY, "line ends would be changed"
        return open_file(path, flags, mode)

    def replace_no_open_file(self: Path, target: Path) -> Path:
        if {self.resolve(), target.resolve()} & set(_open_files()):
            raise PermissionError(errno.EACCES, "The file is used by another process", str(target))
        return replace_file(self, target)

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", simulated)
    seen = {"open": open_no_folder, "O_BINARY": O_BINARY}
    names = {name: value for name, value in vars(os).items() if not name.startswith("_")}
    monkeypatch.setattr(file_lock, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(file_lock, "os", SimpleNamespace(**names | seen))
    monkeypatch.setattr(Path, "replace", replace_no_open_file)
    yield simulated
    assert simulated.held == 0


def test_the_simulation_has_no_fcntl(msvcrt: SimulatedMsvcrt) -> None:
    with pytest.raises(ImportError):
        __import__("fcntl")
    assert sys.modules["msvcrt"].locking == msvcrt.locking


def test_an_order_is_kept_and_settled(msvcrt: SimulatedMsvcrt, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "orders.journal")
    journal.bind(Environment.TEST, "aurum")
    journal.note(INTENT)
    assert [intent.idempotency_key for intent in Journal(journal.path).unsettled()] == ["k-1"]
    journal.settle(INTENT, outcome="order", order_id="1")
    assert journal.unsettled() == ()
    assert msvcrt.gave_up == LOCKS_HELD_FOR_LONG
    assert b"\r" not in journal.path.read_bytes()


def test_a_lock_that_fails_for_another_reason_is_told(
    msvcrt: SimulatedMsvcrt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(msvcrt, "locking", fail)
    with pytest.raises(OSError, match="Bad file descriptor"):
        Journal(tmp_path / "orders.journal").note(INTENT)


def test_threads_append_to_one_file_while_it_is_compacted(msvcrt: SimulatedMsvcrt, tmp_path: Path) -> None:
    path = tmp_path / "orders.journal"
    Journal(path).bind(Environment.TEST, "aurum")
    failures: list[BaseException] = []

    def work(number: int) -> None:
        own = Journal(path)
        own._compacted_from = 1  # Each settled order makes the file anew.
        try:
            for turn in range(5):
                kept, done = (
                    replace(INTENT, idempotency_key=f"{kind}-{number}-{turn}") for kind in ("kept", "done")
                )
                own.note(kept)
                own.note(done)
                own.settle(done, outcome="order", order_id="1")
                own._compacted_from = 1
        except BaseException as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    found = sorted(intent.idempotency_key for intent in Journal(path).unsettled())
    assert found == sorted(f"kept-{number}-{turn}" for number in range(3) for turn in range(5))


def test_no_module_imports_what_windows_does_not_have() -> None:
    """`fcntl` is imported in one place, when a file is locked; the others of its kind nowhere."""
    absent = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
    found = []
    for path in sorted(FOLDER.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        inside = {id(node) for function in functions for node in ast.walk(function)}
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [(path.name, name, id(node) in inside) for name in names if name in absent]
    assert found == [("file_lock.py", "fcntl", True)]
