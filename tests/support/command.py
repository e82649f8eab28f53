"""The command line as a person meets it: `bullion …` in a folder, with these settings and no others."""

import os
import subprocess
import sys
from pathlib import Path

from .forked_process import run

PROGRAM = (sys.executable, "-m", "bullion")
"""In an interpreter of its own."""


def environment(**settings: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BULLION_")}
    return kept | settings


def bullion(folder: Path, *words: str, stdin: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a forked process: see `forked_process.py`."""
    return run(words, folder, environment(**settings), stdin)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """What a command that could not do its work said: one line, no traceback, exit code 2."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("bullion: ")
    assert lines[0].endswith((".", "?")), lines[0]
    return lines[0].removeprefix("bullion: ")
