"""Commits whose answers are lost, by chance: whatever a client was told is true, and the same key finds out.

`TEST_SCALE` above 1, as in a campaign, does two hundred of them instead of twelve, and rougher ones.
"""

import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.support.node import until
from tests.support.production import LiveTrader
from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis
from tests.support.wire import Cut, Trap

from .production_deployment import NOTHING_BOOKED, PATIENCE_S, Deployment, open_deployment

TURNS = 12 if SCALE == 1 else min(20 * SCALE, 200)
SEED = 20_261_115
TRADERS = 4


@dataclass
class Call:
    trader: LiveTrader
    key: str
    body: dict[str, Any]
    answer: "Future[httpx.Response] | None" = None


@pytest.fixture(scope="module")
def deployment(
    tmp_path_factory: pytest.TempPathFactory, postgres: Postgres, redis: Redis
) -> Iterator[Deployment]:
    assert postgres.port, "skipped, or failed, where there is none"
    with open_deployment(tmp_path_factory.mktemp("commits"), redis) as deployment:
        deployment.market.live("STOCKED", stock="1000000")
        yield deployment


class Campaign:
    def __init__(self, deployment: Deployment, seed: int) -> None:
        self.deployment = deployment
        self.chance = random.Random(seed)  # noqa: S311
        self.traders = [deployment.market.trader() for _ in range(TRADERS)]
        self.books = {trader.login_id: deployment.book_of(trader) for trader in self.traders}
        self.told: Counter[str] = Counter()
        self.calls: list[Call] = []

    def turn(self, number: int) -> None:
        """Some orders at once, an accident, the answers, and the same keys again."""
        ways: list[tuple[Callable[[list[Call]], None], int]] = [
            (self._cut, 12),
            (self._terminate, 5),
            (self._keep_parked, 1),
        ]
        if SCALE > 1:
            ways += [(self._kill, 1), (self._past_the_deadline, 1)]
        (way,) = self.chance.choices([way for way, _ in ways], [weight for _, weight in ways])
        calls = [
            Call(trader, f"turn{number}-{each}-{self.chance.getrandbits(64):x}", self._body())
            for each, trader in enumerate(self.chance.sample(self.traders, self.chance.randint(1, TRADERS)))
        ]
        try:
            way(calls)
        except Exception as error:
            raise AssertionError(f"seed {SEED}, turn {number}, {way.__name__}") from error
        self.calls += calls

    def _body(self) -> dict[str, Any]:
        symbol = self.chance.choice(["GOLD", "GOLD", "STOCKED"])
        quantity = self.chance.randint(1, 50)
        return {
            "symbol_code": symbol,
            "trade_type": self.chance.choice(["buy", "sell"]),
            "quantity": quantity,
        }

    def _begin(self, calls: list[Call]) -> None:
        for call in calls:
            call.answer = self.deployment.call(call.trader, call.key, **call.body)

    def _read(self, calls: list[Call]) -> list[str]:
        """The answers, each compared with the store."""
        codes = []
        for call in calls:
            assert call.answer is not None
            codes.append(self.deployment.told(call.trader, call.answer.result(), call.key))
        self.told.update(codes)
        return codes

    def _send_again(self, calls: list[Call]) -> None:
        for call in calls:
            until(lambda call=call: self._definitive(call), within_s=PATIENCE_S)

    def _definitive(self, call: Call) -> bool:
        answer = call.trader.place(call.key, **call.body)
        told = self.deployment.told(call.trader, answer, call.key)
        assert told in ("order", "replayed") or answer.status_code in (409, 503), answer.text
        return told in ("order", "replayed")

    # --- The accidents --------------------------------------------------------------------------------

    def _cut(self, calls: list[Call]) -> None:
        """At the booking's statement or its commit; sometimes nobody can be asked after that."""
        victim = self.chance.choice(calls)
        cut = self.chance.choice(list(Cut))
        locked = victim.body == {**victim.body, "symbol_code": "STOCKED", "trade_type": "buy"}
        then = b"COMMIT" if locked and cut is not Cut.LATER else None
        refuses = self.chance.random() < 0.2
        late = self.chance.random() < 0.5
        trap = self.deployment.wire.set_trap(Trap(victim.key.encode(), cut, then, refuses=refuses))
        self._begin(calls)
        assert trap.sprung.wait(PATIENCE_S)
        try:
            codes = self._read(calls)
        finally:
            self.deployment.wire.refusing = False
        if cut is Cut.LATER:
            if late:
                self._send_again(calls)
            trap.let_go()
            if not late:  # What was told not to be booked is not, also now that it has arrived.
                for call, code in zip(calls, codes, strict=True):
                    assert code not in NOTHING_BOOKED or self.deployment.orders(call.key) == []
        self._send_again(calls)

    def _park(self, calls: list[Call]) -> None:
        self.deployment.park()
        self._begin(calls)
        books = [self.books[call.trader.login_id] for call in calls]
        until(lambda: any(self.deployment.parked_commits(book) for book in books), within_s=PATIENCE_S)

    def _terminate(self, calls: list[Call]) -> None:
        """The sessions of parked commits are ended: committed, and the answer is lost."""
        self._park(calls)
        for call in calls:
            self.deployment.terminate(*self.deployment.parked_commits(self.books[call.trader.login_id]))
        self.deployment.unpark()
        self._read(calls)
        self._send_again(calls)

    def _keep_parked(self, calls: list[Call]) -> None:
        """The same, but whoever verifies is parked as well."""
        self._park(calls)
        for call in calls:
            self.deployment.terminate(*self.deployment.parked_commits(self.books[call.trader.login_id]))
        try:
            self._read(calls)
        finally:
            self.deployment.unpark()
        self._send_again(calls)

    def _past_the_deadline(self, calls: list[Call]) -> None:
        self._park(calls)
        try:
            self._read(calls)
        finally:
            self.deployment.unpark()
        self._send_again(calls)

    def _kill(self, calls: list[Call]) -> None:
        """The server dies with parked commits in its log."""
        self._park(calls)
        self.deployment.server.stop(signal.SIGQUIT)
        for call in calls:
            assert call.answer is not None
            call.answer.result()
        self.deployment.server.start()
        self.deployment.unpark()
        self._read(calls)
        self._send_again(calls)

    # --- In the end -----------------------------------------------------------------------------------

    def settled(self) -> None:
        """Every order is open, was executed once, and its book holds what its orders sum up to."""
        pending = "SELECT count(*) FROM orders WHERE status <> 'open' AND idempotency_key LIKE 'turn%'"
        until(lambda: self.deployment.sql(pending) == "0", within_s=PATIENCE_S)
        rows = self.deployment.rows(
            "SELECT orders.idempotency_key, orders.quantity_e4, taken.quantity_e4, taken.outcome "
            "FROM orders LEFT JOIN venue_orders AS taken ON taken.order_id = orders.id "
            "WHERE orders.idempotency_key LIKE 'turn%'"
        )
        wanted = {call.key: str(call.body["quantity"] * 10_000) for call in self.calls}
        assert len(rows) == len(wanted)
        for key, ours, theirs, outcome in rows:
            assert (ours, theirs, outcome) == (wanted[key], wanted[key], "confirmed")
        self.deployment.nothing_strange_was_executed()
        for trader in self.traders:
            signed = [
                call.body["quantity"] * (1 if call.body["trade_type"] == "buy" else -1)
                for call in self.calls
                if call.trader is trader
            ]
            assert trader.net() == f"{sum(signed)}.0000"


def test_no_lost_commit_is_answered_wrongly(deployment: Deployment) -> None:
    campaign = Campaign(deployment, SEED)
    for number in range(TURNS):
        campaign.turn(number)
    campaign.settled()
    print(dict(campaign.told))
    assert {"order", "booking_not_completed", "booking_outcome_unknown"} <= campaign.told.keys()
    allowed = {
        "order",
        "booking_not_completed",
        "booking_outcome_unknown",
        "booking_unavailable",
        "booking_busy",
    }
    assert campaign.told.keys() <= allowed | {"booking_conflict", "production_prerequisites_unmet"}
