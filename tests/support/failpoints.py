"""The service with a place in it where it dies: `python -m tests.support.failpoints serve`.

`KILL_AT` names the place. The process sends itself SIGKILL when it gets there for the n-th time after a file
`armed`, with that number in it, has appeared in its working directory. Until then it is the service as it is:
nothing in the service knows of this, its own classes are wrapped from outside.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bullion.__main__ import main
from bullion.booking.hedging import Hedging
from bullion.store import queries
from bullion.store.execution_records import StoredExecutionRecords
from bullion.store.hedge_requests import StoredHedgeRequests
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.postgres import _OpenTransaction
from bullion.store.sqlite import SqliteConnection
from bullion.store.venue_book import StoredVenueBook
from bullion.web import http_app
from bullion.web.response import send_response

ARMED = "armed"
_LEDGERS = (PostgresLedger, SqliteLedger)
_QUERIES = {*queries.load("postgres"), *queries.load("sqlite")}
_IN_FLIGHT_S = 0.001

Wrap = Callable[["Trap"], None]


class Trap:
    """Counts how often a place was reached since it was armed."""

    def __init__(self) -> None:
        self._reached = 0

    def reached(self) -> None:
        if self.counts():
            os.kill(os.getpid(), signal.SIGKILL)

    def counts(self) -> bool:
        """Whether this is the time to die."""
        try:
            wanted = int(Path(ARMED).read_text())
        except (OSError, ValueError):  # Not there, or just being written.
            return False
        self._reached += 1
        return self._reached == wanted


def before(method: str, *owners: type) -> Wrap:
    _require(method, owners)

    def wrap(trap: Trap) -> None:
        for owner in owners:
            _replace(owner, method, lambda inner: _before(inner, trap))

    return wrap


def after(method: str, *owners: type, unless_empty: bool = False) -> Wrap:
    _require(method, owners)

    def wrap(trap: Trap) -> None:
        for owner in owners:
            _replace(owner, method, lambda inner: _after(inner, trap, unless_empty=unless_empty))

    return wrap


def under_way(method: str, *owners: type) -> Wrap:
    """While the call is running: whoever is asked may have done it, or half of it, or nothing."""
    _require(method, owners)

    def wrap(trap: Trap) -> None:
        for owner in owners:
            _replace(owner, method, lambda inner: _under_way(inner, trap))

    return wrap


def query(*names: str) -> Wrap:
    """Right after this query, with the transaction that it is in still open. Each engine has its own."""
    assert set(names) <= _QUERIES, set(names) - _QUERIES

    def wrap(trap: Trap) -> None:
        def watched(fetch: Callable[..., Any]) -> Callable[..., Any]:
            def watching(self: Any, query: str, *rest: Any) -> Any:
                found = fetch(self, query, *rest)
                if query in names:
                    trap.reached()
                return found

            return watching

        def watched_later(fetch: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
            async def watching(self: Any, query: str, *values: Any) -> Any:
                found = await fetch(self, query, *values)
                if query in names:
                    trap.reached()
                return found

            return watching

        _replace(_OpenTransaction, "all", watched_later)
        _replace(SqliteConnection, "fetch", watched)
        _replace(SqliteConnection, "fetch_for", watched)

    return wrap


def reply(*, sent: bool) -> Wrap:
    """The answer to a production order: before it is written to the socket, or right after that."""

    def wrap(trap: Trap) -> None:
        async def send(scope: Any, *rest: Any) -> None:
            ours = (scope["method"], scope["path"]) == ("POST", "/api/trading/v1/orders")
            if ours and not sent:
                trap.reached()
            await send_response(scope, *rest)
            if ours and sent:
                await asyncio.sleep(0)  # It goes out when this turn of the loop ends.
                trap.reached()

        vars(http_app)["send_response"] = send

    return wrap


def _require(method: str, owners: Sequence[type]) -> None:
    """At import, so that `make test` finds places that are gone, also those that only a campaign goes to."""
    for owner in owners:
        assert hasattr(owner, method), f"{owner.__name__} has no {method}"


def _replace(owner: type, name: str, wrapped: Callable[[Any], Any]) -> None:
    setattr(owner, name, wrapped(getattr(owner, name)))


def _before(inner: Callable[..., Awaitable[Any]], trap: Trap) -> Callable[..., Awaitable[Any]]:
    async def call(*values: Any, **options: Any) -> Any:
        trap.reached()
        return await inner(*values, **options)

    return call


def _after(
    inner: Callable[..., Awaitable[Any]], trap: Trap, *, unless_empty: bool
) -> Callable[..., Awaitable[Any]]:
    async def call(*values: Any, **options: Any) -> Any:
        answer = await inner(*values, **options)
        if answer or not unless_empty:
            trap.reached()
        return answer

    return call


def _under_way(inner: Callable[..., Awaitable[Any]], trap: Trap) -> Callable[..., Awaitable[Any]]:
    async def call(*values: Any, **options: Any) -> Any:
        if not trap.counts():
            return await inner(*values, **options)
        doing = asyncio.ensure_future(inner(*values, **options))
        await asyncio.wait([doing], timeout=_IN_FLIGHT_S)
        os.kill(os.getpid(), signal.SIGKILL)
        return await doing

    return call


@dataclass(frozen=True)
class Point:
    wraps: Sequence[Wrap]
    time: int = 3
    """At the how manieth time a test lets it die: not at the first, so that others are under way too."""
    often: bool = True
    """Whether `make test` goes there, or the campaign alone."""
    inside: bool = False
    """Whether a transaction of the store is open there, which each engine ends in its own way."""


POINTS = {
    # Recording: nothing, half of it, all of it but the commit, the commit.
    "record-before": Point([before("record", *_LEDGERS), before("record_locked", *_LEDGERS)]),
    "book-locked": Point([query("lock_books", "batch_state")], time=2, inside=True),
    "stock-locked": Point([query("lock_stock")], time=2, often=False),
    "order-half-written": Point([query("record_plans", "insert_orders")], time=2, often=False),
    "order-written": Point([query("move_stock")], time=2, inside=True),
    "record-under-way": Point([under_way("record", *_LEDGERS)], time=2, inside=True),
    "record-after": Point([after("record", *_LEDGERS), after("record_locked", *_LEDGERS)]),
    # The venue: not sent, not there yet, on its way, there, decided, and its word in our hands.
    "submit-before": Point([before("_submit", Hedging)]),
    "take-before": Point([before("take", StoredVenueBook)], often=False),
    "take-under-way": Point([under_way("_take_all", StoredVenueBook)], time=2, inside=True),
    "take-after": Point([after("take", StoredVenueBook)]),
    "submit-after": Point([after("_submit", Hedging)], often=False),
    "decide-written": Point([query("decide_venue_order")], time=2, often=False),
    "decide-after": Point([after("decide", StoredVenueBook)], time=2, often=False),
    # Our second commit.
    "answer-before": Point([before("answer", StoredHedgeRequests)], often=False),
    "answer-half-written": Point([query("change_order", "open_orders")], inside=True),
    "answer-stock-returned": Point([query("return_stock")], time=1, often=False),
    "answer-written": Point([query("answer_hedge", "answer_hedges")], inside=True),
    "answer-after": Point([after("answer", StoredHedgeRequests)]),
    # The client's answer.
    "reply-before": Point([reply(sent=False)], time=5),
    "reply-after": Point([reply(sent=True)], time=5, often=False),
    # What was left unfinished: claimed, asked about, put off.
    "claim-before": Point([before("claim", StoredHedgeRequests)], time=2, often=False),
    "claim-written": Point([query("claim_hedges")], time=1, often=False),
    "claim-after": Point([after("claim", StoredHedgeRequests, unless_empty=True)], time=1),
    "ask-before": Point([before("_order_status", Hedging)], time=2, often=False),
    "ask-after": Point([after("_order_status", Hedging)], time=2, often=False),
    "postpone-before": Point([before("postpone", StoredHedgeRequests)], time=2, often=False),
    "postpone-written": Point([query("postpone_hedges")], time=2, often=False),
    "postpone-after": Point([after("postpone", StoredHedgeRequests)], time=2),
    # What the venue executed, compared with our requests.
    "compare-before": Point([before("unaccounted", StoredExecutionRecords)], time=1, often=False),
    "cursor-before": Point([before("move_cursor", StoredExecutionRecords)], time=1),
    "cursor-after": Point([after("move_cursor", StoredExecutionRecords)], time=1, often=False),
}


if __name__ == "__main__":
    the_trap = Trap()
    for each in POINTS[os.environ["KILL_AT"]].wraps:
        each(the_trap)
    main()
