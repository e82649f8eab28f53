"""The service and its FIX venue, killed at random while clients place orders over HTTP.

The line and the venue are faulty besides, and the venue executes a doubled id. On PostgreSQL there are two
nodes, which take the line from each other. `TEST_SCALE` above 1, as in a campaign, places thousands
of orders and kills each side more than a hundred times.
"""

import itertools
import json
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from bullion.booking.partial_fills import order_and_child
from bullion.market_demo.exchange import Exchange
from bullion.market_demo.faults import Faults
from bullion.market_demo.fix_acceptor import open_book
from tests.support.command import bullion
from tests.support.fix_node import BROKER, LINE, Acceptor, fix_market, fix_settings, market_file
from tests.support.metrics import metrics_of
from tests.support.node import Node, start, until
from tests.support.production import store_says
from tests.support.scale import SCALE
from tests.support.servers import free_port
from tests.support.stacks import stack

from .fixtures import LATER, Client, Wish, code_of, together

CAMPAIGN = SCALE > 1
RESETS: dict[str, str] = {}
KEEPS = {"reset_on_logon": "false"}
CASES = {
    "sqlite-resetting": ("sqlite", RESETS),
    "sqlite-kept": ("sqlite", KEEPS),
    "postgres-resetting": ("postgres", RESETS),
    "postgres-kept": ("postgres", KEEPS),
}
ORDERS, KILLS = (66 * SCALE, 3 * SCALE) if CAMPAIGN else (60, 4)
"""In each case."""
CLIENTS = 6
PATIENCE_S = 300.0
ROUNDED = Decimal("0.02")
"""Grams that an order may differ by: the weight of each of its parts is rounded."""
RESTS = (
    "FROM hedge_rests AS rests JOIN hedge_requests AS hedges "
    "ON hedges.book_id = rests.book_id AND hedges.ordinal = rests.ordinal"
)
CHANCES = {
    "lost": 0.01, "half": 0.005, "cut_before": 0.003, "cut_after": 0.003, "swapped": 0.01, "garbled": 0.005,
    "doubled": 0.002, "late": 0.1, "twice": 0.05, "reordered": 0.1, "unreported": 0.03, "swallowed": 0.03,
    "lag": 0.1, "question_swallowed": 0.05, "partial": 0.1, "split": 0.2, "refused": 0.1, "hung_up": 0.05,
    "rate_logout": 0.0005,
}  # fmt: skip
KINDS = len(CHANCES) - 1 if CAMPAIGN else 4
"""Of faults, that must have happened."""


class Stage:
    """Nodes at fixed ports, so that a client's program finds them again after a kill."""

    def __init__(
        self, folder: Path, settings: dict[str, str], nodes: int, venue: Acceptor, seed: int
    ) -> None:
        self.folder = folder
        self.chance = random.Random(seed)  # noqa: S311
        self.seed = seed
        self.venue = venue
        self.venue.start("--accept-doubles")
        self.nodes: list[Node] = []
        for _ in range(nodes):
            ports = {"BULLION_PORT": str(free_port()), "BULLION_DESK_PORT": str(free_port())}
            self.nodes.append(start(folder, **settings, **ports))
        self.desk_token = ""
        self.clients: list[Client] = []
        self.kills: Counter[str] = Counter()
        self.gaps = 0
        """Gaps in the venue's numbers that nodes have told of."""
        self._answered: list[Wish] = []
        self._placed = threading.Event()

    @property
    def wishes(self) -> list[Wish]:
        return [wish for client in self.clients for wish in client.wishes]

    def stop(self) -> None:
        for node in self.nodes:
            node.stop(signal.SIGKILL)

    def kill_venue(self, *, faulty: bool = True) -> None:
        self.venue.kill()
        self.kills["venue"] += 1
        self.seed += 1
        plan = json.dumps({"seed": self.seed, "chances": CHANCES if faulty else {}})
        self.venue.start("--accept-doubles", "--faults", plan, "--fault-log", str(self.folder / "faults"))

    def faults(self) -> Counter[str]:
        """How often each kind has happened."""
        return Counter((self.folder / "faults").read_text("ascii").splitlines())

    def kill_node(self) -> None:
        at = self.chance.randrange(len(self.nodes))
        node = self.nodes[at]
        self.gaps += gaps_of(node)
        assert node.stop(signal.SIGKILL) == -signal.SIGKILL
        self.kills["node"] += 1
        self.nodes[at] = start(self.folder, **node.settings)

    def kill_both_sides(self) -> None:
        """One after the other in random order, while orders are placed."""
        sides = [self.kill_node, self.kill_venue] * (KILLS // 2)
        self.chance.shuffle(sides)
        for number, kill in enumerate(sides):
            self._wait_for(ORDERS * number // len(sides))
            time.sleep(self.chance.uniform(1, 2.5))  # The line comes back meanwhile. The moment of the kill.
            kill()

    def _wait_for(self, orders: int) -> None:
        until(lambda: len(self._answered) >= orders or self._placed.is_set(), within_s=PATIENCE_S)

    def place_all(self) -> None:
        try:
            together([lambda client=client: self._place(client) for client in self.clients])
        finally:
            self._placed.set()

    def _place(self, client: Client) -> None:
        """A client's program: an order after the other, each until it is taken, wherever a node answers."""
        with ExitStack() as ends:
            programs = [ends.enter_context(client.http(node)) for node in self.nodes]
            for number, wish in enumerate(client.wishes):
                tries, give_up_at = itertools.count(number), time.monotonic() + PATIENCE_S
                while not taken(wish.send(programs[next(tries) % len(programs)])):
                    assert time.monotonic() < give_up_at, "no node takes it"
                    time.sleep(0.1)
                self._answered.append(wish)

    def rows(self, statement: str) -> list[tuple[str, ...]]:
        return store_says(self.nodes[0], statement)

    def pending(self) -> int:
        return int(self.rows("SELECT count(*) FROM orders WHERE status = 'pending'")[0][0])

    def partly_covered(self) -> list[str]:
        found = self.rows(f"SELECT hedges.order_id {RESTS} WHERE rests.stopped = 1")
        return [order_id for (order_id,) in found]

    def in_book_mg(self) -> dict[str, Decimal]:
        """Of each order, the fine weight that is left to the hedge book."""
        found = self.rows(f"SELECT hedges.order_id, rests.fine_mg_taken {RESTS}")
        return {order_id: Decimal(taken_mg) for order_id, taken_mg in found}

    def executed_e8(self) -> dict[str, dict[str, int]]:
        """By the venue's own book: of each id, what was executed under each number of the venue."""
        book = open_book(str(self.folder / "venue.db"))
        try:
            return Exchange(book, Faults()).executed_orders()
        finally:
            book.close()


@pytest.mark.parametrize("case", CASES if CAMPAIGN else ["sqlite-kept"])
def test_either_side_killed_at_random_doubles_and_misreads_nothing(
    case: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = random.randrange(1 << 30) if CAMPAIGN else 11  # noqa: S311
    print(f"seed {seed}")
    name, numbers = CASES[case]
    with staged(tmp_path, stack(name, request), 2 if name == "postgres" else 1, numbers, seed) as stage:
        stage.kill_venue()  # Faulty from now on: a quick machine may place all orders before the next kill.
        began = time.monotonic()
        together([stage.place_all, stage.kill_both_sides])
        load_s = time.monotonic() - began
        # On a busy machine most orders wait for the line when the last one has been taken.
        until(lambda: len(stage.faults()) >= KINDS or not stage.pending(), within_s=PATIENCE_S)
        stage.kill_venue(faulty=False)
        final_s = settle(stage)
        check(stage)
        stage.gaps += sum(map(gaps_of, stage.nodes))
        faults = stage.faults()
        orders = Counter(status for (status,) in stage.rows("SELECT status FROM orders"))
        print(
            f"{case}: {len(stage.wishes)} orders, {dict(orders)}, kills {dict(stage.kills)}, "
            f"{faults.total()} faults {dict(faults)}, {stage.gaps} gaps told, "
            f"{load_s:.0f} s of load, all final {final_s:.1f} s after it"
        )
        assert min(stage.kills["venue"], stage.kills["node"]) >= KILLS // 2
        assert len(faults) >= KINDS
        assert stage.gaps or not CAMPAIGN
        assert final_s < PATIENCE_S
    done = bullion(tmp_path, "books", "verify", **stage.nodes[0].settings)
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def staged(
    folder: Path, settings: dict[str, str], nodes: int, numbers: dict[str, str], seed: int
) -> Iterator[Stage]:
    """A broker on a faulty line, and clients who want orders."""
    with ExitStack() as ends:
        venue = ends.enter_context(Acceptor(folder))
        profile = {"refuses_doubles": "false", "rate": "{ count = 500 }", "unknown_after_s": "2.5", **numbers}
        settings |= fix_settings(market_file(folder, venue.port, **profile))
        stage = Stage(folder, settings, nodes, venue, seed)
        ends.callback(stage.stop)
        with fix_market(stage.nodes[0]) as market:
            stage.desk_token = market.desk.headers["Authorization"].removeprefix("Bearer ")
            traders = [market.trader() for _ in range(CLIENTS)]
        for trader in traders:
            client = Client(trader.login_id, BROKER, trader.key, "")
            client.wishes += [wish_of(client, stage.chance) for _ in range(ORDERS // CLIENTS)]
            stage.clients.append(client)
        stage.kill_venue()
        yield stage


def wish_of(client: Client, chance: random.Random) -> Wish:
    body = {
        "symbol_code": "GOLD",
        "trade_type": chance.choice(["buy", "sell"]),
        "quantity": chance.randint(1, 500),
        "client_order_id": uuid4().hex,
    }
    return Wish(client, body)


def taken(answer: httpx.Response | None) -> bool:
    return answer is not None and code_of(answer) not in LATER


def gaps_of(node: Node) -> int:
    return int(metrics_of(node).get(f'bullion_line_gaps_total{{line="{LINE}"}}', 0))


def settle(stage: Stage) -> float:
    """How long it takes until every order is final. A rest that waits for the desk is taken or sent again."""
    began = time.monotonic()
    while left := stage.pending():
        assert time.monotonic() - began < PATIENCE_S, f"{left} orders are pending"
        with stage.nodes[0].desk(stage.desk_token) as desk:
            for order_id in stage.partly_covered():
                action = stage.chance.choice(["take", "again"])
                desk.do("POST", f"/orders/{order_id}/cover", {"action": action, "note": "a campaign"})
        time.sleep(0.2)
    return time.monotonic() - began


def check(stage: Stage) -> None:
    """Every client's word, the store and the venue's own book say the same."""
    together([lambda client=client: learn(stage.nodes[-1], client) for client in stage.clients])
    executed = stage.executed_e8()
    assert {name: deals for name, deals in executed.items() if len(deals) > 1} == {}, "executed twice"
    rows = stage.rows("SELECT order_id, client_order_id, state, filled_e8 FROM line_orders")
    assert {state for _, _, state, _ in rows} == {"final"}
    read_e8 = {name: int(filled_e8) for _, name, _, filled_e8 in rows if int(filled_e8)}
    assert read_e8 == {name: sum(deals.values()) for name, deals in executed.items()}, "misread"
    covered_e8: Counter[str] = Counter()
    for order_id, _, _, filled_e8 in rows:
        covered_e8[order_and_child(order_id)[0]] += int(filled_e8)
    in_book_mg = stage.in_book_mg()
    stored = {order_id: status for order_id, status in stage.rows("SELECT id, status FROM orders")}  # noqa: C416
    told = {wish.order["id"]: wish for wish in stage.wishes if wish.order is not None}
    assert len(told) == len(stage.wishes)
    assert told.keys() == stored.keys(), "an order is lost, or nobody asked for it"
    for order_id, wish in told.items():
        assert wish.order is not None
        assert wish.order["status"] == stored[order_id]
        # A quantity of 1 at the venue is 10 grams.
        covered = Decimal(covered_e8[order_id]).scaleb(-7)
        if stored[order_id] == "rejected":
            assert covered == 0, f"{order_id} is rejected, and the venue executed {covered} g"
            continue
        assert stored[order_id] == "open"
        covered += in_book_mg.get(order_id, Decimal(0)) / 999
        assert abs(covered - wish.body["quantity"]) < ROUNDED, f"{order_id}: {covered} g are covered"
    with stage.nodes[0].desk(stage.desk_token) as desk:
        (line,) = desk.do("GET", "/hedge/lines")["items"]
        assert (line["state"], line["open_orders"], line["unknown_orders"]) == ("up", 0, 0)
        assert desk.do("GET", "/hedge/breaks")["items"] == []


def learn(node: Node, client: Client) -> None:
    with client.http(node) as http:
        for wish in client.wishes:
            wish.learn(http)
