"""A real `bullion serve` process on free loopback ports, and the two people who talk to it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any, Self

import httpx

from .forked_process import CHECKOUT, Process, serving
from .loopback_transport import LoopbackTransport
from .migrated_store import copy_migrated

DESK_TOKEN = "first-desk-token-of-the-tests"
SECRET = "the-deployment-secret-of-the-tests"
_addresses = count(os.getpid() % 50_000 * 64 + 1)


def own_address() -> str:
    """A loopback address of its own for each caller, so that throttles of tests do not mix."""
    number = next(_addresses) % (1 << 22)
    return f"127.{1 + (number >> 16)}.{(number >> 8) & 255}.{number & 255}"


def own_transport(address: str | None = None) -> LoopbackTransport:
    """Calls from that address, or from one of its own."""
    return LoopbackTransport(address or own_address())


@dataclass
class Node:
    process: Process
    folder: Path
    api_url: str
    desk_url: str
    log: list[str]
    reader: "_Reader"
    settings: dict[str, str]

    def api(self, key: str | None = None, address: str | None = None, **headers: str) -> httpx.Client:
        """A client's program: its own address, one key."""
        if key is not None:
            headers["X-API-Key"] = key
        transport = own_transport(address)
        return httpx.Client(base_url=self.api_url, headers=headers, transport=transport, timeout=20)

    def desk(self, token: str = DESK_TOKEN) -> "DeskClient":
        return DeskClient(self.desk_url, token)

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=30)
        self.reader.end()
        return code

    def entries(self, event: str) -> list[dict[str, Any]]:
        """The log's entries of one kind."""
        # A log may have thousands of lines, and is looked at again and again: few of them are parsed.
        likely = [line for line in list(self.log) if f'"{event}"' in line]
        return [entry for entry in map(_entry, likely) if entry.get("event") == event]


class DeskClient(httpx.Client):
    """The desk at work: raises when the service does not do what it is told."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(
            base_url=f"{url}/desk/v1",
            headers={"Authorization": f"Bearer {token}"},
            transport=own_transport(),
            timeout=20,
        )

    def do(self, method: str, path: str, body: Any = None) -> Any:
        """Also confirms what the price guard asks about: tests of other things move prices as they need."""
        given = {} if body is None else {"json": body}
        answer = self.request(method, path, **given)
        if answer.status_code == 409 and "fingerprint" in answer.json()["detail"]:
            confirm = {"confirm": answer.json()["detail"]["fingerprint"]}
            answer = self.request(method, path, params=confirm, **given)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def add_group(self) -> Self:
        """Add the group that `account` puts accounts in."""
        self.do("PUT", "/groups/retail", {"default_terms": {"buy_premium": "0", "sell_premium": "0"}})
        return self

    def account(self, login_id: str, **fields: Any) -> Any:
        return self.do("POST", "/accounts", {"login_id": login_id, "group": "retail", **fields})

    def key(self, login_id: str, environment: str = "test", **fields: Any) -> Any:
        scopes = ["account:read", "orders:read", "orders:write"]
        body = {"environment": environment, "name": "a key", "scopes": scopes, **fields}
        return self.do("POST", f"/accounts/{login_id}/keys", body)


Launch = Callable[[str, Path, Mapping[str, str]], tuple[Process, IO[str]]]
"""Of a module, in a folder, with an environment: a process that serves, and its log."""


def interpreter(module: str, folder: Path, environment: Mapping[str, str]) -> tuple[Process, IO[str]]:
    """One that has imported nothing: for tests of what it costs to start, or of who starts whom."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, "serve"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    return process, process.stderr


@contextlib.contextmanager
def running(
    folder: Path, module: str = "bullion", launch: Launch = serving, /, **settings: str
) -> Iterator[Node]:
    """Start it, wait until it listens, and stop it again whatever happens."""
    node = start(folder, module, launch, **settings)
    try:
        yield node
    finally:
        node.stop()


@contextlib.contextmanager
def shared(folder: Path, **settings: str) -> Iterator[Node]:
    """A node for several tests. It is killed in the end: a stop takes time, and has tests of its own."""
    node = start(folder, **settings)
    try:
        yield node
    finally:
        node.stop(signal.SIGKILL)


def start(folder: Path, module: str = "bullion", launch: Launch = serving, /, **settings: str) -> Node:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BULLION_")}
    if module != "bullion":
        environment["PYTHONPATH"] = str(CHECKOUT)
    given = {
        "BULLION_PORT": "0",
        "BULLION_DESK_PORT": "0",
        "BULLION_DESK_TOKEN": DESK_TOKEN,
        "BULLION_SECRET": SECRET,
        **settings,
    }
    if launch is serving and "BULLION_DATABASE_URL" not in given and not (folder / "var").exists():
        copy_migrated(folder / "var" / "bullion.db")
    process, stream = launch(module, folder, environment | given)
    log: list[str] = []
    reader = _Reader(stream, log)
    give_up_at = time.monotonic() + 90
    while time.monotonic() < give_up_at and process.poll() is None:
        for line in log:
            entry = _entry(line)
            if entry.get("event") == "listening":
                return Node(process, folder, entry["api"], entry["desk"], log, reader, given)
        time.sleep(0.01)
    process.kill()
    process.wait()
    reader.end()
    raise AssertionError("the service did not start:\n" + "".join(log))


class _Reader:
    """Reads a log for as long as somebody writes it."""

    def __init__(self, stream: IO[str], log: list[str]) -> None:
        self._stream = stream
        self._thread = threading.Thread(target=log.extend, args=(stream,), daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._thread.join(timeout=5)
        self._stream.close()


def _entry(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def until(holds: Any, within_s: float) -> float:
    """Wait until `holds()` is true and say how long it took; fail when it takes too long.

    Between two looks, no more than half a second counts: if more has passed, the machine was busy with
    something else, and what is waited for had no more time than this process.
    """
    started = looked = time.monotonic()
    waited_s = 0.0
    while True:
        looking = time.monotonic()
        if holds():
            return time.monotonic() - started
        waited_s += min(time.monotonic() - looked, 0.5)
        looked = time.monotonic()
        if waited_s > within_s or looked - started > within_s + 60:
            raise AssertionError(f"it did not become true within {within_s} s")
        # A look may be a call or more: to look all the time would keep the machine from what is waited for.
        time.sleep(min(max(0.01, waited_s / 10, 2 * (looked - looking)), 0.2))
