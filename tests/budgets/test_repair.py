"""What somebody else, or another clock, left in Redis under a budget's key does not refuse calls for good."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence

import pytest
from structlog.testing import capture_logs

from bullion.budgets.limiter import Allowed, Charge, Exceeded, Throttled
from bullion.budgets.memory import MemoryLimiter
from bullion.budgets.redis import RedisLimiter
from tests.budgets.test_limiters import connected, own_redis  # noqa: F401 - fixtures
from tests.support.servers import Redis

pytestmark = pytest.mark.anyio

NOBODY = Charge("failures 203.0.113.7", 20, 60)
LIMIT = 3
BUDGET = (Charge("a", LIMIT, 60),)
KEY = "bullion:a:60"
FAR_FUTURE = str(9 * 10**15)


def stamp(ahead_s: float) -> str:
    return str(int((time.time() + ahead_s) * 1_000_000))


@pytest.fixture
async def limiter(own_redis: Redis) -> AsyncIterator[RedisLimiter]:  # noqa: F811
    async with connected(own_redis.url) as link:
        yield RedisLimiter(link, MemoryLimiter())


async def take(limiter: RedisLimiter, budget: Sequence[Charge] = BUDGET) -> Allowed | Throttled | Exceeded:
    return await limiter.take(NOBODY, failed=False, charges=budget)


def repairs(logs: Sequence[object]) -> list[object]:
    return [each for each in logs if isinstance(each, dict) and each["event"] == "budget_repaired"]


POISONS = {
    "a string": ("SET", KEY, "1"),
    "a hash": ("HSET", KEY, "field", "1"),
    "a set": ("SADD", KEY, "1"),
    "a sorted set": ("ZADD", KEY, "1", "1"),
    "a stream": ("XADD", KEY, "*", "field", "1"),
    "rubbish": ("RPUSH", KEY, *["rubbish"] * LIMIT),
    "no number": ("RPUSH", KEY, *["nan"] * LIMIT),
    "the end of time": ("RPUSH", KEY, *["inf"] * LIMIT),
    "the far future": ("RPUSH", KEY, *[FAR_FUTURE] * LIMIT),
    "the far future behind rubbish": ("RPUSH", KEY, "rubbish", *[FAR_FUTURE] * LIMIT),
}


@pytest.mark.parametrize("poison", POISONS)
async def test_a_poisoned_key_is_repaired_by_the_next_call_and_told_once(
    limiter: RedisLimiter,
    own_redis: Redis,  # noqa: F811
    poison: str,
) -> None:
    own_redis.command(*POISONS[poison])
    assert own_redis.command("TTL", KEY) == ":-1\r\n"
    with capture_logs() as logs:
        for number in range(LIMIT):
            outcome = await take(limiter)
            assert isinstance(outcome, Allowed)
            assert outcome.tightest is not None
            assert (outcome.tightest.remaining, outcome.tightest.reset_s) == (LIMIT - 1 - number, 60)
        assert isinstance(await take(limiter), Exceeded), "from then on it counts as ever"
    assert own_redis.command("TYPE", KEY) == "+list\r\n"
    assert 0 < int(own_redis.command("PTTL", KEY)[1:]) <= 120_000
    (told,) = repairs(logs)
    assert isinstance(told, dict)
    assert told["key"] == KEY


@pytest.mark.parametrize("poison", POISONS)
async def test_a_poisoned_count_of_failures_is_repaired_too(
    limiter: RedisLimiter,
    own_redis: Redis,  # noqa: F811
    poison: str,
) -> None:
    failures = Charge("failures of one", LIMIT, 60)
    verb, _, *words = POISONS[poison]
    own_redis.command(verb, "bullion:failures of one:60", *words)
    with capture_logs() as logs:
        for _ in range(LIMIT):
            assert isinstance(await limiter.take(failures, failed=True), Allowed)
        assert isinstance(await limiter.take(failures, failed=True), Throttled)
    assert len(repairs(logs)) == 1


@pytest.mark.parametrize("rubbish", ["rubbish", "nan", FAR_FUTURE])
async def test_rubbish_behind_calls_that_count_is_repaired_where_it_would_refuse(
    limiter: RedisLimiter,
    own_redis: Redis,  # noqa: F811
    rubbish: str,
) -> None:
    """The first call is right, and leaves in a second: the answer must not wait for what stands behind it."""
    own_redis.command("RPUSH", KEY, stamp(-59), *[rubbish] * LIMIT)
    with capture_logs() as logs:
        outcome = await take(limiter)
    assert isinstance(outcome, Allowed)
    assert outcome.tightest is not None
    assert outcome.tightest.remaining == LIMIT - 2, "the call that counts is kept"
    assert len(repairs(logs)) == 1


async def test_all_budgets_or_none_also_where_one_is_repaired(
    limiter: RedisLimiter,
    own_redis: Redis,  # noqa: F811
) -> None:
    full = Charge("full", 1, 60)
    assert isinstance(await take(limiter, [full]), Allowed)
    own_redis.command("SET", KEY, "1")
    assert isinstance(await take(limiter, [*BUDGET, full]), Exceeded)
    outcome = await take(limiter)
    assert isinstance(outcome, Allowed)
    assert outcome.tightest is not None
    assert outcome.tightest.remaining == LIMIT - 1, "a refused call consumes nothing"


async def test_calls_counted_by_a_clock_that_was_ahead_refuse_for_one_window_at_most(
    limiter: RedisLimiter,
    own_redis: Redis,  # noqa: F811
) -> None:
    """As after a failover to a Redis whose clock is behind: they count as calls of this moment."""
    own_redis.command("RPUSH", KEY, stamp(30), stamp(40), stamp(50))
    outcome = await take(limiter)
    assert isinstance(outcome, Exceeded)
    assert outcome.retry_after_s <= 60
    assert outcome.budget_state.reset_s <= 60


async def test_calls_of_a_clock_that_was_ahead_do_not_hide_behind_others(
    limiter: RedisLimiter,
    own_redis: Redis,  # noqa: F811
) -> None:
    budget = (Charge("a", LIMIT, 2),)
    key = "bullion:a:2"
    own_redis.command("RPUSH", key, stamp(-1.9), stamp(1.5), stamp(1.6))
    started = time.monotonic()
    while not isinstance(await take(limiter, budget), Allowed):
        assert time.monotonic() - started < 2.5
        await asyncio.sleep(0.02)
    # None of those that are left is later than now: they leave within a window.
    ahead = [each for each in own_redis.command("LRANGE", key, "0", "-1").split("\r\n") if len(each) == 16]
    assert max(map(int, ahead)) <= int(stamp(0))


async def test_a_repair_that_is_needed_again_and_again_is_told_once_a_minute(
    limiter: RedisLimiter,
    own_redis: Redis,  # noqa: F811
) -> None:
    with capture_logs() as logs:
        for _ in range(5):
            own_redis.command("SET", KEY, "1")
            assert isinstance(await take(limiter), Allowed)
            own_redis.command("DEL", KEY)
    assert len(repairs(logs)) == 1


async def test_a_list_that_lost_its_expiry_gets_it_back(
    limiter: RedisLimiter,
    own_redis: Redis,  # noqa: F811
) -> None:
    budget = (Charge("a", LIMIT, 1),)
    key = "bullion:a:1"
    for _ in range(LIMIT):
        assert isinstance(await take(limiter, budget), Allowed)
    assert own_redis.command("PERSIST", key) == ":1\r\n"
    assert isinstance(await take(limiter, budget), Exceeded)
    started = time.monotonic()
    while not isinstance(await take(limiter, budget), Allowed):
        assert time.monotonic() - started < 5
        await asyncio.sleep(0.02)
    assert 0 < int(own_redis.command("PTTL", key)[1:]) <= 2_000
