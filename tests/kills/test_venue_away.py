"""A venue that is away for long, and a desk that takes its time: orders wait, are seen, and resolve."""

import signal
import time
from decimal import Decimal
from pathlib import Path

import pytest

from tests.support.node import Node, running, start
from tests.support.scale import SCALE
from tests.support.stacks import STACKS, stack

from .fixtures import Client, Deployment, Wish, code_of, flood, resolved

AWAY_S = 12.0 if SCALE == 1 else 180.0
BACK_WITHIN_S = 20.0
"""The longest pause between two questions and one more turn take a few; the rest is for a busy machine."""

on_both = pytest.mark.parametrize("name", STACKS)
if SCALE == 1:  # What differs between the stores is told by the tests of the store's contract.
    pytestmark = pytest.mark.stacks_in_turn


def placed(deployment: Deployment, node: Node, each: int) -> list[Wish]:
    """Some orders of every client that its venue has taken and not decided."""
    lists = [[deployment.wish(client) for _ in range(each)] for client in deployment.clients]
    flood([(node, wishes) for wishes in lists])
    wishes = [wish for each_list in lists for wish in each_list]
    assert {wish.told[-1].status_code for wish in wishes} == {202}
    return wishes


def check_pending(node: Node, client: Client) -> None:
    """They are read one by one, listed, and count: also a replay says that they are pending."""
    orders = [wish.order for wish in client.wishes if wish.order is not None]
    assert client.get(node, "/orders", status="pending", limit=200)["total"] == len(orders)
    listed = client.get(node, "/orders", limit=200)
    assert sorted(order["id"] for order in listed["items"]) == sorted(order["id"] for order in orders)
    positions = client.get(node, "/positions")
    nets = {"g": Decimal(0), "kg": Decimal(0)}
    for order in orders:
        assert client.get(node, f"/orders/{order['id']}") == order
        assert order["status"] == "pending"
        sign = 1 if order["trade_type"] == "buy" else -1
        nets[order["unit"]] += sign * Decimal(order["quantity"])
    assert {
        entry["unit"]: Decimal(entry["net"]) for entry in (positions["gold"], positions["silver"])
    } == nets
    with client.http(node) as http:
        for wish in client.wishes:
            if wish.order is not None:
                answer = wish.send(http)
                assert answer is not None
                assert answer.status_code == 200


def refused_meanwhile(node: Node, wish: Wish) -> bool:
    with wish.client.http(node) as http:
        answer = wish.send(http)
    assert answer is not None
    return code_of(answer) == "production_prerequisites_unmet"


def first_refused(deployment: Deployment, node: Node) -> Wish:
    """Some may still get in, on the venue's last good word; then they wait like the others."""
    give_up_at = time.monotonic() + 30
    while not refused_meanwhile(node, wish := deployment.wish(deployment.clients[0])):
        assert time.monotonic() < give_up_at
        time.sleep(0.1)
    return wish


@on_both
def test_orders_outlast_a_venue_that_is_away_for_long(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    deployment = Deployment(tmp_path, stack(name, request))
    node = start(tmp_path, **deployment.settings)
    try:
        deployment.set_up(node, ["holding"])
        with deployment.clients[0].http(node) as http:
            deployment.wish(deployment.clients[0]).learn(http)
        wishes = placed(deployment, node, 5)
        deployment.behaviour(node, "holding", mode="down")
        late = first_refused(deployment, node)
        killed = False
        back_at = time.monotonic() + AWAY_S
        while time.monotonic() < back_at:
            assert refused_meanwhile(node, late)
            for client in deployment.clients:
                check_pending(node, client)
            deployment.check()
            if not killed and time.monotonic() > back_at - AWAY_S / 2:
                killed = True
                node.stop(signal.SIGKILL)
                deployment.check(dead=True)
                node = start(tmp_path, **deployment.settings)
            time.sleep(1)
        deployment.behaviour(node, "holding", mode="fill")
        took_s = resolved(deployment, BACK_WITHIN_S)
        print(f"resolved after {took_s:.1f} s")
        with late.client.http(node) as http:
            assert late.learn(http).status_code == 201
        assert {wish.told[-1].status_code for wish in wishes} == {200}
        deployment.conclude(node)
        deployment.check(settled=True, submitted_once=True)
    finally:
        node.stop()


@on_both
def test_orders_outlast_restarts_until_the_desk_answers_them(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    deployment = Deployment(tmp_path, {"BULLION_HEDGE": "desk", **stack(name, request)})
    with running(tmp_path, **deployment.settings) as node:
        deployment.set_up(node, ["filling"])
        with deployment.clients[0].http(node) as http:
            deployment.wish(deployment.clients[0]).learn(http)
        placed(deployment, node, 2)
    for number in (signal.SIGKILL, signal.SIGTERM):
        node = start(tmp_path, **deployment.settings)
        try:
            for client in deployment.clients:
                check_pending(node, client)
            deployment.check()
        finally:
            node.stop(number)
    with running(tmp_path, **deployment.settings) as node, deployment.desk(node, "filling") as desk:
        orders = [wish.order for wish in deployment.all_wishes() if wish.order is not None]
        assert {order["id"] for order in orders} == {
            each["order_id"] for each in desk.do("GET", "/hedge/queue?limit=200")["items"]
        }
        for index, order in enumerate(orders):
            desk.do("POST", f"/orders/{order['id']}/{'refuse' if index % 3 == 0 else 'confirm'}")
        deployment.learn_all(node)
        tables = deployment.check(settled=True)
        states = {order["id"]: order["status"] for order in tables["orders"]}
        assert [states[order["id"]] for order in orders] == [
            "rejected" if index % 3 == 0 else "open" for index in range(len(orders))
        ]
