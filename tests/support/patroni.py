"""Two PostgreSQL servers that Patroni runs, with etcd: when the primary fails, the standby is promoted."""

import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import yaml

from tests.docs.markdown import ROOT

from .node import until
from .processes import children
from .servers import Postgres, _as_nobody, find, free_port, new_folder, wait_for_port
from .shown import shown
from .simple_query import QueryFailed

_PAGE = ROOT / "docs/failover.md"
_SHORT = {"ttl": 5, "loop_wait": 1, "retry_timeout": 2}
"""So that the test is short. A standby is promoted when the primary has not renewed its lease for `ttl`."""
_PARAMETERS = {"shared_buffers": "64MB", "fsync": "off", "unix_socket_directories": ""}
_HBA = ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
_LOGIN = {"username": "bullion"}
_LOGGED = 40
"""Lines of a log."""


@dataclass
class Member:
    """One PostgreSQL server and its Patroni."""

    name: str
    folder: Path
    etcd_port: int
    server: Postgres = field(init=False)
    api_port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.server = Postgres(folder=self.folder)

    @property
    def configuration(self) -> Path:
        return self.folder / "patroni.yml"

    def start(self) -> None:
        """Start Patroni, which starts PostgreSQL as it should be now: primary, or standby of the other."""
        prefix, uid = _as_nobody()
        if uid is not None:
            os.chown(self.folder, uid, -1)
        self.configuration.write_text(yaml.safe_dump(self._configuration()), "utf-8")
        with (self.folder / "patroni.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*prefix, find("patroni"), str(self.configuration)], stdout=log, stderr=log, cwd=self.folder
            )

    def _configuration(self) -> dict[str, Any]:
        """As the documentation shows it, with other addresses, users and times."""
        made: dict[str, Any] = yaml.safe_load(shown(_PAGE, "# /etc/patroni/bullion.yml"))
        api, address = f"127.0.0.1:{self.api_port}", f"127.0.0.1:{self.server.port}"
        made |= {"name": self.name, "restapi": {"listen": api, "connect_address": api}}
        made["etcd3"]["hosts"] = f"127.0.0.1:{self.etcd_port}"
        made["watchdog"]["mode"] = "off"
        made["bootstrap"]["dcs"] |= _SHORT
        made["bootstrap"]["dcs"]["postgresql"]["parameters"] |= _PARAMETERS
        made["bootstrap"]["initdb"] += ["no-locale", "no-sync"]
        made["postgresql"] |= {
            "listen": address,
            "connect_address": address,
            "data_dir": str(self.folder / "data"),
            "bin_dir": str(Path(find("postgres")).parent),
            "pgpass": str(self.folder / "pgpass"),
            "authentication": {"superuser": _LOGIN, "replication": _LOGIN, "rewind": _LOGIN},
            "pg_hba": _HBA,
            "basebackup": [{"checkpoint": "fast"}, "no-sync"],
        }
        return made

    def is_in(self, role: str) -> bool:
        """Whether it says so: `primary`, or `synchronous` for a standby that every commit waits for."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.api_port}/{role}", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def accepts_writes(self) -> bool:
        try:
            return self.server.sql("SHOW transaction_read_only") == "off"
        except (QueryFailed, OSError):
            return False

    def signal(self, number: int) -> None:
        """To Patroni and PostgreSQL, all of their processes."""
        for pid in self._pids():
            os.kill(pid, number)
        if number == signal.SIGKILL and self.process is not None:
            self.process.wait(timeout=30)

    def wake(self) -> None:
        """Let PostgreSQL go on after SIGSTOP, with a new Patroni.

        One of version 3.0.2, as Debian 12 has it, that wakes up may overwrite the lease of the new primary.
        """
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=30)
        self.signal(signal.SIGCONT)
        self.start()

    def _pids(self) -> Iterator[int]:
        if self.process is not None and self.process.poll() is None:
            yield self.process.pid
            yield from children(self.process.pid)
        # Patroni's child starts PostgreSQL and ends, so PostgreSQL is nobody's child.
        started = self.folder / "data" / "postmaster.pid"
        if started.exists():
            postmaster = int(started.read_text("utf-8").split()[0])
            if Path(f"/proc/{postmaster}").exists():
                yield from (postmaster, *children(postmaster))


@dataclass
class PatroniCluster:
    folder: Path = field(default_factory=lambda: new_folder("bullion-patroni-"))
    etcd_port: int = field(default_factory=free_port)
    etcd: subprocess.Popen[bytes] | None = None
    members: list[Member] = field(default_factory=list)

    def start(self) -> Self:
        self.folder.chmod(0o755)
        self._start_etcd()
        for name in ("one", "two"):
            (self.folder / name).mkdir()
            self.members.append(Member(name, self.folder / name, self.etcd_port))
        first, second = self.members
        first.start()
        until(lambda: first.is_in("primary"), within_s=60)
        second.start()
        until(lambda: second.is_in("synchronous"), within_s=60)
        return self

    def _start_etcd(self) -> None:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.etcd_port, free_port()))
        words = ["--data-dir", f"{self.folder}/etcd", "--listen-client-urls", client]
        words += ["--advertise-client-urls", client, "--listen-peer-urls", peer]
        words += ["--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]
        with (self.folder / "etcd.log").open("ab") as log:
            self.etcd = subprocess.Popen([find("etcd"), *words], stdout=log, stderr=log)
        wait_for_port(self.etcd_port, "etcd")

    def new_database(self) -> str:
        """An address that names both servers, the primary first."""
        primary, standby = self.members
        alone = primary.server.new_database()
        return alone.replace("/test", f",127.0.0.1:{standby.server.port}/test")

    def listed(self) -> str:
        """What patronictl says of the members."""
        command = [find("patronictl"), "-c", str(self.members[0].configuration), "list"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def state(self) -> str:
        """Who accepts writes, and what each Patroni logged last: for a test that fails."""
        lines = []
        for member in self.members:
            lines.append(f"{member.name} accepts writes: {member.accepts_writes()}")
            lines += (member.folder / "patroni.log").read_text("utf-8").splitlines()[-_LOGGED:]
        return "\n".join(lines)

    def remove(self) -> None:
        for member in self.members:
            for number in (signal.SIGKILL, signal.SIGCONT):
                member.signal(number)
            member.server.end_session()
        if self.etcd is not None:
            self.etcd.kill()
            self.etcd.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)
