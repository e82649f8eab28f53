"""Processes of the service that start quickly: forks of a process that has imported the service already.

A new interpreter needs more than half a second of a core to import the service, and the tests start hundreds
of processes. So there is a fork server (see `fork_server.py`), which imports it once. A forked process has
its own folder, environment, streams, signals and exit code. Tests of the start itself use a new interpreter.
For workers see `forked_worker.py`, and for the demo's console `forked_console.py`.
"""

import atexit
import contextlib
import json
import os
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import IO, Protocol

from .forked_command import SERVER

NUMBER = struct.Struct("=i")
CHECKOUT = Path(__file__).resolve().parents[2]
_STDERR = 2
_PROGRAMS = {"bullion": "bullion", "bullion-client": "bullion_client.cli"}
"""The module that each of our programs runs."""


class Process(Protocol):
    """As much of `subprocess.Popen` as the tests use."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int, /) -> None: ...
    def kill(self) -> None: ...


@dataclass(frozen=True)
class StartRequest:
    """Asks the fork server for `python -m <module> <arguments>` in a folder, with this environment."""

    module: str
    arguments: Sequence[str]
    folder: str
    environment: Mapping[str, str]

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, message: bytes) -> "StartRequest":
        return cls(**json.loads(message))


class ForkedProcess:
    """A child of the fork server, with the interface of `subprocess.Popen`."""

    def __init__(self, request: StartRequest, stdin: int, stdout: int, stderr: int) -> None:
        self._reports, theirs = socket.socketpair()
        self._lock = threading.Lock()
        self._code: int | None = None
        with theirs:
            # The socket keeps messages apart, so any number of threads may send at once.
            socket.send_fds(fork_server(), [request.encode()], [stdin, stdout, stderr, theirs.fileno()])
        self.pid = self._number()

    @property
    def returncode(self) -> int | None:
        return self._code

    def poll(self) -> int | None:
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        ends_at = None if timeout is None else time.monotonic() + timeout
        while (code := self._look(None if ends_at is None else max(0.0, ends_at - time.monotonic()))) is None:
            if ends_at is not None and time.monotonic() >= ends_at:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return code

    def send_signal(self, sig: int, /) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # It has just ended.
                os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _look(self, within_s: float | None) -> int | None:
        with self._lock:
            if self._code is None:
                self._reports.settimeout(within_s)
                with contextlib.suppress(TimeoutError, BlockingIOError):
                    self._code = os.waitstatus_to_exitcode(self._number())
                    self._reports.close()
        return self._code

    def _number(self) -> int:
        message = self._reports.recv(NUMBER.size)
        assert message, "the fork server has ended"
        number: int = NUMBER.unpack(message)[0]
        return number


def fork_server() -> socket.socket:
    """Where requests are sent. Workers that are forked after the first call share one server."""
    return _running_fork_server()[0]


@cache
def _running_fork_server() -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fork_server", str(theirs.fileno())],
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )

    atexit.register(end_fork_server)
    return ours, process


def end_fork_server() -> None:
    """A forked worker calls this too, or it complains of what it has inherited."""
    if _running_fork_server.cache_info().currsize:
        requests, process = _running_fork_server()
        requests.close()
        process.wait(timeout=10)


@contextlib.contextmanager
def forked_programs() -> Iterator[tuple[str, int, dict[str, str]]]:
    """For a shell: a folder with our programs for its PATH, a descriptor for it to inherit, and variables."""
    descriptor = fork_server().fileno()
    script = Path(__file__).with_name("forked_command.py")
    with tempfile.TemporaryDirectory() as folder:
        for name, module in _PROGRAMS.items():
            program = Path(folder) / name
            command = shlex.join([sys.executable, "-SE", str(script), module])
            program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
            program.chmod(0o755)
        yield folder, descriptor, {SERVER: str(descriptor)}


def start(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], stdout: IO[bytes], stderr: IO[bytes]
) -> Process:
    """Start `bullion <words>` with these streams, as `subprocess.Popen` would do it."""
    with Path(os.devnull).open("rb") as nothing:
        request = StartRequest("bullion", words, str(folder), environment)
        return ForkedProcess(request, nothing.fileno(), stdout.fileno(), stderr.fileno())


def serving(
    module: str, folder: Path, environment: Mapping[str, str], command: str = "serve"
) -> tuple[Process, IO[str]]:
    """Start a command that serves, and return it with the stream of its log."""
    reading, writing = os.pipe()
    with Path(os.devnull).open("r+b") as nothing:
        request = StartRequest(module, [command], str(folder), environment)
        process = ForkedProcess(request, nothing.fileno(), nothing.fileno(), writing)
    os.close(writing)
    return process, os.fdopen(reading, encoding="utf-8")


def printing(module: str, words: Sequence[str], environment: Mapping[str, str]) -> tuple[Process, IO[str]]:
    """Start `python -m <module> <words>` in this folder, and return it with the stream of what it prints."""
    reading, writing = os.pipe()
    with Path(os.devnull).open("rb") as nothing:
        request = StartRequest(module, words, str(Path.cwd()), environment)
        process = ForkedProcess(request, nothing.fileno(), writing, _STDERR)
    os.close(writing)
    return process, os.fdopen(reading, encoding="utf-8")


def run(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    stdin: str = "",
    timeout_s: float = 60,
    module: str = "bullion",
) -> subprocess.CompletedProcess[str]:
    """`python -m <module> <words>` to its end, as `subprocess.run` would do it."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        request = StartRequest(module, words, str(folder), environment)
        process = ForkedProcess(request, given.fileno(), out.fileno(), err.fileno())
        try:
            code = process.wait(timeout_s)
        except BaseException:
            process.kill()
            raise
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode())
    return subprocess.CompletedProcess([module, *words], code, *said)
