"""A node with production open on a PostgreSQL server of its own, behind a line that can be cut."""

import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support.node import Node, running, until
from tests.support.orders import REPLAYED, refused
from tests.support.production import LiveMarket, LiveTrader
from tests.support.servers import Postgres, Redis, find
from tests.support.wire import Wire, wire

PATIENCE_S = 40.0
"""For things that take a moment, on a machine that is busy with other tests."""
_PROBE = "application_name=probe"

ORDER = (201, 202)
NOTHING_BOOKED = {"booking_busy", "booking_unavailable", "booking_not_completed"}


def true_words(answer: httpx.Response, stored: list[str]) -> str:
    """In one word what an answer says, which must be well-formed, and true of what is stored by its key."""
    if answer.status_code in (200, *ORDER):
        assert [answer.json()["id"]] == stored, "the order that was told is the one that is there"
        assert (answer.headers.get(REPLAYED) == "true") == (answer.status_code == 200)
        return "replayed" if answer.status_code == 200 else "order"
    code: str = answer.json()["detail"]["code"]
    refused(answer, code)
    if code in NOTHING_BOOKED:
        assert stored == [], f"{code}, and it is booked"
    return code


@dataclass
class Deployment:
    server: Postgres
    database: str
    wire: Wire
    node: Node
    market: LiveMarket
    watcher: LiveTrader
    """Somebody whose orders show whether all is well."""
    _callers: ThreadPoolExecutor

    # --- Calls ----------------------------------------------------------------------------------------

    def call(self, trader: LiveTrader, key: str, **body: Any) -> "Future[httpx.Response]":
        """A call that is under way while the test goes on."""
        return self._callers.submit(_placed, trader, key, body)

    def told(self, trader: LiveTrader, answer: httpx.Response, key: str) -> str:
        """In one word what the answer says, which must be true of the store, and well-formed."""
        return true_words(answer, [order_id for order_id, _ in self.orders(key)])

    def same_key_tells(self, trader: LiveTrader, key: str, **body: Any) -> dict[str, Any]:
        """Once the fault is over: the definitive outcome, one order, executed once."""
        answers: list[httpx.Response] = []

        def definitive() -> bool:
            answers.append(trader.place(key, **body))
            return answers[-1].status_code < 500 and answers[-1].status_code != 409

        until(definitive, within_s=PATIENCE_S)
        self.told(trader, answers[-1], key)
        order = trader.becomes(answers[-1].json()["id"], "open")
        again = trader.place(key, **body)
        assert (again.status_code, again.json()) == (200, order)
        self.executed_once(key)
        return order

    # --- What the store holds -------------------------------------------------------------------------

    def sql(self, statement: str) -> str:
        return self.server.sql(statement, self.database)

    def rows(self, statement: str) -> list[list[str]]:
        return [line.split("|") for line in self.sql(statement).splitlines()]

    def orders(self, key: str) -> list[list[str]]:
        """Id and status of what is there under a key of any account."""
        return self.rows(f"SELECT id, status FROM orders WHERE idempotency_key = '{key}'")

    def executed_once(self, key: str) -> None:
        ((order_id, _),) = self.orders(key)
        found = self.rows(f"SELECT outcome, execution_id FROM venue_orders WHERE order_id = '{order_id}'")
        assert len(found) == 1
        assert found[0][0] == "confirmed"

    def nothing_strange_was_executed(self) -> None:
        """The venue has had no order that the book does not have."""
        strangers = "SELECT count(*) FROM venue_orders WHERE order_id NOT IN (SELECT id FROM orders)"
        assert self.sql(strangers) == "0"

    def book_of(self, trader: LiveTrader) -> str:
        return self.sql(
            "SELECT books.id FROM books INNER JOIN accounts ON accounts.id = books.account_id "
            f"WHERE login_id = '{trader.login_id}' AND environment = 'production'"
        )

    # --- What is done to the server -------------------------------------------------------------------

    def setting(self, assignment: str) -> None:
        """Of the whole server, also for sessions that are there already."""
        self.sql(f"ALTER SYSTEM {assignment}")
        self.sql("SELECT pg_reload_conf()")

    def park(self) -> None:
        """From now on every commit waits for a standby that there is not."""
        self.setting("SET synchronous_standby_names = 'ghost'")
        url = f"postgresql://bullion@127.0.0.1:{self.server.port}/{self.database}?{_PROBE}"
        command = [find("psql"), "-X", "-q", url, "-c", "SELECT pg_logical_emit_message(true, 'probe', '')"]
        while True:  # The server takes a moment to take a setting over: until a commit stays.
            probe = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with probe:
                while probe.poll() is None:
                    if self._parked("probe"):
                        self._end_sessions("probe")
                        return
                    time.sleep(0.02)

    def unpark(self) -> None:
        self.setting("RESET synchronous_standby_names")
        until(lambda: not self._parked("%"), within_s=PATIENCE_S)

    def _parked(self, like: str) -> bool:
        found = self.sql(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' "
            f"AND application_name LIKE '{like}'"
        )
        return found != "0"

    def parked_commits(self, book: str) -> list[str]:
        """The processes of the server that hold a book, and have committed but for the standby's word."""
        found = self.rows(
            "SELECT pid FROM pg_stat_activity INNER JOIN books ON books.xmax::TEXT = backend_xid::TEXT "
            f"WHERE wait_event = 'SyncRep' AND books.id = {book}"
        )
        return [pid for (pid,) in found]

    def terminate(self, *pids: str) -> None:
        for pid in pids:
            self.sql(f"SELECT pg_terminate_backend({pid})")

    def renew_sessions(self) -> None:
        """The service's sessions are made anew, with the settings of now."""
        self._end_sessions("bullion%")

    def _end_sessions(self, like: str) -> None:
        self.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE application_name LIKE '{like}' AND pid <> pg_backend_pid()"
        )

    def ready(self) -> None:
        """The service is whole again: a new order is booked."""
        until(lambda: self.watcher.place().status_code == 201, within_s=PATIENCE_S)


def _placed(trader: LiveTrader, key: str, body: dict[str, Any]) -> httpx.Response:
    # A connection of its own: calls of one trader go on beside each other.
    with httpx.Client(
        base_url=trader.http.base_url, headers=trader.http.headers, timeout=60, verify=False
    ) as http:
        return LiveTrader(http, trader.login_id, {"key_id": trader.key_id, "key": trader.key}).place(
            key, **body
        )


@contextmanager
def open_deployment(folder: Path, redis: Redis) -> Iterator[Deployment]:
    server = Postgres()
    try:
        server.make()
        url = server.new_database()
        database = url.rpartition("/")[2]
        with wire(server.port) as line, ThreadPoolExecutor(16) as callers:
            settings = {
                "BULLION_DATABASE_URL": url.replace(f":{server.port}/", f":{line.port}/"),
                "BULLION_REDIS_URL": redis.url,
                "BULLION_PRODUCTION": "on",
            }
            with running(folder, **settings) as node, LiveMarket.open(node) as market:
                yield Deployment(server, database, line, node, market, market.trader(), callers)
    finally:
        server.remove()
