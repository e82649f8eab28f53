"""Many clients at once, on one node and on two: one order for a key, and never a gram past the allocation."""

import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.node import Node, running, until
from tests.support.orders import (
    POSITIONS,
    REPLAYED,
    Market,
    Trader,
    all_at_once,
    booked,
    refused,
    replayed,
)
from tests.support.scale import SCALE
from tests.support.stacks import STACKS, stack

pytestmark = pytest.mark.both_stacks

DEPLOYMENTS = [*STACKS, "two nodes"] if SCALE > 1 else ["sqlite", "two nodes"]
"""One node on PostgreSQL is tried in a campaign: each of the two nodes has as many clients at once, too."""
CLIENTS = 100
ROUNDS = 3 if SCALE == 1 else 8 * SCALE
BUY: dict[str, Any] = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
Arena = tuple[Market, list[Trader]]


@pytest.fixture(scope="module", params=DEPLOYMENTS)
def nodes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Market, list[Node]]]:
    """A node on either stack, or two processes over one store and one limiter."""
    count = 2 if request.param == "two nodes" else 1
    settings = stack("sqlite" if request.param == "sqlite" else "postgres", request)
    folder = tmp_path_factory.mktemp("races")
    with contextlib.ExitStack() as running_nodes:
        found = [running_nodes.enter_context(running(folder, **settings)) for _ in range(count)]
        yield running_nodes.enter_context(Market.open(found[0])), found


@pytest.fixture
def arena(nodes: tuple[Market, list[Node]]) -> Iterator[Arena]:
    """The market, and one account's traders: one for each node."""
    shared, each_node = nodes
    with shared.visit() as market:
        login = market.account()
        yield market, [market.trader(login, node=node) for node in each_node]


def settled(answers: list[httpx.Response], traders: list[Trader], placed: list[Any]) -> list[httpx.Response]:
    """The answers, where those that said `later` were asked again."""
    final = list(answers)
    for number, answer in enumerate(answers):
        tries = 0
        while answer.status_code == 503 and tries < 20:
            refused(answer, "service_unavailable")
            key, body = placed[number]
            answer, tries = traders[number % len(traders)].place(key, **body), tries + 1
        final[number] = answer
    return final


def place_all(traders: list[Trader], placed: list[Any]) -> list[httpx.Response]:
    return settled(all_at_once(traders, placed), traders, placed)


def codes(answers: list[httpx.Response]) -> Counter[str]:
    return Counter(
        str(answer.status_code) if answer.is_success else answer.json()["detail"]["code"]
        for answer in answers
    )


def check_book(traders: list[Trader]) -> list[dict[str, Any]]:
    """What the book says of itself holds together, seen from every node."""
    views = [(trader.orders(limit=200), trader.get(POSITIONS)) for trader in traders]
    assert all(view == views[0] for view in views)
    listed, positions = views[0]
    orders: list[dict[str, Any]] = listed["items"]
    assert listed["total"] == len(orders) <= 200
    labels = [int(order["deal_label"].removeprefix("T-")) for order in orders]
    assert labels == list(range(len(orders), 0, -1)), "every number once, newest first"
    assert len({order["id"] for order in orders}) == len(orders)
    times = [order["created_at"] for order in orders]
    assert times == sorted(times, reverse=True)
    for metal, unit in (("gold", "g"), ("silver", "kg")):
        net = sum(
            Decimal(order["quantity"]) * (1 if order["trade_type"] == "buy" else -1)
            for order in orders
            if order["unit"] == unit
        )
        assert Decimal(positions[metal]["net"]) == net
        assert Decimal(positions[metal]["used"]) == abs(net)
    return orders


def test_a_hundred_clients_with_one_key(arena: Arena) -> None:
    _, traders = arena
    name = str(uuid4())
    answers = place_all(traders, [(name, BUY)] * CLIENTS)
    assert codes(answers) == {"201": 1, "200": CLIENTS - 1}
    (order,) = check_book(traders)
    for answer in answers:
        assert answer.json() == order
        assert (answer.status_code == 200) == (answer.headers.get(REPLAYED) == "true")


def test_a_hundred_clients_with_one_key_and_two_bodies(arena: Arena) -> None:
    """One of the bodies wins; whoever sent the other is told, and nothing of it is booked."""
    _, traders = arena
    name = str(uuid4())
    # Pairs of the same body next to each other, so that both bodies reach both nodes.
    placed = [(name, BUY | {"quantity": 1 + number // 2 % 2}) for number in range(CLIENTS)]
    answers = place_all(traders, placed)
    (order,) = check_book(traders)
    won = Decimal(order["quantity"])
    for (_, body), answer in zip(placed, answers, strict=True):
        if body["quantity"] == won:
            assert answer.json() == order
        else:
            refused(answer, "idempotency_key_reused")
    assert codes(answers) == {"201": 1, "200": CLIENTS // 2 - 1, "idempotency_key_reused": CLIENTS // 2}


def test_a_hundred_clients_with_one_key_and_a_moved_price(arena: Arena) -> None:
    _, traders = arena
    name = str(uuid4())
    answers = place_all(traders, [(name, BUY | {"expected_price": 1})] * CLIENTS)
    assert codes(answers) == {"price_moved": CLIENTS}
    assert sum(REPLAYED not in answer.headers for answer in answers) == 1
    assert check_book(traders) == []


@pytest.mark.parametrize("side", ["buy", "sell"])
def test_a_hundred_clients_for_an_allocation_of_fifty(arena: Arena, side: str) -> None:
    market, traders = arena
    market.allocate(traders[0].login_id, gold="50")
    placed = [(str(uuid4()), BUY | {"trade_type": side}) for _ in range(CLIENTS)]
    answers = place_all(traders, placed)
    assert codes(answers) == {"201": 50, "limit_exceeded": 50}
    assert len(check_book(traders)) == 50
    position = traders[0].get(POSITIONS)["gold"]
    assert (position["used"], position["free"]) == ("50.0000", "0.0000")
    # Whoever was booked is replayed, and whoever was not still is not.
    again = all_at_once(traders, placed)
    assert codes(again) == {"200": 50, "limit_exceeded": 50}
    for first, second in zip(answers, again, strict=True):
        if first.status_code == 201:
            assert replayed(second) == first.json()


def test_orders_of_many_sizes_never_go_past_the_allocation(arena: Arena) -> None:
    """In both metals and in both directions: at no time, not only in the end."""
    market, traders = arena
    market.allocate(traders[0].login_id, gold="5", silver="7")
    chance = random.Random(5)  # noqa: S311
    placed = [
        (
            str(uuid4()),
            {
                "symbol_code": chance.choice(["GOLD", "SILVER"]),
                "trade_type": chance.choice(["buy", "sell"]),
                "quantity": chance.choice([0.5, 1, 2, 3.25, 5]),
            },
        )
        for _ in range(150)
    ]
    answers = place_all(traders, placed)
    assert set(codes(answers)) == {"201", "limit_exceeded"}
    limits = {"g": Decimal(5), "kg": Decimal(7)}
    nets = {"g": Decimal(0), "kg": Decimal(0)}
    orders = check_book(traders)
    assert len(orders) == codes(answers)["201"]
    for order in reversed(orders):
        sign = 1 if order["trade_type"] == "buy" else -1
        nets[order["unit"]] += sign * Decimal(order["quantity"])
        assert abs(nets[order["unit"]]) <= limits[order["unit"]], order
    booked_ids = {answer.json()["id"] for answer in answers if answer.status_code == 201}
    assert booked_ids == {order["id"] for order in orders}


def test_accounts_do_not_stand_in_each_others_way(arena: Arena, nodes: tuple[Market, list[Node]]) -> None:
    market, _ = arena
    logins = [market.account(gold="3") for _ in range(10)]
    others = [market.trader(login, node=node) for node in nodes[1] for login in logins]
    placed = [(f"key {number // len(others)}", BUY) for number in range(5 * len(others))]
    answers = place_all(others, placed)
    for trader in others[:10]:
        assert len(check_book([trader])) == 3
    assert codes(answers)["201"] == 30
    assert set(codes(answers)) <= {"201", "200", "limit_exceeded"}


def test_the_desk_halts_while_orders_rain(own_market: Market) -> None:
    """Once the desk was told that trading is halted nothing is booked, whatever was under way."""
    trader = own_market.trader()
    with ThreadPoolExecutor(1) as pool:
        for _ in range(3):
            start = trader.orders()["total"]
            raining = pool.submit(all_at_once, [trader], [(str(uuid4()), BUY) for _ in range(100)])
            until(lambda start=start: trader.orders()["total"] > start, within_s=20)
            own_market.switch(halted=True)
            before = trader.orders()["total"]
            answers = raining.result()
            assert trader.orders()["total"] == before
            assert set(codes(answers)) <= {"201", "trading_halted"}
            assert codes(answers)["201"] == before - start
            own_market.switch(halted=False)


def test_the_desk_lowers_the_limit_while_orders_rain(own_market: Market) -> None:
    trader = own_market.trader(own_market.account(gold="1000"))
    with ThreadPoolExecutor(1) as pool:
        raining = pool.submit(all_at_once, [trader], [(str(uuid4()), BUY) for _ in range(150)], 10)
        own_market.allocate(trader.login_id, gold="1")
        net = Decimal(trader.net())
        answers = raining.result()
    assert set(codes(answers)) <= {"201", "limit_exceeded"}
    assert Decimal(trader.net()) == max(net, Decimal(1)), "nothing was added above the lower limit"
    assert trader.orders()["total"] == codes(answers)["201"]


def test_pages_and_totals_agree_while_orders_rain(market: Market) -> None:
    """A page and its total are of one moment: no order is there twice, none is missing."""
    trader = market.trader()
    reader = market.trader(trader.login_id)
    with ThreadPoolExecutor(1) as pool:
        raining = pool.submit(all_at_once, [trader], [(str(uuid4()), BUY) for _ in range(150)], 10)
        seen = 0
        while not raining.done():
            for filters in ({}, {"symbol_code": "GOLD"}, {"trade_type": "buy", "since": "2000-01-01"}):
                page = reader.orders(limit=200, **filters)
                labels = [order["deal_label"] for order in page["items"]]
                assert labels == [f"T-{number}" for number in range(page["total"], 0, -1)]
                assert page["total"] >= seen
                seen = page["total"]
        assert codes(raining.result()) == {"201": 150}
    assert len(check_book([trader, reader])) == 150


def soon_booked(trader: Trader) -> None:
    """What the desk opens is open everywhere within a second, or a few if the machine is busy."""
    until(lambda: trader.place().status_code == 201, within_s=3)


Desk = Callable[[Market, Trader], object]
CLOSING: dict[str, tuple[Desk, Desk]] = {
    "trading_halted": (
        lambda market, _: market.switch(halted=True),
        lambda market, _: market.switch(halted=False),
    ),
    "symbol_not_trading": (
        lambda market, _: market.change("GOLD", trading=False),
        lambda market, _: market.change("GOLD", trading=True),
    ),
    "limit_exceeded": (
        lambda market, trader: market.allocate(trader.login_id, gold="0"),
        lambda market, trader: market.allocate(trader.login_id, gold="1000000"),
    ),
    "api_access_disabled": (
        lambda market, trader: market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"api_access": False}),
        lambda market, trader: market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"api_access": True}),
    ),
}


@pytest.mark.parametrize("code", CLOSING)
def test_what_the_desk_closed_at_one_node_is_closed_for_the_next_order_at_any(
    arena: Arena, code: str
) -> None:
    """Not within a second: at once, for the booking reads what the desk has changed."""
    market, traders = arena
    close, reopen = CLOSING[code]
    for _ in range(ROUNDS):
        soon_booked(traders[-1])
        close(market, traders[-1])
        answers = [trader.place() for trader in reversed(traders)]
        reopen(market, traders[-1])
        for answer in answers:
            refused(answer, code)


def test_a_key_revoked_at_one_node_books_at_none(arena: Arena, nodes: tuple[Market, list[Node]]) -> None:
    market, traders = arena
    login = traders[0].login_id
    for _ in range(ROUNDS):
        issued = market.desk.key(login)
        trader = market.at_work(login, issued, node=nodes[1][-1])
        booked(trader.place())
        market.desk.do("POST", f"/keys/{issued['key_id']}/revoke")
        refused(trader.place(), "credential_revoked")


def test_a_price_set_at_one_node_is_the_price_of_the_next_order_at_any(arena: Arena) -> None:
    market, traders = arena
    market.symbol("CHANGING")
    for number in range(100, 100 + ROUNDS):
        price = f"{number}.00"
        market.change("CHANGING", pricing={"kind": "fixed", "buy": price, "sell": price})
        assert traders[-1].buy(1, "CHANGING")["price"] == price
