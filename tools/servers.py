"""Makes sure that the tests have the programs that they start, such as PostgreSQL, or says what is missing.

On Debian as root it installs them. Elsewhere the tests that need them are skipped and counted as skipped;
where CI is set, a missing program is a failure.
"""

import os
import shutil
import subprocess
import sys
import time

from tests.support.servers import NotInstalled, find

_NEEDED = {
    "postgres": "postgresql",
    "redis-server": "redis-server",
    "chromium-headless-shell": "chromium-headless-shell",
    "pgbackrest": "pgbackrest",
    "nginx": "nginx",
    "haproxy": "haproxy",
    "prometheus": "prometheus",
    "patroni": "patroni",
    "etcd": "etcd-server",
    "prometheus-node-exporter": "prometheus-node-exporter",
    "logrotate": "logrotate",
}
_LOCK_WAIT_S = 600.0
_LOOK_AGAIN_S = 2.0


class CannotInstall(Exception):
    """apt-get did not do its work; the text says why."""


def missing() -> list[str]:
    """The Debian packages of the programs that are not here."""
    packages = []
    for program, package in _NEEDED.items():
        try:
            find(program)
        except NotInstalled:
            packages.append(package)
    return packages


def install(program: str, packages: list[str]) -> None:
    """Install packages with apt-get, whose path is given. Raise `CannotInstall` if that fails."""
    print(f"Installing {' and '.join(packages)} for the tests (apt-get).", flush=True)
    apt_get(program, "update")
    apt_get(program, "install", "--yes", "--no-install-recommends", *packages)


def apt_get(program: str, *words: str) -> None:
    """Run apt-get, after any other program that uses the package manager.

    apt's own `DPkg::Lock::Timeout` is not used: `apt-get update` takes another lock, which it does not cover.
    """
    # In English, because its messages are read here.
    settings = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    give_up_at = time.monotonic() + _LOCK_WAIT_S
    waiting = False
    while True:
        command = [program, "--quiet", "--quiet", *words]
        done = subprocess.run(command, env=settings, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0:
            return
        reason = _reason(done)
        if "Could not get lock" not in done.stderr or time.monotonic() > give_up_at:
            raise CannotInstall(reason)
        if not waiting:
            minutes = round(_LOCK_WAIT_S / 60)
            told = "Another program is using the package manager"
            print(f"{told}: {reason}. Waiting for it, up to {minutes} minutes.", flush=True)
            waiting = True
        time.sleep(_LOOK_AGAIN_S)


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """The first error that apt-get tells, or the last thing it said."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("E: ") for line in lines if line.startswith("E: ")]
    told = (errors[:1] or lines[-1:] or [f"apt-get ended with exit code {done.returncode}"])[0]
    return told.rstrip(".")


def main() -> int:
    packages = missing()
    program = shutil.which("apt-get")
    why_not = ""
    if packages and os.geteuid() == 0 and program is not None:
        try:
            install(program, packages)
        except CannotInstall as reason:
            why_not = f" It could not be installed: {reason}."
        packages = missing()
    if not packages:
        return 0
    names = " and ".join(packages)
    if os.environ.get("CI"):
        print(f"Missing: {names}.{why_not} The tests cannot pass without it.")
        return 1
    skipped = "The tests that need it will be skipped."
    print(f"Missing: {names}.{why_not} {skipped} On Debian: apt-get install {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
