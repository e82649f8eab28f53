"""Several API processes at full load: budgets, allocations, keys and books hold."""

import asyncio
import contextlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from bullion.store.postgres import POOL_SIZE
from tests.support.node import Node, interpreter, running, until
from tests.support.orders import ORDERS, UNBOUNDED, Market, Trader
from tests.support.processes import cpu_s
from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis

from .crowd import Answered, Connection
from .ledger import Ledger

BUY = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
ME = "/api/trading/test/v1/me"
_CONNECTIONS = 8
"""To each node."""


@dataclass
class Deployment:
    postgres: Postgres
    database_url: str
    nodes: list[Node]
    start_cpu_s: list[float]
    """Of those that are new interpreters."""

    def sessions(self) -> int:
        database = self.database_url.rpartition("/")[2]
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'bullion%'"
        return int(self.postgres.sql(f"{count} AND datname = '{database}'"))


@pytest.fixture(scope="module")
def deployment(
    postgres: Postgres, redis: Redis, schema_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    settings = {
        "BULLION_DATABASE_URL": postgres.new_database(schema_template),
        "BULLION_REDIS_URL": redis.url,
    }
    folder = tmp_path_factory.mktemp("full-load")
    with contextlib.ExitStack() as stack:
        nodes, start_cpu_s = [stack.enter_context(running(folder, **settings))], []
        for _ in range(2):
            nodes.append(stack.enter_context(running(folder, "bullion", interpreter, **settings)))
            start_cpu_s.append(cpu_s(nodes[-1].process.pid))
        yield Deployment(postgres, settings["BULLION_DATABASE_URL"], nodes, start_cpu_s)


@dataclass(frozen=True)
class Job:
    """One call: whose, to which node, under which key, for what."""

    trader: Trader
    node: Node
    idempotency_key: str
    body: dict[str, Any]


def send(jobs: Sequence[Job]) -> list[Answered]:
    """In their order, over as many connections as there are to each node; a lost one is a failure."""
    return asyncio.run(_send(jobs))


async def _send(jobs: Sequence[Job]) -> list[Answered]:
    answers: list[Answered] = []

    async def work(node: Node, left: Iterator[Job]) -> None:
        async with Connection.open(node) as connection:
            for job in left:
                headers = {"Host": job.trader.http.headers["host"], "X-API-Key": job.trader.key}
                headers |= {"Content-Type": "application/json", "Idempotency-Key": job.idempotency_key}
                body = json.dumps(job.body).encode()
                status, _, content = await connection.call("POST", ORDERS, headers, body)
                answers.append(
                    Answered(job.trader.login_id, job.idempotency_key, status, json.loads(content))
                )

    async with asyncio.TaskGroup() as group:
        for url in {job.node.api_url for job in jobs}:
            mine = [job for job in jobs if job.node.api_url == url]
            left = iter(mine)
            for _ in range(_CONNECTIONS):
                group.create_task(work(mine[0].node, left))
    return answers


def orders(chance: random.Random, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(count):
        yield (
            f"key {number}",
            {
                "symbol_code": chance.choice(["GOLD", "GOLD", "SILVER"]),
                "trade_type": chance.choice(["buy", "buy", "sell"]),
                "quantity": chance.choice([0.5, 1, 2, 3.25]),
            },
        )


def test_a_node_starts_within_two_seconds_where_the_store_is_there(deployment: Deployment) -> None:
    """Told by what its processor did, which does not grow with whatever else the machine has to do."""
    print(f"\nto its first call: {[f'{each:.2f} s' for each in deployment.start_cpu_s]} of processor time")
    assert min(deployment.start_cpu_s) < 2


def codes(answers: Sequence[Answered]) -> Counter[str]:
    return Counter(answer.said for answer in answers)


def test_budgets_allocations_and_keys_hold_on_two_nodes_at_full_load(deployment: Deployment) -> None:
    """The same calls with the same keys, to both nodes at once."""
    chance = random.Random(SCALE)  # noqa: S311
    nodes = deployment.nodes[:2]
    budget = 40 * SCALE
    most: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            most.append(deployment.sessions())
            time.sleep(0.1)

    with Market.open(nodes[0]) as market:
        narrow = [market.trader(market.account(gold="20", silver="9")) for _ in range(4)]
        metered = market.trader()
        jobs = [
            Job(trader, node, key, body)
            for trader in narrow
            for key, body in orders(chance, 40 if SCALE == 1 else 60 * SCALE)
            for node in nodes
        ]
        chance.shuffle(jobs)
        watcher = threading.Thread(target=watch)
        watcher.start()
        began = time.monotonic()
        answers = send(jobs)
        took_s = time.monotonic() - began
        done.set()
        watcher.join()
        market.switch(budgets=UNBOUNDED | {"reads_per_minute": 99_999, "orders_per_minute": budget})
        for node in nodes:
            with node.api(metered.key, Host=market.host) as api:
                # Told by the budget of reads, so that the other one is not touched.
                until(lambda api=api: api.get(ME).headers["ratelimit-limit"] == "99999", within_s=5)
        metered_jobs = [Job(metered, nodes[number % 2], f"key {number}", BUY) for number in range(budget * 2)]
        began = time.monotonic()
        metered_answers = send(metered_jobs)
        assert time.monotonic() - began < 55, "the window has moved on; the count below means nothing"
    print(f"\n{len(jobs)} calls in {took_s:.1f} s, sessions at most {max(most)}: {dict(codes(answers))}")
    assert max(most) <= len(deployment.nodes) * (POOL_SIZE + 1)
    assert set(codes(answers)) <= {"201", "200", "limit_exceeded"}
    assert codes(metered_answers) == {"201": budget, "rate_limited": budget}
    ledger = Ledger(deployment.postgres, deployment.database_url)
    ledger.check()
    ledger.check_answers([*answers, *metered_answers])


def test_books_that_three_nodes_want_to_change_at_once(deployment: Deployment) -> None:
    """First each account at one node, then every account at all: the difference is what retries cost."""
    count = 200 if SCALE == 1 else 300 * SCALE
    with Market.open(deployment.nodes[0]) as market:
        traders = [market.trader() for _ in range(20)]
        answers: list[Answered] = []
        rates: dict[str, float] = {}
        for way, spread in (("apart", 0), ("contended", 1)):
            jobs = [
                Job(
                    traders[number % 20],
                    deployment.nodes[(number + number // 20 * spread) % 20 % 3],
                    f"{way} {number}",
                    BUY,
                )
                for number in range(count)
            ]
            began = time.monotonic()
            answers += send(jobs)
            rates[way] = count / (time.monotonic() - began)
    ratio = rates["contended"] / rates["apart"]
    print(f"\n{rates['apart']:.0f} orders/s apart, {rates['contended']:.0f} contended: {ratio:.2f}")
    assert ratio > 0.1, "far less than retries can cost: each turn of a book is one node's, two decide again"
    assert codes(answers) == {"201": 2 * count}
    ledger = Ledger(deployment.postgres, deployment.database_url)
    ledger.check()
    mine = {trader.login_id for trader in traders}
    assert {len(ledger.rows[login]) for login in mine} == {2 * count // 20}
    assert all(ledger.books[login].gold_net_e4 == 2 * count // 20 * 10_000 for login in mine)
