"""Questions put together: nobody is answered from an earlier one, and everybody is answered."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from bullion.booking import batch_slots
from bullion.faults import StoreUnavailable
from bullion.store.batch_loader import BatchLoader

pytestmark = pytest.mark.anyio


class Shop:
    """Answers what it holds when it is asked, after a while that the test decides on."""

    def __init__(self) -> None:
        self.holds: dict[str, int] = {}
        self.asked: list[list[str]] = []
        self.gates: list[asyncio.Event] = []
        self.fault: Exception | None = None
        self.at_once = 0
        self.at_once_max = 0

    async def ask(self, keys: Sequence[str]) -> Mapping[str, int]:
        self.asked.append(list(keys))
        seen = {key: self.holds[key] for key in keys if key in self.holds}
        fault = self.fault
        self.at_once += 1
        self.at_once_max = max(self.at_once_max, self.at_once)
        gate = asyncio.Event()
        self.gates.append(gate)
        await gate.wait()
        self.at_once -= 1
        if fault is not None:
            raise fault
        return seen

    async def open(self, number: int) -> None:
        while len(self.gates) <= number:
            await asyncio.sleep(0)
        self.gates[number].set()


@pytest.fixture
def shop() -> Shop:
    return Shop()


async def turns(number: int = 5) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_those_who_ask_in_one_turn_share_one_question(shop: Shop) -> None:
    shop.holds = {"a": 1, "b": 2}
    loader = BatchLoader(shop.ask, slots=2)
    asking = asyncio.gather(*(loader.get(key) for key in "abacb"))
    await shop.open(0)
    assert await asking == [1, 2, 1, None, 2]
    assert [sorted(keys) for keys in shop.asked] == [["a", "b", "c"]]


async def test_nobody_is_answered_from_a_question_that_was_put_before_theirs(shop: Shop) -> None:
    shop.holds = {"a": 1}
    loader = BatchLoader(shop.ask, slots=2)
    first = asyncio.create_task(loader.get("a"))
    await turns()
    assert len(shop.asked) == 1
    shop.holds["a"] = 2
    second = asyncio.create_task(loader.get("a"))
    await turns()
    await shop.open(0)
    assert await first == 1
    await shop.open(1)
    assert await second == 2


async def test_beside_another_question_goes_the_largest_or_any_if_the_other_is_slow(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_slots, "SLOW_S", 60.0)
    shop.holds = {str(number): number for number in range(65)}
    loader = BatchLoader(shop.ask, slots=2)

    async def asked(*numbers: int) -> None:
        tasks.extend(asyncio.create_task(loader.get(str(number))) for number in numbers)
        await turns()

    tasks: list[asyncio.Task[int | None]] = []
    await asked(0)
    await asked(*range(1, 64))
    assert [len(keys) for keys in shop.asked] == [1]
    await asked(64)
    assert [len(keys) for keys in shop.asked] == [1, 64]
    await shop.open(1)
    await turns()
    monkeypatch.setattr(batch_slots, "SLOW_S", 0.0)
    await asked(5)
    assert [len(keys) for keys in shop.asked] == [1, 64, 1]
    for number in (0, 2):
        await shop.open(number)
    assert await asyncio.gather(*tasks) == [*range(65), 5]


async def test_those_who_wait_for_a_lane_see_what_was_written_before_they_asked(shop: Shop) -> None:
    shop.holds = {"a": 1}
    loader = BatchLoader(shop.ask, slots=1)
    first = asyncio.create_task(loader.get("a"))
    await turns()
    shop.holds["a"] = 2
    others = [asyncio.create_task(loader.get("a")) for _ in range(3)]
    await turns()
    assert len(shop.asked) == 1
    await shop.open(0)
    await shop.open(1)
    assert await first == 1
    assert [await other for other in others] == [2, 2, 2]
    assert len(shop.asked) == 2


async def test_no_more_questions_at_once_than_lanes_and_no_more_keys_than_allowed(shop: Shop) -> None:
    shop.holds = {str(number): number for number in range(300)}
    loader = BatchLoader(shop.ask, slots=2)
    asking = asyncio.gather(*(loader.get(str(number)) for number in range(300)))
    for number in range(5):
        await shop.open(number)
    assert await asking == list(range(300))
    assert shop.at_once_max == 2
    assert max(len(keys) for keys in shop.asked) <= 64
    assert sum(len(keys) for keys in shop.asked) == 300


@pytest.mark.parametrize("fault", [StoreUnavailable("away"), ZeroDivisionError()])
async def test_a_fault_is_told_to_all_who_asked_and_to_nobody_else(shop: Shop, fault: Exception) -> None:
    shop.fault = fault
    loader = BatchLoader(shop.ask, slots=1)
    asking = [asyncio.create_task(loader.get(key)) for key in "aab"]
    await turns()
    shop.fault = None
    shop.holds = {"a": 5}
    later = asyncio.create_task(loader.get("a"))
    await shop.open(0)
    for task in asking:
        with pytest.raises(type(fault)):
            await task
    await shop.open(1)
    assert await later == 5


async def test_one_who_leaves_takes_nobody_along(shop: Shop) -> None:
    shop.holds = {"a": 1}
    loader = BatchLoader(shop.ask, slots=1)
    leaving, staying = (asyncio.create_task(loader.get("a")) for _ in range(2))
    await turns()
    leaving.cancel()
    await turns()
    await shop.open(0)
    assert await staying == 1


async def test_a_fault_that_nobody_waits_for_any_more_is_no_noise(shop: Shop) -> None:
    shop.fault = StoreUnavailable("away")
    loader = BatchLoader(shop.ask, slots=1)
    leaving = asyncio.create_task(loader.get("a"))
    await turns()
    leaving.cancel()
    await shop.open(0)
    await turns()
    shop.fault = None
    shop.holds = {"a": 1}
    again = asyncio.create_task(loader.get("a"))
    await shop.open(1)
    assert await again == 1
