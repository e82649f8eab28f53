"""The same deals by QuickFIX from Python, in a process of its own: see `quickfix_client`."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

AVAILABLE = find_spec("quickfix") is not None
"""There is no wheel of it for some platforms."""


class QuickFixDeals:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def deal(self, times: int) -> tuple[float, list[float]]:
        """CPU microseconds of each on average, and how long each took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(times, file=self._process.stdin, flush=True)
        cpu_us, *took_us = map(float, self._process.stdout.readline().split())
        return cpu_us, took_us


@contextlib.contextmanager
def quickfix_deals(port: int, folder: Path) -> Iterator[QuickFixDeals]:
    command = [sys.executable, "-m", "bench.quickfix_client", str(port), str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield QuickFixDeals(process)
    finally:
        process.kill()  # Its threads may not end by themselves.
        process.communicate()
