"""Four brokers whose venues behave differently, their clients, and everything that these were ever told."""

import random
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from tests.support import production_invariants
from tests.support.hedge_book_check import check_hedge_books
from tests.support.node import DeskClient, Node, own_transport
from tests.support.orders import GOLD, SILVER
from tests.support.production_invariants import Row, Rows

LIVE, TEST = "/api/trading/v1", "/api/trading/test/v1"
BUDGETS = dict.fromkeys(
    ("reads_per_minute", "orders_per_minute", "orders_per_10_seconds", "account_orders_per_minute"), 100_000
)
VENUES: dict[str, dict[str, Any]] = {
    "filling": {"mode": "fill"},
    "refusing": {"mode": "refuse"},
    "holding": {"mode": "hold"},
    "slow": {"mode": "fill", "delay_ms": 200},
}
STOCK = 40
PUT_OFF_S_MAX = 60
LATER = {
    "booking_busy",
    "booking_conflict",
    "booking_not_completed",
    "booking_outcome_unknown",
    "booking_unavailable",
    "production_prerequisites_unmet",
    "rate_limiter_unavailable",
    "rates_not_ready",
    "service_unavailable",
    "tradeability_unverified",
}
"""To be asked again with the same key, says the specification."""
NOT_ASKED = {"rate_limiter_unavailable", "booking_busy", "booking_unavailable"}
"""A call that could not read the book: it says nothing about an order that is there.

On a busy machine the store may not answer in time."""
NOT_BOOKED = LATER - {"booking_outcome_unknown", "service_unavailable"} | {"limit_exceeded", "out_of_stock"}


@dataclass
class Client:
    login_id: str
    broker: str
    live_key: str
    test_key: str
    wishes: list["Wish"] = field(default_factory=list)

    def http(self, node: Node) -> httpx.Client:
        transport = own_transport()
        headers = {"Host": f"{self.broker}.example"}
        return httpx.Client(base_url=node.api_url, headers=headers, transport=transport, timeout=30)

    def get(self, node: Node, path: str, **parameters: Any) -> Any:
        with self.http(node) as http:
            headers = {"X-API-Key": self.live_key}
            answer = http.get(f"{LIVE}{path}", params=parameters, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()


@dataclass
class Wish:
    """An order that a client wants, under one key, and what it was told about it so far."""

    client: Client
    body: dict[str, Any]
    base: str = LIVE
    key: str = field(default_factory=lambda: str(uuid4()))
    told: list[httpx.Response] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    """Calls that have no answer, or none yet."""

    @property
    def order(self) -> Row | None:
        """The order as its client heard of it last."""
        for answer in reversed(self.told):
            if (found := order_of(answer)) is not None:
                return found
        return None

    def send(self, http: httpx.Client) -> httpx.Response | None:
        """Once. What is told must agree with what was told before."""
        key = self.client.live_key if self.base == LIVE else self.client.test_key
        headers = {"X-API-Key": key, "Idempotency-Key": self.key}
        known = self.order
        self.untold.append("sent")
        try:
            answer = http.post(f"{self.base}/orders", json=self.body, headers=headers)
        except httpx.TransportError:
            return None
        assert answer.status_code < 500 or code_of(answer) in LATER, answer.text
        agree(known, answer)
        self.told.append(answer)
        self.untold.pop()
        return answer

    def learn(self, http: httpx.Client, within_s: float = 30) -> httpx.Response:
        """Send the same key until the answer is more than `later`."""
        give_up_at = time.monotonic() + within_s
        while True:
            answer = self.send(http)
            assert answer is not None, "no answer"
            if code_of(answer) not in LATER:
                return answer
            assert time.monotonic() < give_up_at, answer.text
            time.sleep(0.1)


def code_of(answer: httpx.Response) -> str | None:
    return None if answer.is_success else str(answer.json()["detail"]["code"])


def order_of(answer: httpx.Response) -> Row | None:
    """The order that an answer tells of."""
    if answer.is_success:
        found: Row = answer.json()
        return found
    detail = answer.json()["detail"]
    if detail["code"] != "order_rejected":
        return None
    assert answer.status_code == 409
    assert detail["order_id"] == detail["order"]["id"]
    assert detail["order"]["status"] == "rejected"
    refused: Row = detail["order"]
    return refused


def agree(known: Row | None, answer: httpx.Response) -> None:
    """4. An order that a client was told of stays; one that is no longer pending stays as it is."""
    if known is None or code_of(answer) in NOT_ASKED:
        return
    told = order_of(answer)
    assert told is not None, f"told of {known}, then {answer.text}"
    if answer.is_success:
        assert answer.status_code == 200, f"told of {known}, then {answer.status_code} {answer.text}"
    assert answer.headers["idempotent-replayed"] == "true"
    if known["status"] != "pending":
        assert told == known
        return
    changes = {"status", "status_detail", "price", "total", "deal_no"}
    assert {name: told[name] for name in told if name not in changes} == {
        name: known[name] for name in known if name not in changes
    }


class Deployment:
    def __init__(self, folder: Path, settings: dict[str, str], seed: int = 1) -> None:
        self.folder = folder
        self.settings = {"BULLION_PRODUCTION": "on", "BULLION_FEED": "desk", **settings}
        self.store: str | Path = settings.get("BULLION_DATABASE_URL", folder / "var" / "bullion.db")
        self.clients: list[Client] = []
        self.tokens: dict[str, str] = {}
        self.stocks_e4: dict[tuple[str, str], int] = {}
        self._chance = random.Random(seed)  # noqa: S311

    def copy(self, folder: Path, settings: dict[str, str], seed: int) -> "Deployment":
        """Another one whose store is a copy of this one, made before any client placed an order."""
        copy = Deployment(folder, settings, seed)
        copy.clients = [replace(client, wishes=[]) for client in self.clients]
        copy.tokens, copy.stocks_e4 = self.tokens.copy(), self.stocks_e4.copy()
        return copy

    # --- The desk -------------------------------------------------------------------------------------

    def set_up(self, node: Node, venues: Iterable[str] = VENUES) -> None:
        with node.desk() as first:
            for tag in venues:
                first.do("PUT", f"/brokers/{tag}", {"name": tag, "hosts": [f"{tag}.example"]})
                body = {"name": "an admin", "role": "admin", "broker": tag}
                self.tokens[tag] = first.do("POST", "/tokens", body)["token"]
                with self.desk(node, tag) as desk:
                    self._set_up(desk, tag)

    def _set_up(self, desk: DeskClient, tag: str) -> None:
        desk.add_group()
        desk.do("PATCH", "/switches", {"production": True, "budgets": BUDGETS})
        desk.do("PUT", "/symbols/GOLD", GOLD)
        desk.do("PUT", "/symbols/SILVER", SILVER)
        desk.do("PUT", "/symbols/BAR", {**GOLD, "stock": str(STOCK)})
        for metal in ("gold", "silver"):
            desk.do("PATCH", f"/hedge/book/{metal}", {"policy": "each"})
        self.stocks_e4[tag, "BAR"] = STOCK * 10_000
        # One client with room for anything, and one whose allocation is soon used up.
        rooms = {"rich": "1000000", "poor": "12"}
        for login_id in ("rich", "poor") if tag == "filling" else ("rich",):
            allocation = {"gold": rooms[login_id], "silver": rooms[login_id]}
            desk.account(login_id, production_trading=True, allocation=allocation)
            live, test = (desk.key(login_id, environment)["key"] for environment in ("production", "test"))
            self.clients.append(Client(login_id, tag, live, test))
        if self.settings.get("BULLION_HEDGE") != "desk":
            desk.do("PATCH", "/hedge", VENUES[tag])

    def desk(self, node: Node, tag: str) -> DeskClient:
        return node.desk(self.tokens[tag])

    def behaviour(self, node: Node, tag: str, **behaviour: Any) -> None:
        with self.desk(node, tag) as desk:
            desk.do("PATCH", "/hedge", behaviour)

    # --- The clients ----------------------------------------------------------------------------------

    def wish(self, client: Client, base: str = LIVE) -> Wish:
        """Something new for a client: the poor ones only buy."""
        side = self._chance.choice(["buy", "buy", "sell"]) if client.login_id == "rich" else "buy"
        body = {
            "symbol_code": self._chance.choice(["GOLD", "SILVER", "BAR", "BAR"]),
            "trade_type": side,
            "quantity": self._chance.choice([1, 2, 3.5]),
            "client_order_id": uuid4().hex,
        }
        wish = Wish(client, body, base)
        client.wishes.append(wish)
        return wish

    def wishes(self, each: int) -> list[list[Wish]]:
        """For one program each: some for every client, a few of them test orders."""
        return [
            [self.wish(client, TEST if number % 5 == 4 else LIVE) for number in range(each)]
            for client in self.clients
        ]

    def all_wishes(self) -> list[Wish]:
        return [wish for client in self.clients for wish in client.wishes]

    def learn_all(self, node: Node) -> None:
        """Every client sends all its keys again, until it knows what became of each."""
        together([lambda client=client: self._learn(node, client.wishes) for client in self.clients])

    def _learn(self, node: Node, wishes: Sequence[Wish]) -> None:
        if not wishes:
            return
        with wishes[0].client.http(node) as http:
            for wish in wishes:
                wish.learn(http)

    # --- What must hold -------------------------------------------------------------------------------

    def check(self, *, dead: bool = False, **options: Any) -> Rows:
        """The whole store, and every client's word against it."""
        tables = production_invariants.check(self.store, dead=dead, stocks_e4=self.stocks_e4, **options)
        check_hedge_books(self.store, dead=dead)
        orders = {order["id"]: order for order in tables["orders"]}
        keys = {(order["idempotency_key"]): order for order in tables["orders"]}
        for wish in self.all_wishes():
            told = wish.order
            if told is not None:
                kept = orders.get(told["id"])
                assert kept is not None, f"a client was told of {told}, and it is not there"
                assert kept["idempotency_key"] == wish.key
                assert told["status"] in (kept["status"], "pending")
                assert told.get("deal_no") in (kept["deal_no"], None)
            elif not wish.untold and all(code_of(answer) in NOT_BOOKED for answer in wish.told):
                assert wish.key not in keys, f"nothing was booked, and there is {keys[wish.key]}"
        return tables

    def pending(self, but: str = "") -> int:
        """How many orders are pending, but for those of one broker."""
        return production_invariants.pending(self.store, but)

    def settle(self, node: Node, within_s: float = 30) -> None:
        """All of it resolves by itself, once the venue that holds orders lets them go."""
        if "holding" in self.tokens:
            self.behaviour(node, "holding", mode="fill")
        resolved(self, within_s)

    def conclude(self, node: Node) -> Rows:
        """Nothing is pending any more: every client hears the same as before, reads it, and it adds up."""
        self.learn_all(node)
        tables = self.check(settled=True)
        together([lambda client=client: self._read_back(node, client) for client in self.clients])
        return tables

    def _read_back(self, node: Node, client: Client) -> None:
        orders = [wish.order for wish in client.wishes if wish.base == LIVE and wish.order is not None]
        listed = client.get(node, "/orders", limit=200)
        assert listed["total"] == len(orders)
        by_id = {order["id"]: order for order in orders}
        assert {order["id"] for order in listed["items"]} <= by_id.keys()
        assert all(order == by_id[order["id"]] for order in listed["items"])
        assert len(listed["items"]) == min(200, len(orders))
        states = {order["status"] for order in orders}
        assert states <= ({"rejected"} if client.broker == "refusing" else {"open"})


def resolved(deployment: Deployment, within_s: float, but: str = "") -> float:
    """Wait until nothing is pending, and say how long it took. A look costs something: not too often."""
    started = time.monotonic()
    while left := deployment.pending(but):
        assert time.monotonic() - started < within_s, f"{left} orders are pending after {within_s} s"
        time.sleep(0.4)
    return time.monotonic() - started


def together(works: Sequence[Any]) -> None:
    with ThreadPoolExecutor(max(1, len(works))) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result()


def flood(programs: Sequence[tuple[Node, Sequence[Wish]]]) -> None:
    """Every program sends its orders one after the other; one whose node is gone goes home.

    An order that is put off for longer than any lease or time limit of the store is a failure.
    """

    def run(node: Node, wishes: Sequence[Wish]) -> None:
        if not wishes:
            return
        with wishes[0].client.http(node) as http:
            for wish in wishes:
                give_up_at = time.monotonic() + PUT_OFF_S_MAX
                while (answer := wish.send(http)) is not None and code_of(answer) in LATER:
                    assert time.monotonic() < give_up_at, answer.text
                    time.sleep(0.05)
                if answer is None:
                    return

    together([lambda node=node, wishes=wishes: run(node, wishes) for node, wishes in programs])
