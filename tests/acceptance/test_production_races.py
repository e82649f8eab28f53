"""Many clients at once in production, on one node and on two: one order and one hedge for a key, and no more
metal than allocation and stock allow."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.node import Node, running, until
from tests.support.orders import REPLAYED, Placed, all_at_once, refused
from tests.support.production import (
    PATIENCE_S,
    LiveMarket,
    LiveTrader,
    sent_to_venue,
    store_says,
)
from tests.support.scale import SCALE
from tests.support.stacks import STACKS, stack

pytestmark = pytest.mark.both_stacks

DEPLOYMENTS = [*STACKS, "two nodes"] if SCALE > 1 else ["sqlite", "two nodes"]
"""One node on PostgreSQL is tried in a campaign: each of the two nodes has as many clients at once, too."""
CLIENTS = 100
BUY: dict[str, Any] = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
HOLDING = {"pending", "open", "closing"}
COME_BACK = {"booking_busy", "booking_conflict", "booking_not_completed", "booking_outcome_unknown"}
Nodes = list[Node]


@pytest.fixture(scope="module", params=DEPLOYMENTS)
def nodes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """A node on either stack, or two processes over one store and one limiter."""
    count = 2 if request.param == "two nodes" else 1
    settings = stack("sqlite" if request.param == "sqlite" else "postgres", request)
    folder = tmp_path_factory.mktemp("live-races")
    with contextlib.ExitStack() as started:
        yield [
            started.enter_context(running(folder, BULLION_PRODUCTION="on", **settings)) for _ in range(count)
        ]


@pytest.fixture
def market(nodes: Nodes) -> Iterator[LiveMarket]:
    """Open on every node: each has to hear of the venue by itself."""
    with LiveMarket.open(nodes[0]) as market:
        with market.visit() as visited:
            for watcher in traders(visited, nodes):
                for symbol in ("GOLD", "SILVER"):
                    until(
                        lambda watcher=watcher, symbol=symbol: watcher.quote(symbol)["reason"] is None,
                        within_s=PATIENCE_S,
                    )
        yield market


def traders(market: LiveMarket, nodes: Nodes, login: str | None = None) -> list[LiveTrader]:
    """One account's, one for each node."""
    login = login or market.account()
    return [market.trader(login, node=node) for node in nodes]


def code_of(answer: httpx.Response) -> str:
    return str(answer.status_code) if answer.is_success else str(answer.json()["detail"]["code"])


def codes(answers: Sequence[httpx.Response]) -> Counter[str]:
    return Counter(map(code_of, answers))


def place_all(many: Sequence[LiveTrader], placed: Sequence[Placed]) -> list[httpx.Response]:
    """The answers; whoever is told to come back with the same key does."""
    answers = all_at_once(many, placed)
    for number, answer in enumerate(answers):
        tries = 0
        while code_of(answer) in COME_BACK and tries < 20:
            key, body = placed[number]
            answer, tries = many[number % len(many)].place(key, **body), tries + 1
        answers[number] = answer
    return answers


def new(count: int = CLIENTS, **body: Any) -> list[Placed]:
    return [(str(uuid4()), {**BUY, **body}) for _ in range(count)]


def check_book(market: LiveMarket, many: Sequence[LiveTrader]) -> list[dict[str, Any]]:
    """Once nothing is pending: list, positions and the venue's ledger agree, seen from every node."""
    until(lambda: many[0].orders(status="pending")["total"] == 0, within_s=PATIENCE_S)
    views = [(trader.orders(limit=200), trader.positions()) for trader in many]
    assert all(view == views[0] for view in views)
    listed, positions = views[0]
    orders: list[dict[str, Any]] = listed["items"]
    assert listed["total"] == len(orders) == len({order["id"] for order in orders})
    times = [order["created_at"] for order in orders]
    assert times == sorted(times, reverse=True)
    held = [order for order in orders if order["status"] in HOLDING]
    for metal, unit in (("gold", "g"), ("silver", "kg")):
        net = sum(signed(order) for order in held if order["unit"] == unit)
        assert Decimal(positions[metal]["net"]) == net
    for row in positions["symbols"]:
        mine = [order for order in held if order["symbol_code"] == row["symbol_code"]]
        assert mine
        assert Decimal(row["net"]) == sum(map(signed, mine))
    assert {row["symbol_code"] for row in positions["symbols"]} == {order["symbol_code"] for order in held}
    outcomes = Counter(order["status"] for order in orders)
    sent = store_says(
        market.node,
        "SELECT outcome, submissions FROM venue_orders WHERE order_id IN "
        f"(SELECT id FROM orders WHERE book_id IN (SELECT book_id FROM orders WHERE id = '{first(orders)}'))",
    )
    assert Counter(outcome for outcome, _ in sent) == Counter(
        {"confirmed": len(orders) - outcomes["rejected"], "refused": outcomes["rejected"]}
    )
    assert {times_sent for _, times_sent in sent} <= {"1"}, "no order is sent twice"
    return orders


def first(orders: list[dict[str, Any]]) -> str:
    return str(orders[0]["id"]) if orders else ""


def signed(order: dict[str, Any]) -> Decimal:
    return Decimal(order["quantity"]) * (1 if order["trade_type"] == "buy" else -1)


def test_a_hundred_clients_with_one_key(market: LiveMarket, nodes: Nodes) -> None:
    many, name = traders(market, nodes), str(uuid4())
    answers = place_all(many, [(name, BUY)] * CLIENTS)
    counted = codes(answers)
    assert counted["201"] + counted["202"] == 1, counted
    assert counted["200"] == CLIENTS - 1, counted
    (order,) = check_book(market, many)
    assert order["status"] == "open"
    for answer in answers:
        assert answer.json()["id"] == order["id"]
        assert (answer.status_code == 200) == (answer.headers.get(REPLAYED) == "true")
    assert sent_to_venue(market) == [order["id"]]
    assert len(market.executions()) == 1


def test_a_hundred_clients_with_one_key_that_the_venue_refuses(market: LiveMarket, nodes: Nodes) -> None:
    """At most one is told as the first; some may read it while it is still pending."""
    market.venue(mode="refuse")
    many, name = traders(market, nodes), str(uuid4())
    answers = place_all(many, [(name, BUY)] * CLIENTS)
    (order,) = check_book(market, many)
    assert order["status"] == "rejected"
    assert sum(REPLAYED not in answer.headers for answer in answers) == 1
    for answer in answers:
        if answer.is_success:
            assert (answer.json()["id"], answer.json()["status"]) == (order["id"], "pending")
        else:
            assert refused(answer, "order_rejected")["order"] == order
    assert many[0].net() == "0.0000"
    assert [each["outcome"] for each in market.executions()] == ["refused"]


def test_a_hundred_clients_with_one_key_and_two_bodies(market: LiveMarket, nodes: Nodes) -> None:
    many, name = traders(market, nodes), str(uuid4())
    placed = [(name, BUY | {"quantity": 1 + number // 2 % 2}) for number in range(CLIENTS)]
    answers = place_all(many, placed)
    (order,) = check_book(market, many)
    won = Decimal(order["quantity"])
    for (_, body), answer in zip(placed, answers, strict=True):
        if body["quantity"] == won:
            assert answer.json()["id"] == order["id"]
        else:
            refused(answer, "idempotency_key_reused")
    assert len(market.executions()) == 1


@pytest.mark.parametrize("side", ["buy", "sell"])
def test_a_hundred_clients_for_an_allocation_of_fifty(market: LiveMarket, nodes: Nodes, side: str) -> None:
    many = traders(market, nodes, market.account(gold="50"))
    placed = new(trade_type=side)
    answers = place_all(many, placed)
    counted = codes(answers)
    assert counted["201"] + counted["202"] + counted["200"] == 50, counted
    assert counted["limit_exceeded"] == 50, counted
    orders = check_book(market, many)
    assert [order["status"] for order in orders] == ["open"] * 50
    assert len({order["deal_no"] for order in orders}) == 50
    position = many[0].positions()["gold"]
    assert (position["used"], position["free"]) == ("50.0000", "0.0000")
    assert len(market.executions()) == 50
    again = place_all(many, placed)
    assert codes(again) == {"200": 50, "limit_exceeded": 50}
    assert len(market.executions()) == 50, "a replay hedges nothing"


def test_what_the_venue_refuses_makes_room_and_leaves_nothing(market: LiveMarket, nodes: Nodes) -> None:
    """Orders come into the book and leave it again while others are decided on it."""
    market.venue(mode="refuse")
    market.change("GOLD", stock="10")
    many = traders(market, nodes, market.account(gold="7"))
    answers = place_all(many, new(60))
    assert set(codes(answers)) <= {"order_rejected", "limit_exceeded", "202", "200"}, codes(answers)
    assert codes(answers)["order_rejected"]
    orders = check_book(market, many)
    assert {order["status"] for order in orders} == {"rejected"}
    assert many[0].net() == "0.0000"
    assert many[0].positions()["symbols"] == []
    assert market.stock() == "10.0000"


def test_a_stock_is_never_oversold(market: LiveMarket, nodes: Nodes) -> None:
    """Several accounts buy from one stock; sells do not draw on it."""
    market.change("GOLD", stock="30")
    logins = [market.account() for _ in range(4)]
    many = [trader for login in logins for trader in traders(market, nodes, login)]
    sells = new(20, trade_type="sell")
    answers = place_all(many, [*new(60), *sells])
    bought, sold = codes(answers[:60]), codes(answers[60:])
    assert bought["201"] + bought["202"] + bought["200"] == 30, bought
    assert bought["out_of_stock"] == 30, bought
    assert sold["201"] + sold["202"] + sold["200"] == 20, sold
    assert market.stock() == "0.0000"
    for number in range(4):
        check_book(market, many[number * len(nodes) : (number + 1) * len(nodes)])


def test_a_stock_comes_back_while_others_draw_on_it(market: LiveMarket, nodes: Nodes) -> None:
    """The desk deletes what was bought while it is bought: at the end the sum is what it was."""
    market.change("GOLD", stock="20")
    many = traders(market, nodes)
    bought = [many[0].buy(1)["id"] for _ in range(10)]
    with ThreadPoolExecutor(1) as pool:
        raining = pool.submit(place_all, many, new(30))
        for order_id in bought:
            market.act(order_id, "delete")
        answers = raining.result()
    taken = sum(answer.is_success for answer in answers)
    assert set(codes(answers)) <= {"201", "202", "200", "out_of_stock"}, codes(answers)
    assert 10 <= taken <= 20
    assert Decimal(market.stock()) == 20 - taken
    assert many[0].orders(status="deleted")["total"] == 10
    assert Decimal(many[0].net()) == taken


def test_orders_of_both_sides_never_go_past_the_allocation(market: LiveMarket, nodes: Nodes) -> None:
    many = traders(market, nodes, market.account(gold="5", silver="7"))
    sides, symbols, sizes = ("buy", "sell"), ("GOLD", "SILVER"), (0.5, 1, 2, 3.25, 5)
    placed = [
        (
            str(uuid4()),
            {
                "symbol_code": symbols[number % 2],
                "trade_type": sides[number // 2 % 2],
                "quantity": sizes[number % len(sizes)],
            },
        )
        for number in range(80)
    ]
    answers = place_all(many, placed)
    assert set(codes(answers)) <= {"201", "202", "200", "limit_exceeded"}, codes(answers)
    limits = {"g": Decimal(5), "kg": Decimal(7)}
    nets = {"g": Decimal(0), "kg": Decimal(0)}
    for order in reversed(check_book(market, many)):
        nets[order["unit"]] += signed(order)
        assert abs(nets[order["unit"]]) <= limits[order["unit"]], order


def test_an_account_sends_sixty_a_minute_whichever_key_and_node_it_uses(
    market: LiveMarket, nodes: Nodes
) -> None:
    market.switch(budgets={"account_orders_per_minute": 60})
    login = market.account()
    many = [*traders(market, nodes, login), *traders(market, nodes, login)]
    answers = all_at_once(many, new(symbol_code="NOWHERE"))
    assert codes(answers) == {"unknown_symbol": 60, "rate_limited": 40}


Desk = Callable[[LiveMarket, str], object]
CLOSING: dict[str, tuple[Desk, Desk]] = {
    "production_trading_disabled": (
        lambda market, _: market.switch(production=False),
        lambda market, _: market.switch(production=True),
    ),
    "production_prerequisites_unmet": (
        lambda market, _: market.switch(paused=True),
        lambda market, _: market.switch(paused=False),
    ),
    "production_trading_disabled for the account": (
        lambda market, login: market.desk.do("PATCH", f"/accounts/{login}", {"production_trading": False}),
        lambda market, login: market.desk.do("PATCH", f"/accounts/{login}", {"production_trading": True}),
    ),
}


@pytest.mark.parametrize("how", CLOSING)
def test_nothing_is_admitted_after_the_desk_was_told_that_production_is_off(
    market: LiveMarket, nodes: Nodes, how: str
) -> None:
    """Whatever was under way, at whichever node."""
    many = traders(market, nodes)
    reader, login = many[0], many[0].login_id
    close, reopen = CLOSING[how]
    with ThreadPoolExecutor(1) as pool:
        start = reader.orders()["total"]
        raining = pool.submit(all_at_once, many, new(150))
        until(lambda: reader.orders()["total"] > start, within_s=PATIENCE_S)
        close(market, login)
        before = reader.orders()["total"]
        late = [trader.place() for trader in many]
        answers = raining.result()
    assert reader.orders()["total"] == before
    counted = codes(answers)
    # On a busy machine some wait too long behind the others: nothing was booked then either.
    assert set(counted) <= {"201", "202", "booking_busy", how.partition(" ")[0]}, counted
    assert counted["201"] + counted["202"] == before - start
    for answer in late:
        refused(answer, how.partition(" ")[0])
    reopen(market, login)
    until(lambda: all(trader.place().is_success for trader in many), within_s=PATIENCE_S)
    check_book(market, many)


def test_what_the_desk_closed_at_one_node_is_closed_for_the_next_order_at_any(
    market: LiveMarket, nodes: Nodes
) -> None:
    many = traders(market, nodes)
    for number in range(2 * len(CLOSING) * SCALE):
        close, reopen = CLOSING[list(CLOSING)[number % len(CLOSING)]]
        until(lambda: many[-1].place().is_success, within_s=PATIENCE_S)
        close(market, many[0].login_id)
        answers = [trader.place() for trader in reversed(many)]
        reopen(market, many[0].login_id)
        for answer in answers:
            refused(answer, list(CLOSING)[number % len(CLOSING)].partition(" ")[0])


def test_pages_and_totals_agree_while_orders_are_settled(market: LiveMarket, nodes: Nodes) -> None:
    """A page, its states and its total are of one moment."""
    market.venue(mode="fill", delay_ms=50)
    many = traders(market, nodes)
    reader = market.trader(many[0].login_id)
    with ThreadPoolExecutor(1) as pool:
        raining = pool.submit(place_all, many, new(120))
        seen = 0
        while not raining.done():
            page = reader.orders(limit=200)
            assert page["total"] == len(page["items"]) >= seen
            seen = page["total"]
            for status in ("pending", "open"):
                page = reader.orders(limit=200, status=status)
                assert {order["status"] for order in page["items"]} <= {status}
                assert page["total"] == len(page["items"])
        assert len([answer for answer in raining.result() if answer.is_success]) == 120
    assert len(check_book(market, many)) == 120
