"""Two nodes over one PostgreSQL, one Redis and one venue: each order is sent once, whoever stands still."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.node import Node, running
from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis

from .fixtures import Deployment, flood, resolved, together

Pair = tuple[Deployment, Node, Node]
ORDERS = 6 if SCALE == 1 else 12
STILL_S = 8.0 if SCALE == 1 else 30.0
"""Longer than the lease of a hedge request, and than PostgreSQL lets a transaction stand open."""


@pytest.fixture(scope="module")
def pair(
    postgres: Postgres, redis: Redis, schema_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """What one test leaves is settled: the next goes on with the same books."""
    folder = tmp_path_factory.mktemp("pair")
    address = postgres.new_database(schema_template)
    deployment = Deployment(folder, {"BULLION_DATABASE_URL": address, "BULLION_REDIS_URL": redis.url})
    with (
        running(folder, **deployment.settings) as first,
        running(folder, **deployment.settings) as second,
    ):
        deployment.set_up(first)
        deployment.wishes(1)
        deployment.learn_all(second)
        deployment.learn_all(first)
        yield deployment, first, second


@contextmanager
def standing_still(node: Node) -> Iterator[None]:
    os.kill(node.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(node.process.pid, signal.SIGCONT)


def test_no_order_is_sent_twice_while_nothing_fails(pair: Pair) -> None:
    deployment, first, second = pair
    deployment.behaviour(first, "holding", mode="hold")
    for _ in range(SCALE):
        programs = [(node, deployment.wishes(ORDERS)) for node in (first, second)]
        flood([(node, wishes) for node, lists in programs for wishes in lists])
    # Both nodes settle what the holding venue did not decide; some pass from one to the other.
    time.sleep(2)
    deployment.settle(first)
    deployment.conclude(second)
    deployment.check(settled=True, submitted_once=True)


def test_the_same_keys_sent_to_both_nodes_are_one_order_each(pair: Pair) -> None:
    deployment, first, second = pair
    deployment.behaviour(first, "holding", mode="hold")
    lists = deployment.wishes(ORDERS)
    flood([(node, wishes) for wishes in lists for node in (first, second)])
    deployment.settle(second)
    deployment.conclude(first)
    deployment.check(settled=True, submitted_once=True)


def test_a_node_that_stood_still_does_no_harm_when_it_goes_on(pair: Pair) -> None:
    """In the middle of whatever it was doing; the other one takes over, and has done it all by then."""
    deployment, first, second = pair
    deployment.behaviour(first, "holding", mode="hold")
    lists, others = deployment.wishes(ORDERS), deployment.wishes(ORDERS // 2)

    def stand_still() -> None:
        time.sleep(0.3)
        with standing_still(first):
            ends_at = time.monotonic() + STILL_S
            flood([(second, wishes) for wishes in others])
            resolved(deployment, 20, but="holding")
            deployment.check()
            time.sleep(max(0.0, ends_at - time.monotonic()))

    together([lambda: flood([(first, wishes) for wishes in lists]), stand_still])
    deployment.check()
    deployment.settle(first)
    deployment.conclude(second)
