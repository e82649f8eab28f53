"""Two deployments, each with a PostgreSQL server of its own, and the command that moves a broker."""

import contextlib
import json
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import httpx

from bullion.store.broker_tables import COPIED, PACKS

from .command import bullion, environment
from .forked_process import Process, start
from .node import SECRET, Node
from .orders import Trader
from .production import store_says

_PATIENCE_S = 30.0
_PACE_S = 0.15
"""Between two orders, so that the machine has time for what is tested."""


@dataclass(frozen=True)
class Deployments:
    """Two, each with a server of its own."""

    old: Node
    new: Node
    folder: Path

    def address(self, node: Node) -> str:
        return node.settings["BULLION_DATABASE_URL"]

    def words(self, broker: str, *more: str) -> list[str]:
        to = f"--to={self.address(self.new)}"
        return ["store", "copy", f"--broker={broker}", f"--from={self.address(self.old)}", to, *more]

    def move(self, broker: str, *more: str) -> subprocess.CompletedProcess[str]:
        return bullion(self.folder, *self.words(broker, *more), BULLION_SECRET=SECRET)

    @contextlib.contextmanager
    def moving(self, broker: str) -> Iterator[Process]:
        """The command, which is killed in the end."""
        with (self.folder / "output").open("wb") as output:
            process = start(
                self.words(broker), self.folder, environment(BULLION_SECRET=SECRET), output, output
            )
            try:
                yield process
            finally:
                process.kill()
                process.wait(_PATIENCE_S)

    def verify(self, node: Node) -> None:
        """The books and all that follows from them, and the audit trails."""
        settings = {"BULLION_SECRET": SECRET, "BULLION_DATABASE_URL": self.address(node)}
        done = bullion(self.folder, "books", "verify", **settings)
        assert done.returncode == 0, done.stdout + done.stderr


class Unbroken:
    """A client that orders again and again, in a thread; if asked, until an order is refused."""

    def __init__(self, trader: Trader, *, until_refused: bool = False) -> None:
        self._trader = trader
        self._until_refused = until_refused
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.placed: list[str] = []
        self.failed: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_PACE_S):
            try:
                answer = self._trader.place()
            except httpx.HTTPError as error:
                self.failed.append(repr(error))
                continue
            if answer.status_code == 201:
                self.placed.append(answer.json()["id"])
            else:
                self.failed.append(answer.text)
                if self._until_refused:
                    return


def rows_of(node: Node, broker: str, *, moved_by: int) -> dict[str, list[str]]:
    """All rows of the broker, by table, with their accounts' numbers as they were before a move."""
    selected = [
        f"SELECT '{table.name}', row_to_json(found)::TEXT FROM"
        f" (SELECT * FROM {table.name} WHERE {table.of_broker.replace('$1', repr(broker))}) AS found"
        for table in COPIED
    ]
    everything = store_says(node, " UNION ALL ".join(selected))
    found = {}
    for table in COPIED:
        rows = [json.loads(text) for name, text in everything if name == table.name]
        for row in rows:
            for column in table.account_columns:
                row[column] -= moved_by
            for column in table.book_columns:
                row[column] -= 2 * moved_by
            for column in (
                *table.fixed,
                *(("packed", "packed_bytes", "plain_bytes") if table.name == PACKS else ()),
            ):
                del row[column]
        found[table.name] = sorted(json.dumps(row, sort_keys=True) for row in rows)
    return found
