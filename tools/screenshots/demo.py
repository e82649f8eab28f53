"""A market demo in a folder of its own, and the calls that a desk and its clients make to it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from tests.support.command import environment
from tests.support.node import until

_LAST_LINE = "Ctrl+C stops everything."


class Demo:
    def __init__(self, folder: Path, banner: str) -> None:
        self.folder, self._banner = folder, banner
        self.api, self._desk_url = self._said(r"Trading API +(\S+)"), self._said(r"Desk API +(\S+)")
        self.console, self.token = self._said(r"Console +(\S+)"), self._said(r"Desk token +(\S+)")
        self._quotes = self._said(r"Quotes +(\S+)/quotes")
        self._client = httpx.Client(timeout=20, trust_env=False)

    def _said(self, pattern: str) -> str:
        found = re.search(pattern, self._banner)
        if found is None:
            raise LookupError(f"the demo prints nothing like {pattern}")
        return found[1]

    def desk(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = self._client.request(method, f"{self._desk_url}{path}", json=body, headers=headers)
        if answer.is_error:
            raise LookupError(f"{method} {path}: {answer.text}")
        return answer.json()

    def order(self, key: str, symbol: str, side: str, quantity: float) -> int:
        base = "/api/trading/test/v1" if key.startswith("key_test.") else "/api/trading/v1"
        body = {"symbol_code": symbol, "trade_type": side, "quantity": quantity}
        headers = {"X-API-Key": key, "Idempotency-Key": str(uuid4())}
        return self._client.post(f"{self.api}{base}/orders", json=body, headers=headers).status_code

    def set_quote_fault(self, name: str) -> None:
        self._client.get(f"{self._quotes}/fault/{name}").raise_for_status()

    def statement(self) -> str:
        """The venue's trades, as CSV."""
        book = self.folder / "var/market-demo/venue.db"
        command = [sys.executable, "-m", "bullion.market_demo.fix_acceptor"]
        command += ["--statement", "--book", str(book)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def started(folder: Path) -> Iterator[Demo]:
    out = folder / "out"
    given = environment(BULLION_PORT="0", BULLION_DESK_PORT="0", BULLION_CONSOLE_PORT="0")
    with out.open("wb") as stdout, (folder / "log").open("wb") as stderr:
        command = [sys.executable, "-m", "bullion", "market", "demo"]
        process = subprocess.Popen(command, cwd=folder, env=given, stdout=stdout, stderr=stderr)
    try:
        until(lambda: _LAST_LINE in out.read_text("utf-8") or process.poll() is not None, within_s=90)
        yield Demo(folder, out.read_text("utf-8"))
    finally:
        process.terminate()
        process.wait(timeout=30)
