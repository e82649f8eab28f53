"""Asks a server again and again whether it is alive, from a process of its own, and tells how long that took.

A process of its own: what the test does meanwhile must not count as the server's delay. `python -m
tests.support.probe <host:port>` asks until its standard input ends, then prints the times as JSON.
"""

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from .forked_process import CHECKOUT

_PAUSE_S = 0.005


@contextmanager
def probing(url: str) -> Iterator[list[float]]:
    """The seconds that each answer took, filled in at the end of the block."""
    taken_s: list[float] = []
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.probe", urlsplit(url).netloc],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield taken_s
        finally:
            taken_s += json.loads(process.communicate()[0])


def _ask(netloc: str) -> list[float]:
    ended = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    line = http.client.HTTPConnection(netloc, timeout=60)
    line.connect()
    print("ready", flush=True)
    taken_s = []
    while not ended.is_set():
        began_s = time.monotonic()
        line.request("GET", "/health/live")
        line.getresponse().read()
        taken_s.append(time.monotonic() - began_s)
        time.sleep(_PAUSE_S)
    line.close()
    return taken_s


if __name__ == "__main__":
    print(json.dumps(_ask(sys.argv[1])))
