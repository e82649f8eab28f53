"""The token bucket: exact, however often it is asked."""

from random import Random

import pytest

from bullion.hedge.fix.pace import Pace, Rate

S = 1_000_000


def test_a_burst_then_one_at_a_time() -> None:
    pace = Pace(Rate(count=3, per_s=1, burst=2), 0)
    assert [pace.take(0) for _ in range(3)] == [0, 0, 333_334]
    assert pace.take(333_333) == 1
    assert pace.take(333_334) == 0


def test_without_a_limit() -> None:
    pace = Pace(Rate(count=0), 0)
    assert {pace.take(0) for _ in range(1000)} == {0}


def test_a_clock_that_is_put_back_gives_nothing_away() -> None:
    pace = Pace(Rate(count=1), 10 * S)
    assert pace.take(10 * S) == 0
    assert pace.take(5 * S) == S
    assert pace.take(6 * S) == 0


@pytest.mark.parametrize("seed", range(5))
def test_never_more_than_the_rate_over_any_time(seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    rate = Rate(count=chance.randint(1, 50), per_s=chance.randint(1, 60), burst=chance.randint(1, 20))
    pace, now = Pace(rate, 0), 0
    sent: list[int] = []
    while len(sent) < 300:
        if not pace.take(now):
            sent.append(now)
        now += chance.randrange(rate.per_s * S // rate.count)
    for first in range(0, 300, 7):
        for last in range(first, 300, 11):
            allowed = rate.burst * rate.per_s * S + (sent[last] - sent[first]) * rate.count
            assert (last - first + 1) * rate.per_s * S <= allowed


def test_whoever_waits_as_long_as_told_gets_the_full_rate() -> None:
    pace, now = Pace(Rate(count=7, per_s=3, burst=1), 0), 0
    for _ in range(700):
        while wait := pace.take(now):
            now += wait
    assert 299 * S < now <= 300 * S
