"""A real systemd for tests: the first process of namespaces of its own, over a throw-away copy of all files.

It needs root and Linux's namespaces. Where it cannot run, its tests are skipped with the reason.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.node import until

_SCRIPT = Path(__file__).with_name("systemd.sh")
_SYSTEMD = Path("/lib/systemd/systemd")
_PROGRAMS = ("unshare", "nsenter", "systemctl")
_START_S = 60
_COMMAND_S = 120


class CannotRun(Exception):
    """The text says why there is no systemd here."""


class Systemd:
    def __init__(self, pid: int, folder: Path) -> None:
        self._pid = pid
        self.out = folder
        """Units write here, to `/run/out`."""

    def run(
        self, *words: str, check: bool = True, outside: bool = False, timeout_s: float = _COMMAND_S
    ) -> subprocess.CompletedProcess[str]:
        """A command among the processes and files of this systemd. `outside`: on the machine's network."""
        namespaces = ["--mount", "--pid", "--ipc", "--uts", "--cgroup", *([] if outside else ["--net"])]
        command = ["nsenter", f"--target={self._pid}", *namespaces, "--", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
        assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}\n{self.log()}"
        return done

    def show(self, unit: str, name: str) -> str:
        return self.run("systemctl", "show", "--value", f"--property={name}", unit).stdout.strip()

    def log(self) -> str:
        return "\n".join(file.read_text("utf-8", "replace") for file in sorted(self.out.glob("*.log")))


@contextmanager
def running_systemd(folder: Path, files: Path, *, own_network: bool = False) -> Iterator[Systemd]:
    """`files` is added to the files of this machine. Raise `CannotRun` where it cannot be started.

    `own_network`: with a loopback interface of its own and no other, so every port is free.
    """
    if os.geteuid() != 0:
        raise CannotRun("only root can start one")
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if missing or not _SYSTEMD.exists():
        raise CannotRun("it is not installed")
    (files / "etc/systemd/system").mkdir(parents=True, exist_ok=True)
    (files / "etc/systemd/system/tests.target").write_text("[Unit]\nDescription=Tests\n")
    folder.mkdir()
    group = _control_group()
    try:
        with (folder / "systemd.log").open("wb") as log:
            process = _start(group, folder, files, log.fileno(), own_network=own_network)
        try:
            yield Systemd(_first_process(process, folder), folder)
        finally:
            process.kill()  # Its first process, and so all of them, end with it.
            process.wait()
    finally:
        _remove(group)


def _start(group: Path, folder: Path, files: Path, log: int, *, own_network: bool) -> subprocess.Popen[bytes]:
    namespaces = ["--cgroup", "--mount", "--pid", "--ipc", "--uts", "--propagation", "private"]
    namespaces += ["--net"] if own_network else []
    inner = ["unshare", *namespaces, "--fork", "--kill-child", "sh", str(_SCRIPT), str(folder), str(files)]
    # In its group first, which becomes the root of those that systemd sees.
    joined = ["sh", "-c", 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"', "sh", str(group), *inner]
    return subprocess.Popen(joined, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def _first_process(process: subprocess.Popen[bytes], folder: Path) -> int:
    """Wait until systemd answers. Return its number as this machine counts."""
    give_up_at = time.monotonic() + _START_S
    while process.poll() is None and time.monotonic() < give_up_at:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for child in children:
            with suppress(OSError):
                started = Path(f"/proc/{child}/comm").read_text().strip() == "systemd"
                found = Systemd(int(child), folder)
                if (
                    started
                    and found.run("systemctl", "is-active", "tests.target", check=False).returncode == 0
                ):
                    return int(child)
        time.sleep(0.1)
    raise CannotRun((folder / "systemd.log").read_text("utf-8", "replace").strip() or "it says nothing")


def _control_group() -> Path:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2":
            group = Path(place) / f"bullion-tests-{os.getpid()}"
            try:
                group.mkdir()
            except OSError as error:
                raise CannotRun(f"no control group can be made ({error.strerror})") from error
            return group
    raise CannotRun("there are no control groups of version 2")


def _remove(group: Path) -> None:
    def empty() -> bool:
        for folder in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
            with suppress(OSError):
                folder.rmdir()
        with suppress(OSError):
            group.rmdir()
        return not group.exists()

    until(empty, within_s=20)
