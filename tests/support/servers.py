"""Private throw-away PostgreSQL and Redis servers, made of whatever this machine has installed."""

import atexit
import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import NoReturn, Self

import pytest

from .simple_query import QueryFailed, SimpleSession, query

_START_S = 30
_INITDB = ("-A", "trust", "-U", "bullion", "-E", "UTF8", "--no-sync", "--no-locale")
_REDIS = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no")


class NotInstalled(Exception):
    """The machine has no such server."""


def missing(error: NotInstalled, packages: str) -> NoReturn:
    """Without a program its tests are skipped, and counted as that; in CI a missing one is a failure."""
    if os.environ.get("CI"):
        pytest.fail(str(error))
    pytest.skip(f"{error}: on Debian, apt-get install {packages}")


def free_port() -> int:
    """Below the ports of outgoing connections, one of which could take it before the server does."""
    while True:
        port = 15_000 + secrets.randbelow(17_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def new_folder(prefix: str) -> Path:
    """In memory, if that is where the tests keep their files: see MEMORY in the Makefile."""
    return Path(tempfile.mkdtemp(prefix=prefix, dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))


def find(program: str) -> str:
    """PostgreSQL's own programs where Debian keeps them (its wrappers look for a cluster), or on the PATH."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / program).exists():
            return str(folder / program)
    found = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        raise NotInstalled(f"{program} is not installed")
    return found


def _as_nobody() -> tuple[list[str], int | None]:
    """PostgreSQL will not run as root: then as whoever is there for such a purpose, dying with its parent."""
    if os.geteuid() != 0:
        return [], None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
            return [find("setpriv"), *ids, "--"], user.pw_uid
    raise NotInstalled(
        "PostgreSQL will not run as root, and there is no user 'postgres' or 'nobody' to run it as"
    )


def _wait(ready: Callable[[], bool], what: str) -> None:
    give_up_at = time.monotonic() + _START_S
    while not ready():
        if time.monotonic() > give_up_at:
            raise AssertionError(f"{what} did not start within {_START_S} s")
        time.sleep(0.02)


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def wait_for_port(port: int, what: str) -> None:
    _wait(lambda: _answers(port), what)


def _run_in(folder: Path, command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, cwd=folder)


@cache
def _made_cluster() -> Path:
    """The files of a server that was never started, for each server to copy: initdb takes far longer."""
    folder = new_folder("bullion-pg-made-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    prefix, uid = _as_nobody()
    if uid is not None:
        os.chown(folder, uid, -1)
    _run_in(folder, [*prefix, find("initdb"), "-D", f"{folder}/data", *_INITDB])
    return folder / "data"


@dataclass
class Postgres:
    """A server of the tests' own. Each test gets a database of its own on it."""

    folder: Path = field(default_factory=lambda: new_folder("bullion-pg-"))
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    durable: bool = False
    """Whether a commit outlasts the machine too, as where time is measured."""
    sockets: bool = False
    """Whether it also listens on a socket in its folder."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _session: SimpleSession | None = None
    """For making and dropping databases: a new session takes 4 ms of a core."""

    def make(self) -> Self:
        prefix, uid = _as_nobody()
        if uid is not None:
            os.chown(self.folder, uid, -1)
        _run_in(self.folder, [*prefix, find("cp"), "-a", f"{_made_cluster()}", f"{self.folder}/data"])
        return self.start()

    def start(self) -> Self:
        prefix, _ = _as_nobody()
        options = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self.folder) if self.sockets else "",
            "max_connections": 200,
            "shared_buffers": "64MB",
        }
        if not self.durable:
            # Whatever process ends, what is committed stays; and no test switches the machine off.
            options |= {"fsync": "off", "full_page_writes": "off", "max_wal_size": "256MB"}
        arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*prefix, find("postgres"), "-D", f"{self.folder}/data", *arguments],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        _wait(self._ready, "PostgreSQL")
        return self

    def _ready(self) -> bool:
        with contextlib.suppress(OSError, QueryFailed):
            return bool(query(self.port, "postgres", "SELECT 1"))
        return False

    def stop(self, number: int = signal.SIGINT) -> None:
        """SIGINT is PostgreSQL's fast stop: sessions are cut, nothing committed is lost."""
        self.end_session()
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(timeout=_START_S)

    def end_session(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_database(self, template: str = "template1") -> str:
        """The address of a new database: empty, unless another template is named."""
        name = f"test{next(self._numbers)}"
        self._on_databases(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return f"postgresql://bullion@127.0.0.1:{self.port}/{name}"

    def drop(self, address: str) -> None:
        """A server that keeps hundreds of databases is slow: it looks after each of them every minute."""
        self._on_databases(f"DROP DATABASE {address.rpartition('/')[2]} WITH (FORCE)")

    def _on_databases(self, statement: str) -> None:
        if self._session is not None and not self._session.is_open():
            self.end_session()
        if self._session is None:
            self._session = SimpleSession(self.port, "postgres")
        self._session.query(statement)

    def sql(self, statement: str, database: str = "postgres") -> str:
        """A line for each row, its values separated by `|`."""
        return "\n".join("|".join(row) for row in query(self.port, database, statement)).strip()


@dataclass
class Redis:
    port: int = field(default_factory=free_port)
    folder: Path = field(default_factory=lambda: new_folder("bullion-redis-"))
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> Self:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [find("redis-server"), *_REDIS, "--port", str(self.port), "--dir", str(self.folder)],
                stdout=log,
                stderr=log,
            )
        wait_for_port(self.port, "Redis")
        return self

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(timeout=_START_S)

    def remove(self) -> None:
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, *words: str) -> str:
        """One command over a connection of its own, spelled out: no client library is between us and it."""
        request = b"".join(
            [b"*%d\r\n" % len(words), *(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words)]
        )
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as link:
            link.sendall(request)
            return link.recv(65536).decode()
