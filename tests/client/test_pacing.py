"""Keeping within the budgets by what the answers tell of them."""

import threading
from typing import Any

import httpx

from bullion_client.rate_limit import Pacer
from tests.client.scripted_network import LIVE_ORDER, World, answer, caller, refusal


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def told(left: int, reset: int) -> dict[str, str]:
    return {"RateLimit-Remaining": str(left), "RateLimit-Reset": str(reset)}


def test_without_a_word_nobody_waits() -> None:
    pacer = Pacer()
    assert [pacer.ask("orders") for _ in range(100)] == [0.0] * 100
    for headers in (None, {}, {"RateLimit-Remaining": "soon", "RateLimit-Reset": "5"}):
        pacer.done("orders", headers)
        assert pacer.ask("orders") == 0.0


def test_when_no_place_is_left_the_next_waits_until_one_is_free() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    assert pacer.ask("orders") == 0.0
    pacer.done("orders", told(left=2, reset=7))
    assert [pacer.ask("orders"), pacer.ask("orders"), pacer.ask("orders")] == [0.0, 0.0, 7.0]
    clock.seconds = 6.5
    assert pacer.ask("orders") == 0.5
    assert pacer.ask("reads") == 0.0


def test_a_place_that_becomes_free_is_one_place() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    pacer.ask("orders")
    pacer.done("orders", told(left=0, reset=3))
    clock.seconds = 3.0
    assert pacer.ask("orders") == 0.0
    assert pacer.ask("orders") > 0.0
    pacer.done("orders", told(left=0, reset=2))
    assert pacer.ask("orders") == 2.0


def test_a_call_that_got_no_answer_does_not_stop_the_others() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    pacer.ask("orders")
    pacer.done("orders", told(left=0, reset=3))
    clock.seconds = 3.0
    assert pacer.ask("orders") == 0.0
    pacer.done("orders", None)
    assert pacer.ask("orders") == 0.0


def test_calls_under_way_are_counted_as_sent() -> None:
    pacer = Pacer(Clock())
    for _ in range(3):
        assert pacer.ask("orders") == 0.0
    pacer.done("orders", told(left=3, reset=9))
    assert [pacer.ask("orders"), pacer.ask("orders")] == [0.0, 9.0]


def test_threads_share_the_places() -> None:
    pacer = Pacer()
    pacer.ask("orders")
    pacer.done("orders", told(left=50, reset=60))
    taken: list[float] = []

    def take() -> None:
        for _ in range(20):
            taken.append(pacer.ask("orders"))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken.count(0.0) == 50


def _counting(limit: int) -> Any:
    """A service with one budget of so many calls in ten seconds, which refuses more than that."""
    counted: list[float] = []

    def answered(world: World) -> Any:
        def respond(request: httpx.Request) -> httpx.Response:
            now = world.seconds
            counted[:] = [at for at in counted if at > now - 10]
            if len(counted) >= limit:
                return refusal(429, "rate_limited", retry_after=int(counted[0] + 10 - now) + 1)
            counted.append(now)
            left, reset = limit - len(counted), int(counted[0] + 10 - now) + 1
            return answer(200, LIVE_ORDER, RateLimit_Remaining=str(left), RateLimit_Reset=str(reset))

        return respond

    return answered


def test_a_paced_client_meets_no_429() -> None:
    world = World(answer(500, b""))
    world._outcomes = [_counting(5)(world)]
    paced = caller(pace=True)
    assert paced._pacer is not None
    paced._pacer._clock = lambda: world.seconds
    for _ in range(23):
        world.run(paced._order("7"))
    assert len(world.sent) == 23
    hasty = World(answer(500, b""))
    hasty._outcomes = [_counting(5)(hasty)]
    plain = caller()
    for _ in range(23):
        hasty.run(plain._order("7"))
    assert len(hasty.sent) > 23


def test_pacing_does_not_go_past_the_deadline() -> None:
    world = World(
        answer(200, LIVE_ORDER, RateLimit_Remaining="0", RateLimit_Reset="50"), answer(200, LIVE_ORDER)
    )
    paced = caller(pace=True, deadline=20)
    assert paced._pacer is not None
    paced._pacer._clock = lambda: world.seconds
    world.run(paced._order("7"))
    world.run(paced._order("7"))
    assert (len(world.sent), world.pauses) == (2, [])


def test_it_is_off_unless_asked_for() -> None:
    assert caller()._pacer is None
