"""What every limiter promises, in real time on short windows; what the shared one does when Redis fails."""

import asyncio
import random
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from bullion.budgets.limiter import Allowed, Charge, Exceeded, Limiter, LimiterUnavailable, Throttled
from bullion.budgets.memory import MemoryLimiter
from bullion.budgets.redis import RedisLimiter
from bullion.budgets.redis_link import LinkDown, RedisLink, packed
from tests.support.servers import Redis

pytestmark = pytest.mark.anyio

NOBODY = Charge("failures 203.0.113.7", 20, 60)


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[RedisLink]:
    link = RedisLink(url)
    async with kept(link):
        await answering(link)
        yield link


@asynccontextmanager
async def kept(link: RedisLink) -> AsyncIterator[None]:
    running = asyncio.create_task(link.run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])


@asynccontextmanager
async def serving(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[int]:
    """A small server of the test's own; gives its port."""
    handling: set[asyncio.Task[None]] = set()

    async def handled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handling.add(task)
        try:
            await handle(reader, writer)
        finally:
            writer.close()
            handling.discard(task)

    server = await asyncio.start_server(handled, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        while handling:
            await asyncio.sleep(0.01)


async def answering(link: RedisLink, within_s: float = 5) -> None:
    async with asyncio.timeout(within_s):
        while True:
            try:
                if await link.send(packed("PING")) == b"PONG":
                    return
            except LinkDown:
                await asyncio.sleep(0.01)


@pytest.fixture(params=["memory", "redis"])
async def limiter(request: pytest.FixtureRequest) -> AsyncIterator[Limiter]:
    if request.param == "memory":
        yield MemoryLimiter()
        return
    server: Redis = request.getfixturevalue("redis")
    server.command("FLUSHALL")
    async with connected(server.url) as link:
        yield RedisLimiter(link, MemoryLimiter())


@pytest.fixture
async def own_redis(redis: Redis) -> AsyncIterator[Redis]:
    """A server that the test may stop and start; the shared one tells whether there can be any."""
    assert redis.command("PING") == "+PONG\r\n"
    server = Redis().start()
    yield server
    server.remove()


@pytest.fixture
async def shared(own_redis: Redis) -> AsyncIterator[RedisLimiter]:
    async with connected(own_redis.url) as link:
        yield RedisLimiter(link, MemoryLimiter())


async def test_no_more_than_the_limit_however_many_ask_at_once(limiter: Limiter) -> None:
    outcomes = await asyncio.gather(
        *(limiter.take(NOBODY, failed=False, charges=[Charge("a", 60, 60)]) for _ in range(200))
    )
    assert sum(isinstance(outcome, Allowed) for outcome in outcomes) == 60


async def test_all_budgets_or_none(limiter: Limiter) -> None:
    wide, narrow = Charge("wide", 100, 60), Charge("narrow", 1, 60)
    assert isinstance(await limiter.take(NOBODY, failed=False, charges=[wide, narrow]), Allowed)
    for _ in range(10):
        assert isinstance(await limiter.take(NOBODY, failed=False, charges=[wide, narrow]), Exceeded)
    outcome = await limiter.take(NOBODY, failed=False, charges=[wide])
    assert isinstance(outcome, Allowed)
    assert outcome.tightest is not None
    assert (outcome.tightest.limit, outcome.tightest.remaining) == (100, 98)
    assert 59 <= outcome.tightest.reset_s <= 60


async def test_the_tightest_budget_is_told(limiter: Limiter) -> None:
    outcome = await limiter.take(NOBODY, failed=False, charges=[Charge("a", 60, 60), Charge("b", 10, 10)])
    assert isinstance(outcome, Allowed)
    assert outcome.tightest is not None
    assert (outcome.tightest.limit, outcome.tightest.remaining, outcome.tightest.reset_s) == (10, 9, 10)


@pytest.mark.slow
async def test_no_window_in_time_holds_more_than_the_limit(limiter: Limiter) -> None:
    accepted: list[tuple[float, float]] = []
    give_up_at = time.monotonic() + 60
    while len(accepted) < 16 and time.monotonic() < give_up_at:
        asked_at = time.monotonic()
        outcome = await limiter.take(NOBODY, failed=False, charges=[Charge("a", 5, 1)])
        if isinstance(outcome, Allowed):
            accepted.append((asked_at, time.monotonic()))
        await asyncio.sleep(0.01)
    # The limiter's stamp lies between the question and the answer; Redis has a clock of its own.
    for (asked_at, _), (_, answered_at) in zip(accepted, accepted[5:], strict=False):
        assert answered_at - asked_at > 0.999
    assert len(accepted) == 16


async def test_a_retry_after_the_wait_is_accepted(limiter: Limiter) -> None:
    charges = [Charge("a", 2, 1), Charge("b", 3, 2)]
    while isinstance(outcome := await limiter.take(NOBODY, failed=False, charges=charges), Allowed):
        pass
    assert isinstance(outcome, Exceeded)
    answered_at = time.monotonic()
    while (left_s := answered_at + outcome.retry_after_s - time.monotonic()) > 0:
        await asyncio.sleep(left_s)  # The loop's own clock is coarse: it may wake up a millisecond early.
    assert isinstance(await limiter.take(NOBODY, failed=False, charges=charges), Allowed)


async def test_changing_a_limit_keeps_the_history(limiter: Limiter) -> None:
    for _ in range(5):
        assert isinstance(await limiter.take(NOBODY, failed=False, charges=[Charge("a", 10, 60)]), Allowed)
    lowered = await limiter.take(NOBODY, failed=False, charges=[Charge("a", 3, 60)])
    assert isinstance(lowered, Exceeded)
    assert 59 <= lowered.retry_after_s <= 60
    assert isinstance(await limiter.take(NOBODY, failed=False, charges=[Charge("a", 6, 60)]), Allowed)
    assert isinstance(await limiter.take(NOBODY, failed=False, charges=[Charge("a", 6, 60)]), Exceeded)


async def test_a_limit_of_zero_refuses_every_call(limiter: Limiter) -> None:
    outcome = await limiter.take(NOBODY, failed=False, charges=[Charge("none", 0, 60)])
    assert isinstance(outcome, Exceeded)
    assert outcome.retry_after_s == 60


async def test_failures_throttle_and_a_throttled_call_counts_nothing(limiter: Limiter) -> None:
    failures = Charge("failures 203.0.113.8", 3, 60)
    for _ in range(3):
        assert await limiter.take(failures, failed=True) == Allowed(None)
    for failed in (True, False):
        throttled = await limiter.take(failures, failed=failed, charges=[Charge("a", 1, 60)])
        assert isinstance(throttled, Throttled)
        assert 59 <= throttled.retry_after_s <= 60
    assert isinstance(await limiter.take(NOBODY, failed=False, charges=[Charge("a", 1, 60)]), Allowed)


async def test_two_nodes_share_budgets_and_failures(redis: Redis) -> None:
    redis.command("FLUSHALL")
    failures = Charge("failures 203.0.113.9", 20, 60)
    shared = [Charge("shared", 60, 60)]
    async with connected(redis.url) as first_link, connected(redis.url) as second_link:
        nodes = [RedisLimiter(link, MemoryLimiter()) for link in (first_link, second_link)]
        for number in range(60):
            assert isinstance(await nodes[number % 2].take(NOBODY, failed=False, charges=shared), Allowed)
        for node in nodes:
            assert isinstance(await node.take(NOBODY, failed=False, charges=shared), Exceeded)
        for number in range(20):
            assert isinstance(await nodes[number % 2].take(failures, failed=True), Allowed)
        for node in nodes:
            assert isinstance(await node.take(failures, failed=False), Throttled)


async def test_what_is_asked_in_one_turn_goes_in_one_write(redis: Redis) -> None:
    """A small server between counts the reads that a hundred questions take."""
    reads = 0

    async def between(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal reads
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", redis.port)

        async def back() -> None:
            while data := await upstream_reader.read(1 << 20):
                writer.write(data)

        returning = asyncio.create_task(back())
        while data := await reader.read(1 << 20):
            reads += 1
            upstream_writer.write(data)
        upstream_writer.close()
        await returning

    turn = [Charge("turn", 1000, 60)]
    async with serving(between) as port, connected(f"redis://127.0.0.1:{port}") as link:
        limiter = RedisLimiter(link, MemoryLimiter())
        await limiter.take(NOBODY, failed=False, charges=turn)
        before = reads
        await asyncio.gather(*(limiter.take(NOBODY, failed=False, charges=turn) for _ in range(100)))
        assert reads - before <= 3


# Redis in trouble. `take` with budgets is what an order asks; without, what a failed call or a 403 asks.

ORDER = [Charge("orders", 1000, 60)]


async def recovers(limiter: RedisLimiter, within_s: float) -> None:
    async with asyncio.timeout(within_s):
        while True:
            try:
                assert isinstance(await limiter.take(NOBODY, failed=False, charges=ORDER), Allowed)
            except LimiterUnavailable:
                await asyncio.sleep(0.01)
            else:
                return


async def test_redis_stopped_and_back(shared: RedisLimiter, own_redis: Redis) -> None:
    assert isinstance(await shared.take(NOBODY, failed=False, charges=ORDER), Allowed)
    own_redis.stop(signal.SIGKILL)
    await asyncio.sleep(0.05)
    started = time.monotonic()
    with pytest.raises(LimiterUnavailable):
        await shared.take(NOBODY, failed=False, charges=ORDER)
    assert time.monotonic() - started < 1
    failures = Charge("failures 203.0.113.10", 3, 60)
    for _ in range(3):
        assert isinstance(await shared.take(failures, failed=True), Allowed)
    assert isinstance(await shared.take(failures, failed=True), Throttled)
    assert shared.throttled(failures) is not None
    own_redis.start()
    await recovers(shared, within_s=1)


async def test_failures_noted_before_redis_went_away_are_not_forgotten(
    shared: RedisLimiter, own_redis: Redis
) -> None:
    failures = Charge("failures 203.0.113.11", 3, 60)
    for _ in range(2):
        assert isinstance(await shared.take(failures, failed=True), Allowed)
    own_redis.stop(signal.SIGKILL)
    await asyncio.sleep(0.05)
    assert isinstance(await shared.take(failures, failed=True), Allowed)
    assert isinstance(await shared.take(failures, failed=False, charges=ORDER), Throttled)


async def test_flushall_begins_anew(shared: RedisLimiter, own_redis: Redis) -> None:
    tight = [Charge("tight", 1, 60)]
    assert isinstance(await shared.take(NOBODY, failed=False, charges=tight), Allowed)
    assert isinstance(await shared.take(NOBODY, failed=False, charges=tight), Exceeded)
    own_redis.command("FLUSHALL")
    assert isinstance(await shared.take(NOBODY, failed=False, charges=tight), Allowed)


@pytest.mark.parametrize("limit", [1, 2, 100])
async def test_a_clock_set_back_by_more_than_a_window_begins_anew(
    shared: RedisLimiter, own_redis: Redis, limit: int
) -> None:
    """However full the window was: behind calls of the future, those of now would never be the newest."""
    budget = [Charge("a", limit, 60)]
    far, soon = (str(int((time.time() + ahead_s) * 1_000_000)) for ahead_s in (200, 30))
    own_redis.command("RPUSH", "bullion:a:60", far)
    for number in range(min(limit, 3)):
        outcome = await shared.take(NOBODY, failed=False, charges=budget)
        assert isinstance(outcome, Allowed)
        assert outcome.tightest is not None
        assert (outcome.tightest.remaining, outcome.tightest.reset_s) == (limit - number - 1, 60)
    own_redis.command("DEL", "bullion:a:60")
    own_redis.command("RPUSH", "bullion:a:60", *[soon] * limit)
    assert isinstance(await shared.take(NOBODY, failed=False, charges=budget), Exceeded)


@pytest.mark.parametrize("limit", [0, 1, 3, 1000])
async def test_no_call_is_forgotten_before_its_window_ends(
    shared: RedisLimiter, own_redis: Redis, limit: int
) -> None:
    """Nor kept much longer. Calls come at odd moments, and some are refused while others leave."""
    failures = Charge("failures", 1000, 1)
    chance = random.Random(limit)  # noqa: S311 - no secret
    lists_seen = 0
    for _ in range(12):
        await shared.take(failures, failed=chance.random() < 0.5, charges=[Charge("a", limit, 1)])
        for name in ("bullion:failures:1", "bullion:a:1"):
            kept_ms = int(own_redis.command("PTTL", name)[1:])
            newest_us = own_redis.command("LINDEX", name, "-1").partition("\r\n")[2]
            if newest_us:
                lists_seen += 1
                assert int(newest_us) / 1000 + 1000 - time.time() * 1000 - 5 < kept_ms <= 2000
        await asyncio.sleep(chance.uniform(0, 0.6))
    assert lists_seen >= 12 if limit else lists_seen == 0
    await asyncio.sleep(2.1)
    assert own_redis.command("DBSIZE") == ":0\r\n"


async def test_a_flushed_script_is_loaded_again_and_counts_once(
    shared: RedisLimiter, own_redis: Redis
) -> None:
    await shared.take(NOBODY, failed=False, charges=ORDER)
    own_redis.command("SCRIPT", "FLUSH")
    outcome = await shared.take(NOBODY, failed=False, charges=ORDER)
    assert isinstance(outcome, Allowed)
    assert outcome.tightest is not None
    assert outcome.tightest.remaining == 998


async def test_a_late_answer_is_a_ruled_answer_and_never_another_callers(
    shared: RedisLimiter, own_redis: Redis
) -> None:
    assert own_redis.process is not None
    own_redis.process.send_signal(signal.SIGSTOP)
    started = time.monotonic()
    with pytest.raises(LimiterUnavailable):
        await shared.take(NOBODY, failed=False, charges=ORDER)
    assert 0.4 < time.monotonic() - started < 2
    own_redis.process.send_signal(signal.SIGCONT)
    await recovers(shared, within_s=1)
    # Each answer must belong to its question: the remaining count of a budget that only these calls touch.
    outcomes = await asyncio.gather(
        *(shared.take(NOBODY, failed=False, charges=[Charge("mine", 50, 60)]) for _ in range(20))
    )
    left = [
        outcome.tightest.remaining
        for outcome in outcomes
        if isinstance(outcome, Allowed) and outcome.tightest
    ]
    assert left == list(range(49, 29, -1))


async def test_a_redis_that_hangs_for_long_is_left_and_found_again(
    shared: RedisLimiter, own_redis: Redis
) -> None:
    assert own_redis.process is not None
    own_redis.process.send_signal(signal.SIGSTOP)
    for _ in range(5):
        with pytest.raises(LimiterUnavailable):
            await shared.take(NOBODY, failed=False, charges=ORDER)
        await asyncio.sleep(0.1)
    own_redis.process.send_signal(signal.SIGCONT)
    await recovers(shared, within_s=2)


RUBBISH: dict[str, bytes] = {
    "not its language": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "another type": b"+OK\r\n",
    "too short": b"*2\r\n:0\r\n:1\r\n",
    "text for numbers": b"*6\r\n:0\r\n$1\r\nx\r\n:0\r\n:0\r\n:0\r\n:0\r\n",
    "an unknown verdict": b"*6\r\n:7\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n",
    "an error": b"-LOADING Redis is loading the dataset in memory\r\n",
    "nothing": b"$-1\r\n",
    "more than was asked for": b"*6\r\n:0\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n" * 2,
}


@pytest.mark.parametrize("kind", RUBBISH)
async def test_rubbish_is_a_ruled_answer(kind: str) -> None:
    """A server that greets like Redis and then answers rubbish. It stands in for a fault, not for Redis."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            greetings = {b"PING": b"+PONG\r\n", b"ROLE": b"*1\r\n$6\r\nmaster\r\n"}
            writer.write(greetings.get(data.split()[-1], RUBBISH[kind]))

    async with serving(serve) as port, connected(f"redis://127.0.0.1:{port}") as link:
        limiter = RedisLimiter(link, MemoryLimiter())
        if kind == "more than was asked for":
            assert isinstance(await limiter.take(NOBODY, failed=False, charges=ORDER), Allowed)
        else:
            with pytest.raises(LimiterUnavailable):
                await limiter.take(NOBODY, failed=False, charges=ORDER)
            assert isinstance(await limiter.take(NOBODY, failed=True), Allowed)
        await answering(link)


async def test_a_redis_that_answers_and_cannot_count_is_not_up_even_if_nobody_calls(
    own_redis: Redis, shared: RedisLimiter
) -> None:
    async def becomes(*, up: bool) -> None:
        async with asyncio.timeout(5):
            while shared.up != up:
                await asyncio.sleep(0.05)

    watching = asyncio.create_task(shared.watch())
    try:
        await becomes(up=True)
        own_redis.command("CONFIG", "SET", "maxmemory", "1")
        await becomes(up=False)
        assert shared.failures == 0
        with pytest.raises(LimiterUnavailable):
            await shared.take(NOBODY, failed=False, charges=[Charge("a", 1, 60)])
        assert shared.failures == 1
        own_redis.command("CONFIG", "SET", "maxmemory", "0")
        await becomes(up=True)
    finally:
        watching.cancel()
        await asyncio.wait([watching])


async def test_password_and_database_of_the_address_are_used(own_redis: Redis) -> None:
    own_redis.command("CONFIG", "SET", "requirepass", "a/secret@word")
    async with connected(f"redis://:a%2Fsecret%40word@127.0.0.1:{own_redis.port}/3") as link:
        await link.send(packed("SET", "here", "1"))
        assert b"db3:keys=1" in await link.send(packed("INFO", "keyspace"))


async def test_a_wrong_password_keeps_the_link_down_and_out_of_the_log(
    own_redis: Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    own_redis.command("CONFIG", "SET", "requirepass", "right-password")
    link = RedisLink(f"redis://:wrong-password@127.0.0.1:{own_redis.port}")
    async with kept(link):
        await asyncio.sleep(0.3)
        with pytest.raises(LinkDown):
            await link.send(packed("PING"))
    printed = capsys.readouterr()
    assert "redis_down" in printed.out + printed.err
    assert "wrong-password" not in printed.out + printed.err
