"""Calls are counted in Redis behind Redis Sentinel: the master is found, and followed when it is replaced."""

import asyncio
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bullion.budgets.limiter import Allowed, Charge, LimiterUnavailable
from bullion.budgets.memory import MemoryLimiter
from bullion.budgets.redis import RedisLimiter
from bullion.budgets.redis_address import Login, RedisAddress, read_address
from bullion.budgets.redis_link import LinkDown, RedisLink, packed
from tests.support.node import Node, running, until
from tests.support.orders import ORDERS, Market, Trader
from tests.support.sentinels import SentinelGroup
from tests.support.servers import Redis, find, free_port, wait_for_port

BACK_WITHIN_S = 5.0
"""The promise, counted from when the new master is there."""
MARGIN_S = 3.0
"""For a busy machine."""
NOBODY = Charge("failures 203.0.113.9", 20, 60)


@pytest.fixture
def group(redis: Redis) -> Iterator[SentinelGroup]:
    """The shared server tells whether there can be any."""
    assert redis.command("PING") == "+PONG\r\n"
    made = SentinelGroup()
    try:
        yield made.start()
    finally:
        made.remove()


@asynccontextmanager
async def linked(url: str) -> AsyncIterator[RedisLink]:
    link = RedisLink(url)
    running = asyncio.create_task(link.run())
    try:
        await link.tried.wait()
        yield link
    finally:
        running.cancel()
        await asyncio.wait([running])


def test_the_address_of_sentinels() -> None:
    read = read_address(
        "redis+sentinel://me:p%40ss@one,two:26380,[::1]/budgets/3?sentinel_user=s&sentinel_password=a%26b"
    )
    hosts = (("one", 26379), ("two", 26380), ("::1", 26379))
    login, sentinel_login = Login("me", "p@ss"), Login("s", "a&b")
    assert read == RedisAddress(
        hosts, "", login=login, tls=False, database="3", service="budgets", sentinel_login=sentinel_login
    )
    assert read_address("rediss+sentinel://:p@one/budgets").tls
    assert read_address("rediss+sentinel://:p@one/budgets").login == Login("", "p")


@pytest.mark.parametrize(
    "wrong",
    [
        "redis+sentinel://:hunter2@one:26379",
        "redis+sentinel://:hunter2@one:port/budgets",
        "redis+sentinel://:hunter2@/budgets",
        "redis+sentinel://:hunter2@one/budgets?sentinel_pasword=hunter2",
        "sentinel://:hunter2@one/budgets",
        "redis://:hunter2@one:port",
    ],
)
def test_a_wrong_address_is_told_without_its_password(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"must|cannot|may") as told:
        read_address(wrong)
    assert "hunter2" not in str(told.value)


class _Load:
    """A client that places orders and reads, each with a thread of its own."""

    def __init__(self, trader: Trader) -> None:
        self._trader = trader
        self._stop = threading.Event()
        self.orders: list[tuple[float, str]] = []
        self.reads: list[int] = []

    def place(self) -> None:
        while not self._stop.is_set():
            answer = self._trader.place()
            said = str(answer.status_code) if answer.is_success else answer.json()["detail"]["code"]
            self.orders.append((time.monotonic(), said))
            time.sleep(0.1)

    def read(self, node: Node) -> None:
        with node.api(self._trader.key, Host=self._trader.http.headers["host"]) as http:
            while not self._stop.is_set():
                self.reads.append(http.get(ORDERS, params={"limit": 1}).status_code)
                time.sleep(0.1)

    def stop(self) -> None:
        self._stop.set()

    def placed_since(self, since_s: float) -> bool:
        return any(at_s > since_s and said == "201" for at_s, said in list(self.orders))


def test_orders_go_on_after_the_master_is_killed(group: SentinelGroup, tmp_path: Path) -> None:
    """Meanwhile orders are refused and reads go on. The old master comes back and is not used."""
    old, new = group.ports
    with (
        running(tmp_path, BULLION_REDIS_URL=group.url) as node,
        Market.open(node) as market,
        ThreadPoolExecutor(2) as pool,
    ):
        load = _Load(market.trader())
        calling = [pool.submit(load.place), pool.submit(load.read, node)]
        try:
            until(lambda: len(load.orders) > 10, 20)
            group.end(old, signal.SIGKILL)
            killed_s = time.monotonic()
            until(lambda: group.role(new) == "master", 40)
            promoted_s = time.monotonic()
            until(lambda: load.placed_since(promoted_s), BACK_WITHIN_S + MARGIN_S)
            back_s = time.monotonic()
            group.start_server(old)
            until(lambda: group.role(old) == "slave", 60)
            demoted_s = time.monotonic()
            until(lambda: load.placed_since(demoted_s + 0.5), 20)
        finally:
            load.stop()
        for each in calling:
            each.result()
        masters = [entry["master"] for entry in node.entries("redis_up")]
    said = Counter(each for _, each in load.orders)
    print(f"\nno order for {back_s - killed_s:.1f} s, {back_s - promoted_s:.1f} s with a new master: {said}")
    assert said.keys() == {"201", "rate_limiter_unavailable"}
    assert set(load.reads) == {200}
    assert not [each for at_s, each in load.orders if at_s > back_s and each != "201"]
    assert masters == [f"127.0.0.1:{old}", f"127.0.0.1:{new}"]


async def _counts(limiter: RedisLimiter, within_s: float) -> None:
    async with asyncio.timeout(within_s):
        while True:
            try:
                outcome = await limiter.take(NOBODY, failed=False, charges=[Charge("a", 1000, 60)])
            except LimiterUnavailable:
                await asyncio.sleep(0.02)
            else:
                assert isinstance(outcome, Allowed)
                return


@pytest.mark.anyio
async def test_a_master_that_hangs_and_one_that_is_replaced_while_it_works(group: SentinelGroup) -> None:
    first, second = group.ports
    async with linked(group.url) as link:
        limiter = RedisLimiter(link, MemoryLimiter())
        await _counts(limiter, 5)
        # By hand, both alive: the sentinels close the connections, or Redis says READONLY.
        await asyncio.to_thread(group.command, group.sentinel_ports[0], "SENTINEL", "FAILOVER", "budgets")
        await asyncio.to_thread(until, lambda: group.master() == second and group.role(first) == "slave", 40)
        await _counts(limiter, BACK_WITHIN_S + MARGIN_S)
        assert "bullion:a" in await asyncio.to_thread(group.command, second, "-n", "3", "KEYS", "*")
        # The new one hangs.
        group.processes[second].send_signal(signal.SIGSTOP)
        await asyncio.to_thread(until, lambda: group.role(first) == "master", 40)
        await _counts(limiter, BACK_WITHIN_S + MARGIN_S)
        assert "bullion:a" in await asyncio.to_thread(group.command, first, "-n", "3", "KEYS", "*")


@pytest.mark.anyio
async def test_a_sentinel_that_is_away_or_hangs_changes_nothing(group: SentinelGroup) -> None:
    group.end(group.sentinel_ports[0])
    hung = group.processes[group.sentinel_ports[1]]
    hung.send_signal(signal.SIGSTOP)
    try:
        async with linked(group.url) as link:
            await _counts(RedisLimiter(link, MemoryLimiter()), 5)
    finally:
        hung.send_signal(signal.SIGCONT)


@pytest.mark.anyio
async def test_a_replica_is_not_used_whoever_names_it(redis: Redis) -> None:
    """By its own address as well, so that it is told at once and not with the first order."""
    replica = Redis().start()
    try:
        replica.command("REPLICAOF", "127.0.0.1", str(redis.port))
        with capture_logs() as logs:
            async with linked(replica.url) as link:
                with pytest.raises(LinkDown, match="replica"):
                    await link.send(packed("PING"))
        assert [each["event"] for each in logs] == ["redis_down"]
    finally:
        replica.remove()


@pytest.mark.anyio
async def test_a_server_that_becomes_a_replica_is_left(redis: Redis) -> None:
    """Without sentinels: its address may lead to another server by now."""
    server = Redis().start()
    try:
        async with linked(server.url) as link:
            limiter = RedisLimiter(link, MemoryLimiter())
            await _counts(limiter, 5)
            server.command("REPLICAOF", "127.0.0.1", str(redis.port))
            with pytest.raises(LimiterUnavailable):
                await limiter.take(NOBODY, failed=False, charges=[Charge("a", 1000, 60)])
            async with asyncio.timeout(BACK_WITHIN_S):
                while link.connected:
                    await asyncio.sleep(0.01)
            server.command("REPLICAOF", "NO", "ONE")
            await _counts(limiter, BACK_WITHIN_S)
    finally:
        server.remove()


@pytest.fixture
def tls_sentinel(redis: Redis, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a sentinel and a master that speak TLS only, and the certificate to check them by."""
    assert redis.command("PING") == "+PONG\r\n"
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    request = [find("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    request += ["-nodes", "-days", "2", "-subj", "/CN=redis", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*request, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    common = ["--port", "0", "--bind", "127.0.0.1", "--dir", str(tmp_path), "--tls-auth-clients", "no"]
    common += ["--tls-cert-file", str(certificate), "--tls-key-file", str(key), "--tls-replication", "yes"]
    common += ["--tls-ca-cert-file", str(certificate)]
    ports = [free_port(), free_port()]
    configuration = tmp_path / "sentinel.conf"
    configuration.write_text(f"sentinel monitor budgets 127.0.0.1 {ports[0]} 1\n", "utf-8")
    started = []
    try:
        for port, words in ((ports[0], ["--save", ""]), (ports[1], [str(configuration), "--sentinel"])):
            command = [find("redis-server"), *words, *common, "--tls-port", str(port)]
            started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            wait_for_port(port, "Redis")
        yield f"rediss+sentinel://127.0.0.1:{ports[1]}/budgets", certificate
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.anyio
async def test_tls_to_the_sentinels_and_the_master(
    tls_sentinel: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, certificate = tls_sentinel
    async with linked(url) as link:
        assert "certificate" in link.why_down.lower(), "an unknown authority is not trusted"
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with linked(url) as link:
        await _counts(RedisLimiter(link, MemoryLimiter()), 5)
