"""Makes sure that the tests have a PostgreSQL, a Redis and a browser to start, or says what is missing.

On Debian as root it installs them. Elsewhere the tests that need them are skipped and counted as skipped;
where CI is set, a missing program is a failure.
"""

import os
import shutil
import subprocess
import sys

from tests.support.servers import NotInstalled, find

_NEEDED = {"postgres": "postgresql", "redis-server": "redis-server", "chromium": "chromium"}


def missing() -> list[str]:
    """The Debian packages of the programs that are not here."""
    packages = []
    for program, package in _NEEDED.items():
        try:
            find(program)
        except NotInstalled:
            packages.append(package)
    return packages


def install(packages: list[str]) -> None:
    print(f"Installing {' and '.join(packages)} for the tests (apt-get).")
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        subprocess.run(["/usr/bin/apt-get", "--quiet", "--quiet", *command], env=quiet, check=True)


def main() -> int:
    packages = missing()
    if packages and os.geteuid() == 0 and shutil.which("apt-get"):
        install(packages)
        packages = missing()
    if not packages:
        return 0
    names = " and ".join(packages)
    if os.environ.get("CI"):
        print(f"Missing: {names}. The tests cannot pass without, and could not install it here.")
        return 1
    print(f"Missing: {names}. The tests that need it will be skipped. On Debian: apt-get install {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
