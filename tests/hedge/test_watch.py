"""What a node knows of its venue, by a clock in the test's hand."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

import pytest
import structlog

from bullion.hedge import watch as watch_module
from bullion.hedge.venue import (
    HedgeRequest,
    ListedExecution,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    VenueUnreachable,
)
from bullion.hedge.watch import VenueWatch
from tests.support.venues import ScriptedAbilities

pytestmark = pytest.mark.anyio

TRADABLE, SUSPENDED, UNKNOWN = Tradeability.TRADABLE, Tradeability.SUSPENDED, Tradeability.UNKNOWN
Words = Mapping[str, Tradeability]


class Told(ScriptedAbilities):
    """A venue that says of instruments what it is told to, for each broker."""

    def __init__(self) -> None:
        self.says: dict[str, Callable[[], Awaitable[Any]]] = {}
        self.asked: list[tuple[str, frozenset[str]]] = []

    def answer(self, broker: str, words: Any) -> None:
        async def say() -> Any:
            return words

        self.says[broker] = say

    def fail(self, broker: str, error: BaseException) -> None:
        async def say() -> Any:
            raise error

        self.says[broker] = say

    async def instruments(self, broker: str, named: Collection[str]) -> Words:
        self.asked.append((broker, frozenset(named)))
        words: Words = await self.says[broker]()
        return words

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        raise AssertionError("a watch sends nothing")

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        raise AssertionError("a watch asks for no order")

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        raise AssertionError("a watch lists nothing")


class Bench:
    def __init__(self) -> None:
        self.venue = Told()
        self.now = 5.0
        """A clock that has only just begun must not make an old word of none."""
        self.traded: dict[str, set[str]] = {"main": {"GOLD", "SILVER"}, "other": {"GOLD"}}
        self.watch = VenueWatch(self.venue, lambda: self.traded, self.traded.__getitem__, lambda: self.now)
        self.venue.answer("main", {"GOLD": TRADABLE, "SILVER": SUSPENDED})
        self.venue.answer("other", {"GOLD": SUSPENDED})

    def words(self) -> list[Tradeability]:
        names = (("main", "GOLD"), ("main", "SILVER"), ("other", "GOLD"), ("main", "NONE"))
        return [self.watch.tradeability(*name) for name in names]

    def reached(self) -> list[bool]:
        return [self.watch.reachable(broker) for broker in ("main", "other", "third")]


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_before_it_has_looked_nothing_is_known(bench: Bench) -> None:
    assert bench.reached() == [False, False, False]
    assert bench.words() == [UNKNOWN] * 4


async def test_after_a_look_each_brokers_words_are_known(bench: Bench) -> None:
    await bench.watch.check()
    assert bench.reached() == [True, True, False]
    assert bench.words() == [TRADABLE, SUSPENDED, SUSPENDED, UNKNOWN]
    assert sorted(bench.venue.asked) == [
        ("main", frozenset({"GOLD", "SILVER"})),
        ("other", frozenset({"GOLD"})),
    ]


async def test_the_answers_for_a_broker_take_no_look_at_the_others(bench: Bench) -> None:
    """Every node reports all brokers twice a second: with hundreds, it would do little else."""
    looked_at: list[str] = []

    def traded(broker: str) -> set[str]:
        looked_at.append(broker)
        return bench.traded[broker]

    watch = VenueWatch(bench.venue, lambda: bench.traded, traded)
    await watch.check()
    looked_at.clear()
    assert watch.answers("main") == {"GOLD": TRADABLE, "SILVER": SUSPENDED}
    assert looked_at == ["main"]


async def test_a_broker_that_trades_nothing_yet_is_asked_for_all_the_same(bench: Bench) -> None:
    bench.traded["third"] = set()
    bench.venue.answer("third", {})
    await bench.watch.check()
    assert bench.reached() == [True, True, True]


@pytest.mark.parametrize(("later_s", "reached"), [(0.0, True), (3.0, True), (3.001, False), (100.0, False)])
async def test_a_venue_that_has_not_answered_for_three_seconds_cannot_be_reached(
    bench: Bench, later_s: float, reached: bool
) -> None:
    await bench.watch.check()
    bench.now += later_s
    assert bench.reached()[:2] == [reached, reached]


@pytest.mark.parametrize(("later_s", "known"), [(9.999, True), (10.0, True), (10.001, False)])
async def test_a_word_that_is_too_old_is_none(bench: Bench, later_s: float, known: bool) -> None:
    await bench.watch.check()
    bench.now += later_s
    assert (bench.words() == [TRADABLE, SUSPENDED, SUSPENDED, UNKNOWN]) is known
    assert known or bench.words() == [UNKNOWN] * 4


async def test_words_and_reach_count_from_when_they_were_asked_for(bench: Bench) -> None:
    async def slowly() -> Words:
        bench.now += 1.5
        return {"GOLD": TRADABLE}

    bench.venue.says["main"] = slowly
    del bench.traded["other"]
    await bench.watch.check()
    bench.now += 1.5
    assert bench.watch.reachable("main")
    bench.now += 0.001
    assert not bench.watch.reachable("main")


NONSENSE = [
    VenueUnreachable("down"),
    TimeoutError(),
    ConnectionResetError(),
    KeyError("nonsense"),
    RecursionError(),
    ExceptionGroup("several", [ValueError()]),
    asyncio.CancelledError("from within: nobody stopped us"),
]


@pytest.mark.parametrize("error", NONSENSE, ids=repr)
async def test_when_a_call_fails_the_venue_is_out_of_reach_at_once_and_its_words_stay_a_while(
    bench: Bench, error: BaseException
) -> None:
    await bench.watch.check()
    bench.venue.fail("main", error)
    await bench.watch.check()
    assert bench.reached()[:2] == [False, True]
    assert bench.words() == [TRADABLE, SUSPENDED, SUSPENDED, UNKNOWN]
    bench.venue.answer("main", {"GOLD": SUSPENDED})
    await bench.watch.check()
    assert bench.reached()[:2] == [True, True]
    assert bench.words()[0] is SUSPENDED


@pytest.mark.parametrize(
    "nonsense",
    [None, 7, [], ["GOLD"], {"GOLD": None}, {"GOLD": "open"}, {"GOLD": 1}, {("GOLD",): []}],
    ids=repr,
)
async def test_an_answer_that_makes_no_sense_is_no_answer_and_does_not_end_the_node(
    bench: Bench, nonsense: Any
) -> None:
    await bench.watch.check()
    bench.venue.answer("main", nonsense)
    await bench.watch.check()
    assert bench.reached()[:2] == [False, True]
    assert bench.words() == [TRADABLE, SUSPENDED, SUSPENDED, UNKNOWN]


async def test_a_word_in_plain_text_is_as_good(bench: Bench) -> None:
    bench.venue.answer("main", {"GOLD": "suspended"})
    await bench.watch.check()
    assert bench.words()[0] is SUSPENDED


async def test_an_instrument_that_is_left_out_keeps_its_last_word_until_that_is_too_old(bench: Bench) -> None:
    await bench.watch.check()
    bench.venue.answer("main", {"GOLD": TRADABLE})
    bench.now += 10.0
    await bench.watch.check()
    assert bench.words()[:2] == [TRADABLE, SUSPENDED]
    bench.now += 0.5
    assert bench.words()[:2] == [TRADABLE, UNKNOWN]


async def test_one_brokers_hanging_venue_does_not_hide_anothers(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "_CALL_S", 0.05)
    await bench.watch.check()
    answered = asyncio.Event()

    async def hang() -> Words:
        await answered.wait()
        return {}

    async def answer() -> Words:
        answered.set()
        return {"GOLD": TRADABLE}

    async def hang_for_ever() -> Words:
        await asyncio.Event().wait()
        return {}

    bench.venue.says = {"main": hang, "other": answer}
    await bench.watch.check()  # They are asked at once: the one waits for the other's answer.
    assert bench.reached()[:2] == [True, True]
    bench.venue.says = {"main": hang_for_ever, "other": answer}
    await bench.watch.check()
    assert bench.reached()[:2] == [False, True]
    assert bench.words()[2] is TRADABLE


async def test_it_goes_on_looking_for_as_long_as_the_node_runs(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "_EVERY_S", 0.001)
    bench.venue.fail("main", KeyError("nonsense"))
    running = asyncio.ensure_future(bench.watch.run())
    while len(bench.venue.asked) < 20:
        await asyncio.sleep(0.001)
    bench.venue.answer("main", {})
    while not bench.watch.reachable("main"):
        await asyncio.sleep(0.001)
    assert not running.done()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_it_can_be_stopped_while_it_asks(bench: Bench) -> None:
    async def hang_for_ever() -> Words:
        await asyncio.Event().wait()
        return {}

    await bench.watch.check()
    bench.venue.says["main"] = hang_for_ever
    running = asyncio.ensure_future(bench.watch.run())
    await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait([running], timeout=1)
    assert running.cancelled()
    assert bench.watch.reachable("main")


async def test_a_venue_lost_and_found_is_told_once_each(bench: Bench) -> None:
    del bench.traded["other"]
    with structlog.testing.capture_logs() as logs:
        for _ in range(3):
            await bench.watch.check()
        bench.venue.fail("main", VenueUnreachable("the line is cut"))
        for _ in range(3):
            await bench.watch.check()
        bench.venue.answer("main", {})
        await bench.watch.check()
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [
        ("venue_reached", "info"),
        ("venue_unreachable", "warning"),
        ("venue_reached", "info"),
    ]
    assert "the line is cut" in logs[1]["error"]
