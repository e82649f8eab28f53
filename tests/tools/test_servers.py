"""What `make test` does about a missing server: it installs it, after others, or says why not."""

import fcntl
import os
import shutil
import stat
import time
from pathlib import Path

import pytest

from tools import servers

LOCKED = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (apt-get)"
PROGRAM = "bullion-test-no-such-server"
PACKAGE = "no-such-server"


class Machine:
    """A machine without the server, whose apt-get does what the test says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pauses = 0

    def apt_get(self, script: str) -> None:
        self._write("apt-get", f'echo "$*" >> {self.folder}/calls\n{script}')

    def installing(self) -> str:
        """The words of a script that leaves the program behind."""
        return f"cp {self.folder}/apt-get {self.folder}/{PROGRAM}"

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text("utf-8").splitlines()

    def _write(self, name: str, script: str) -> None:
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("CI", "")
    monkeypatch.setattr(servers, "_NEEDED", {PROGRAM: PACKAGE})
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    def pause(_seconds: float) -> None:
        machine.pauses += 1

    monkeypatch.setattr(time, "sleep", pause)
    return machine


def said(capfd: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capfd.readouterr()
    assert err == ""
    return out.splitlines()


def test_what_is_missing_is_installed(machine: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    machine.apt_get(f'case "$*" in *install*) {machine.installing()};; esac')
    assert servers.main() == 0
    assert said(capfd) == [f"Installing {PACKAGE} for the tests (apt-get)."]
    update, install = machine.calls
    assert update.endswith("update")
    assert install.endswith(f"install --yes --no-install-recommends {PACKAGE}")


@pytest.mark.parametrize("call", ["update", "install"])
def test_another_programs_lock_is_waited_for(
    machine: Machine, capfd: pytest.CaptureFixture[str], call: str
) -> None:
    machine.apt_get(
        f"""
        tries=$(grep -c {call} {machine.folder}/calls)
        case "$*" in *{call}*) test "$tries" -gt 3 || {{ echo '{LOCKED}' >&2; exit 100; }};; esac
        case "$*" in *install*) {machine.installing()};; esac"""
    )
    assert servers.main() == 0
    _, waiting = said(capfd)
    assert waiting.startswith("Another program is using the package manager: ")
    assert "It is held by process 7 (apt-get)" in waiting
    assert machine.pauses == 3


def test_a_lock_that_stays_is_given_up_in_a_sentence(
    machine: Machine, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "_LOCK_WAIT_S", 0.2)
    machine.apt_get(f"echo '{LOCKED}' >&2; exit 100")
    assert servers.main() == 0
    *_, last = said(capfd)
    assert last.startswith(f"Missing: {PACKAGE}. It could not be installed: ")
    assert "Could not get lock /var/lib/dpkg/lock-frontend" in last
    assert last.endswith(f"The tests that need it will be skipped. On Debian: apt-get install {PACKAGE}")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'E: Unable to locate package x' >&2; exit 100", "Unable to locate package x"),
        ("echo 'W: old' >&2; echo 'E: Failed to fetch' >&2; exit 100", "Failed to fetch"),
        ("echo 'out of memory' >&2; exit 137", "out of memory"),
        ("exit 100", "apt-get ended with exit code 100"),
        ("kill -9 $$", "apt-get ended with exit code -9"),
    ],
)
def test_what_cannot_be_installed_is_said_in_a_sentence(
    machine: Machine, capfd: pytest.CaptureFixture[str], script: str, reason: str
) -> None:
    machine.apt_get(script)
    assert servers.main() == 0
    _, last = said(capfd)
    assert f"It could not be installed: {reason}." in last
    assert machine.pauses == 0


def test_where_ci_is_set_it_is_a_failure(
    machine: Machine, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    machine.apt_get("echo 'E: No network' >&2; exit 100")
    assert servers.main() == 1
    *_, last = said(capfd)
    assert (
        last
        == f"Missing: {PACKAGE}. It could not be installed: No network. The tests cannot pass without it."
    )


def test_an_apt_get_that_installs_something_else(machine: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    machine.apt_get("true")
    assert servers.main() == 0
    *_, last = said(capfd)
    assert last.startswith(f"Missing: {PACKAGE}. The tests that need it will be skipped.")


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="for machines with apt-get")
def test_the_lock_of_the_real_apt_get_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """`DPkg::Lock::Timeout` is not enough: apt-get update does not wait for the lock of its lists."""
    for folder in ("lists/partial", "cache/archives/partial", "etc"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "status").touch()
    config = tmp_path / "apt.conf"
    config.write_text(
        f'Dir::State "{tmp_path}"; Dir::State::lists "{tmp_path}/lists";\n'
        f'Dir::State::status "{tmp_path}/status";\n'
        f'Dir::Cache "{tmp_path}/cache"; Dir::Etc "{tmp_path}/etc";\n',
        "utf-8",
    )
    monkeypatch.setenv("APT_CONFIG", str(config))
    apt_get = shutil.which("apt-get")
    assert apt_get is not None
    with (tmp_path / "lists/lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        monkeypatch.setattr(time, "sleep", lambda _: fcntl.lockf(lock, fcntl.LOCK_UN))
        servers.apt_get(apt_get, "update")
    (waiting,) = said(capfd)
    assert str(tmp_path / "lists/lock") in waiting
    assert f"process {os.getpid()}" in waiting
