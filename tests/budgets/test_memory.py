"""Exact sliding windows, on a clock of the test's own."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from bullion.budgets.limiter import Allowed, Charge, Exceeded, Throttled
from bullion.budgets.memory import MemoryLimiter
from bullion.budgets.window import NS_PER_S

NOBODY = Charge("failures 127.0.0.1", 20, 60)


class Clock:
    def __init__(self) -> None:
        self.now_ns = 1_000 * NS_PER_S

    def __call__(self) -> int:
        return self.now_ns

    def pass_s(self, seconds: float) -> None:
        self.now_ns += int(seconds * NS_PER_S)


def take(
    limiter: MemoryLimiter, *charges: Charge, failures: Charge = NOBODY, failed: bool = False
) -> Allowed | Throttled | Exceeded:
    return asyncio.run(limiter.take(failures, failed=failed, charges=charges))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(min_value=1, max_value=8),
    st.integers(min_value=1, max_value=5),
    st.lists(st.integers(min_value=0, max_value=2 * NS_PER_S), max_size=80),
)
def test_no_window_of_any_place_holds_more_than_the_limit(
    limit: int, window_s: int, pauses: list[int]
) -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    accepted: list[int] = []
    for pause_ns in pauses:
        clock.now_ns += pause_ns
        if isinstance(take(limiter, Charge("a", limit, window_s)), Allowed):
            accepted.append(clock.now_ns)
    for start_ns in accepted:
        held = [at for at in accepted if start_ns <= at < start_ns + window_s * NS_PER_S]
        assert len(held) <= limit


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 5)), min_size=1, max_size=3),
    st.lists(st.integers(min_value=0, max_value=NS_PER_S), min_size=1, max_size=40),
)
def test_a_retry_after_the_wait_is_accepted_and_not_much_sooner(
    budgets: list[tuple[int, int]], pauses: list[int]
) -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    charges = [Charge(f"{place}", limit, window_s) for place, (limit, window_s) in enumerate(budgets)]
    for pause_ns in pauses:
        clock.now_ns += pause_ns
        outcome = take(limiter, *charges)
        if isinstance(outcome, Exceeded):
            assert outcome.retry_after_s >= 1
            before = clock.now_ns
            clock.pass_s(outcome.retry_after_s - 1)
            if outcome.retry_after_s > 1:
                assert isinstance(take(limiter, *charges), Exceeded)
            clock.now_ns = before
            clock.pass_s(outcome.retry_after_s)
            assert isinstance(take(limiter, *charges), Allowed)


def test_a_refused_call_consumes_nothing_of_any_budget() -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    wide, narrow = Charge("wide", 100, 60), Charge("narrow", 1, 10)
    assert isinstance(take(limiter, wide, narrow), Allowed)
    for _ in range(50):
        assert isinstance(take(limiter, wide, narrow), Exceeded)
    outcome = take(limiter, wide)
    assert isinstance(outcome, Allowed)
    assert outcome.tightest is not None
    assert outcome.tightest.remaining == 98


def test_the_tightest_budget_is_the_one_with_the_fewest_calls_left() -> None:
    limiter = MemoryLimiter(Clock())
    outcome = take(limiter, Charge("a", 60, 60), Charge("b", 10, 10))
    assert isinstance(outcome, Allowed)
    assert outcome.tightest is not None
    assert (outcome.tightest.limit, outcome.tightest.remaining, outcome.tightest.reset_s) == (10, 9, 10)


def test_reset_counts_down_to_the_oldest_call() -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    take(limiter, Charge("a", 5, 60))
    clock.pass_s(12.3)
    outcome = take(limiter, Charge("a", 5, 60))
    assert isinstance(outcome, Allowed)
    assert outcome.tightest is not None
    assert outcome.tightest.reset_s == 48


def test_changing_a_limit_keeps_the_history() -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    for _ in range(5):
        assert isinstance(take(limiter, Charge("a", 10, 60)), Allowed)
        clock.pass_s(1)
    lowered = take(limiter, Charge("a", 3, 60))
    assert isinstance(lowered, Exceeded)
    assert lowered.retry_after_s == 57  # three of the five must leave; the third came 57 s before it does
    assert isinstance(take(limiter, Charge("a", 6, 60)), Allowed)
    assert isinstance(take(limiter, Charge("a", 6, 60)), Exceeded)


def test_a_limit_of_zero_refuses_every_call() -> None:
    outcome = take(MemoryLimiter(Clock()), Charge("a", 0, 60))
    assert isinstance(outcome, Exceeded)
    assert outcome.retry_after_s == 60


def test_twenty_failures_throttle_an_address_and_a_throttled_call_counts_nothing() -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    for _ in range(20):
        assert isinstance(take(limiter, failed=True), Allowed)
    clock.pass_s(30)
    for failed in (True, False):
        throttled = take(limiter, Charge("reads", 5, 60), failed=failed)
        assert isinstance(throttled, Throttled)
        assert throttled.retry_after_s == 30
        assert throttled.budget_state.remaining == 0
    assert limiter.throttled(NOBODY) is not None
    assert limiter.throttled(Charge("failures 127.0.0.2", 20, 60)) is None
    clock.pass_s(30)
    assert isinstance(take(limiter, Charge("reads", 5, 60)), Allowed)


def test_a_call_that_did_not_fail_is_no_failure() -> None:
    limiter = MemoryLimiter(Clock())
    for _ in range(100):
        assert isinstance(take(limiter), Allowed)


def test_callers_of_long_ago_are_forgotten() -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    for number in range(1000):
        take(limiter, failures=Charge(f"failures {number}", 20, 60), failed=True)
    clock.pass_s(61)
    take(limiter, failures=Charge("failures last", 20, 60), failed=True)
    assert len(limiter._windows) == 1
