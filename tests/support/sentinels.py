"""A Redis master with a replica, and three Redis sentinels that replace the master when it fails."""

import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.docs.markdown import ROOT

from .node import until
from .servers import find, free_port, new_folder, wait_for_port
from .shown import shown

SERVICE = "budgets"
PASSWORD = "of-the/servers@1"
SENTINEL_PASSWORD = "of-the&sentinels"
_SERVER = """
bind 127.0.0.1
port {port}
dir {folder}
save ""
appendonly no
requirepass {password}
masterauth {password}
repl-diskless-sync-delay 0
"""
_PAGE = ROOT / "docs/failover.md"


@dataclass
class SentinelGroup:
    folder: Path = field(default_factory=lambda: new_folder("bullion-sentinel-"))
    ports: list[int] = field(default_factory=lambda: [free_port(), free_port()])
    """Of the two servers. The first begins as the master."""
    sentinel_ports: list[int] = field(default_factory=lambda: [free_port() for _ in range(3)])
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.sentinel_ports)
        options = "sentinel_password=of-the%26sentinels"
        return f"redis+sentinel://:of-the%2Fservers%401@{hosts}/{SERVICE}/3?{options}"

    def start(self) -> Self:
        self.start_server(self.ports[0])
        self.start_server(self.ports[1], "--replicaof", "127.0.0.1", str(self.ports[0]))
        until(lambda: "master_link_status:up" in self.command(self.ports[1], "INFO", "replication"), 20)
        for port in self.sentinel_ports:
            text = shown(
                _PAGE,
                "port 26379",
                port=str(port),
                requirepass=SENTINEL_PASSWORD,
                sentinel_sentinel_pass=SENTINEL_PASSWORD,
                sentinel_monitor=f"{SERVICE} 127.0.0.1 {self.ports[0]} 2",
                sentinel_auth_pass=f"{SERVICE} {PASSWORD}",
            )
            text += f"\nbind 127.0.0.1\ndir {self.folder}\n"
            self._launch(port, text, "--sentinel")
        # Each has to know the replica and the two others before it can replace the master.
        until(lambda: all(self._knows_all(port) for port in self.sentinel_ports), 30)
        return self

    def start_server(self, port: int, *options: str) -> None:
        text = _SERVER.format(port=port, folder=self.folder, password=PASSWORD)
        self._launch(port, text, *options)

    def end(self, port: int, number: int = signal.SIGKILL) -> None:
        self.processes[port].send_signal(number)
        self.processes[port].wait(timeout=30)

    def remove(self) -> None:
        for port, process in self.processes.items():
            if process.poll() is None:
                self.end(port)
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, port: int, *words: str) -> str:
        password = SENTINEL_PASSWORD if port in self.sentinel_ports else PASSWORD
        done = subprocess.run(
            [find("redis-cli"), "-p", str(port), "--no-auth-warning", "-a", password, *words],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        return done.stdout.strip()

    def role(self, port: int) -> str:
        return self.command(port, "ROLE").partition("\n")[0]

    def master(self) -> int:
        """The port of the master, by the first sentinel."""
        named = self.command(self.sentinel_ports[0], "SENTINEL", "get-master-addr-by-name", SERVICE)
        return int(named.split()[-1])

    def _knows_all(self, port: int) -> bool:
        said = self.command(port, "SENTINEL", "master", SERVICE).split()
        known = dict(zip(said[::2], said[1::2], strict=False))
        return known.get("num-slaves") == "1" and known.get("num-other-sentinels") == "2"

    def _launch(self, port: int, text: str, *options: str) -> None:
        configuration = self.folder / f"{port}.conf"
        configuration.write_text(text, "utf-8")
        with (self.folder / f"{port}.log").open("ab") as log:
            self.processes[port] = subprocess.Popen(
                [find("redis-server"), str(configuration), *options], stdout=log, stderr=log
            )
        wait_for_port(port, "Redis")
