"""Run pytest. A few tests that failed while others took the processor get one more try, alone.

A second try is for tests that wait for other programs, such as a browser or a failover. A test that looks
for races gets none: it may fail once in a thousand runs, and that is what it is for.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_FILES_AT_MOST = 20
"""Failures in more files than this have a cause other than a machine that was too busy for a few seconds.
Files are counted, not tests: if a node does not start in time, all tests of its file fail."""
_FAILED = 1
"""How pytest ends if tests failed. All higher numbers say that it could not run them."""
_FINDS_RACES = ("tests/kills/", "tests/model/", "races.py::")
_RECORD = Path(".pytest_cache/v/cache/lastfailed")


def _failed_tests() -> list[str]:
    if not _RECORD.exists():
        return []
    return sorted(json.loads(_RECORD.read_bytes()))


def _pytest(arguments: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


def main(arguments: Sequence[str]) -> int:
    _RECORD.unlink(missing_ok=True)
    status = _pytest(arguments)
    failed = _failed_tests()
    files = {name.partition("::")[0] for name in failed}
    if status != _FAILED or not 0 < len(files) <= _FILES_AT_MOST:
        return status
    if any(mark in name for name in failed for mark in _FINDS_RACES):
        return status
    print(f"\nRunning {len(failed)} failed tests once more, with the machine for themselves.", flush=True)
    status = _pytest([*arguments, "--workers", "0", "-v", *failed])
    if status == 0:
        print("They passed. Find out what each of them waited for:", *failed, sep="\n  ")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
