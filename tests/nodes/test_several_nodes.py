"""Several API processes over one PostgreSQL and one Redis, which fail and come back."""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.support.command import bullion
from tests.support.node import DESK_TOKEN, SECRET, Node, own_address, running, start, until
from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis

ME = "/api/trading/test/v1/me"
_AT_ONCE = 3 if SCALE == 1 else 10


@pytest.fixture
def settings(postgres: Postgres, redis: Redis, schema_template: str) -> dict[str, str]:
    return {"BULLION_DATABASE_URL": postgres.new_database(schema_template), "BULLION_REDIS_URL": redis.url}


@pytest.fixture(scope="module")
def pair(
    postgres: Postgres, redis: Redis, schema_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Node, Node]]:
    folder = tmp_path_factory.mktemp("pair")
    address = postgres.new_database(schema_template)
    settings = {"BULLION_DATABASE_URL": address, "BULLION_REDIS_URL": redis.url}
    with running(folder, **settings) as first, running(folder, **settings) as second:
        with first.desk() as desk:
            desk.add_group().account("client")
        yield first, second
    postgres.drop(address)


def status(node: Node, key: str | None, address: str | None = None) -> int:
    with node.api(key, address) as api:
        return api.get(ME).status_code


def test_a_revoked_key_stops_on_both_within_a_second(pair: tuple[Node, Node]) -> None:
    first, second = pair
    with first.desk() as desk, second.api() as api:
        for _ in range(5):
            issued = desk.key("client")
            assert status(first, issued["key"]) == 200
            assert status(second, issued["key"]) == 200
            desk.do("POST", f"/keys/{issued['key_id']}/revoke")
            revoked_at = time.monotonic()
            assert status(first, issued["key"]) == 401
            headers = {"X-API-Key": issued["key"]}
            until(lambda headers=headers: api.get(ME, headers=headers).status_code == 401, within_s=1)
            assert time.monotonic() - revoked_at < 1


def test_a_lowered_budget_is_shared_exactly(pair: tuple[Node, Node]) -> None:
    first, second = pair
    with first.desk() as desk:
        key = desk.key("client")["key"]
        desk.do("PATCH", "/switches", {"budgets": {"reads_per_minute": 60}})
    until(lambda: second_sees_limit(second, 60), within_s=1)
    with first.api(key) as one, second.api(key) as other:
        codes = [(one, other)[number % 2].get(ME).status_code for number in range(61)]
        assert codes == [200] * 60 + [429]
        assert one.get(ME).status_code == 429
        assert other.get(ME).status_code == 429
    with first.desk() as desk:
        desk.do("PATCH", "/switches", {"budgets": {"reads_per_minute": 600}})


def second_sees_limit(node: Node, limit: int) -> bool:
    """By a key of its own, so that the budget under test is not touched."""
    with node.desk() as desk:
        key = desk.key("client")["key"]
    with node.api(key) as api:
        return api.get(ME).headers["ratelimit-limit"] == str(limit)


def test_failures_on_both_throttle_the_address_on_both(pair: tuple[Node, Node]) -> None:
    first, second = pair
    with first.desk() as desk:
        key = desk.key("client")["key"]
    address = own_address()
    for number in range(20):
        assert status(pair[number % 2], None, address) == 401
    assert status(first, key, address) == 429
    assert status(second, key, address) == 429
    assert status(second, key) == 200


def test_nodes_stopped_gently_lose_no_call(pair: tuple[Node, Node]) -> None:
    """A node that stops answers what has reached it; afterwards the other one serves alone.

    The last test with this pair.
    """
    first, second = pair
    with first.desk() as desk:
        key = desk.key("client")["key"]
    codes: list[int] = []

    def call_until_closed() -> None:
        with (
            first.api(key) as api,
            contextlib.suppress(httpx.ConnectError, httpx.RemoteProtocolError, httpx.ReadError),
        ):
            for _ in range(200):
                codes.append(api.get(ME).status_code)

    with ThreadPoolExecutor(4) as pool:
        calling = [pool.submit(call_until_closed) for _ in range(4)]
        time.sleep(0.2)
        first.stop()
        for each in calling:
            each.result()
    assert codes
    assert set(codes) <= {200, 429}
    assert status(second, key) in (200, 429)


def test_redis_away_and_back(settings: dict[str, str], tmp_path: Path) -> None:
    own = Redis().start()
    settings["BULLION_REDIS_URL"] = own.url
    try:
        with running(tmp_path, **settings) as node, node.desk() as desk:
            key = desk.add_group().account("client") and desk.key("client")["key"]
            with node.api(key) as api:
                assert "ratelimit-limit" in api.get(ME).headers
                own.stop(signal.SIGKILL)
                for _ in range(5):
                    answer = api.get(ME)
                    assert answer.status_code == 200
                    assert "ratelimit-limit" not in answer.headers
                address = own_address()
                for _ in range(20):
                    assert status(node, None, address) == 401
                assert status(node, key, address) == 429
                assert httpx.get(f"{node.api_url}/health/ready").json()["ready"] is True
                own.start()
                until(lambda: "ratelimit-limit" in api.get(ME).headers, within_s=1)
    finally:
        own.remove()


def test_postgres_restarted(tmp_path: Path, redis: Redis, postgres: Postgres) -> None:
    assert postgres.sql("SELECT 1") == "1"
    own = Postgres().make()
    settings = {"BULLION_DATABASE_URL": own.new_database(), "BULLION_REDIS_URL": redis.url}
    try:
        with running(tmp_path, **settings) as first, running(tmp_path, **settings) as second:
            with first.desk() as desk:
                desk.add_group().account("client")
                key = desk.key("client")["key"]
            # Both have it in memory; of a key issued a moment before, the other node may not have heard yet.
            assert [status(node, key) for node in (first, second)] == [200, 200]
            own.stop()
            for node in (first, second):
                assert status(node, key) == 200
                with node.desk() as desk:
                    answer = desk.get("/accounts")
                    assert answer.status_code == 503
                    assert answer.json()["detail"]["code"] == "service_unavailable"
                    assert answer.headers["retry-after"] == "1"
                until(lambda node=node: ready(node) == 503, within_s=30)
            own.start()
            for node in (first, second):
                until(lambda node=node: ready(node) == 200, within_s=30)
            with second.desk() as desk:
                issued = desk.key("client")
                assert status(first, issued["key"]) == 200
                desk.do("POST", f"/keys/{issued['key_id']}/revoke")
            until(lambda: status(first, issued["key"]) == 401, within_s=1)
            assert first.process.poll() is None
            assert second.process.poll() is None
    finally:
        own.remove()


def ready(node: Node) -> int:
    with node.api() as api:
        return api.get("/health/ready").status_code


def test_nodes_starting_at_once_on_an_empty_store(postgres: Postgres, redis: Redis, tmp_path: Path) -> None:
    settings = {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": redis.url}
    with ThreadPoolExecutor(_AT_ONCE) as pool, contextlib.ExitStack() as stack:
        nodes = list(pool.map(lambda _: start(tmp_path, **settings), range(_AT_ONCE)))
        for node in nodes:
            stack.callback(node.stop)
        for node in nodes:
            until(lambda node=node: ready(node) == 200, within_s=30)
        database = settings["BULLION_DATABASE_URL"].rpartition("/")[2]
        steps = postgres.sql("SELECT count(*), count(DISTINCT number) FROM migrations", database)
        taken, distinct = steps.split("|")
        assert taken == distinct
        assert int(taken) >= 1
        with nodes[0].desk() as desk:
            made = [entry for entry in desk.do("GET", "/audit")["items"] if entry["action"] == "put_broker"]
            assert len(made) == 1
            desk.add_group().account("client")
            key = desk.key("client")["key"]
        assert [status(node, key) for node in nodes] == [200] * _AT_ONCE


def test_workers_share_the_ports_and_a_dead_one_is_replaced(settings: dict[str, str], tmp_path: Path) -> None:
    with running(tmp_path, BULLION_WORKERS="2", **settings) as node:
        with node.desk() as desk:
            desk.add_group().account("client")
            key = desk.key("client")["key"]
        children = workers_of(node)
        assert len(children) == 2
        for _ in range(40):
            assert status(node, key) == 200
        me = 'environment="test",method="GET",route="/api/trading/test/v1/me",status="200"'
        me_answered = f"bullion_calls_total{{{me}}}"
        until(lambda: metric(node, me_answered) == 40, within_s=30)
        os.kill(children[0], signal.SIGKILL)
        until(lambda: len(workers_of(node)) == 2 and children[0] not in workers_of(node), within_s=60)
        for _ in range(20):
            assert status(node, key) == 200
        until(lambda: metric(node, me_answered) == 60, within_s=30)
        assert not any(f"_{children[0]}.db" in name for name in metrics_files(node))
    assert node.process.returncode == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)


def workers_of(node: Node) -> list[int]:
    done = subprocess.run(
        ["/usr/bin/pgrep", "-P", str(node.process.pid)], capture_output=True, text=True, check=False
    )
    return [int(pid) for pid in done.stdout.split()]


def metrics_files(node: Node) -> list[str]:
    mapped = Path(f"/proc/{workers_of(node)[0]}/maps").read_text("utf-8")
    (folder,) = {Path(path).parent for path in re.findall(r"/\S+/counter_\d+\.db", mapped)}
    return [file.name for file in folder.iterdir()]


def metric(node: Node, name: str) -> float:
    """Its value; 0 while no worker has published a count under this name."""
    lines = httpx.get(f"{node.desk_url}/metrics").text.splitlines()
    values = [float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)]
    assert len(values) <= 1
    return sum(values)


def test_a_second_node_that_counts_in_memory_is_refused(
    postgres: Postgres, redis: Redis, schema_template: str, tmp_path: Path
) -> None:
    alone = {"BULLION_DATABASE_URL": postgres.new_database(schema_template)}
    with running(tmp_path, **alone):
        for settings in (alone, alone | {"BULLION_REDIS_URL": redis.url}):
            free = {"BULLION_PORT": "0", "BULLION_DESK_PORT": "0", "BULLION_SECRET": SECRET}
            done = bullion(tmp_path, "serve", **free, **settings, BULLION_DESK_TOKEN=DESK_TOKEN)
            assert done.returncode == 2
            assert "BULLION_REDIS_URL" in done.stderr
            assert "Traceback" not in done.stderr
    with running(tmp_path, **alone) as node:
        assert ready(node) == 200
