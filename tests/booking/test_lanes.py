"""When another batch sets off: at once if none is under way; beside another, full, or if that one is slow."""

import asyncio

import pytest

from bullion.booking import lanes as lanes_module
from bullion.booking.lanes import Lanes

pytestmark = pytest.mark.anyio


@pytest.fixture
def rung() -> list[float]:
    return []


@pytest.fixture
def lanes(rung: list[float]) -> Lanes:
    return Lanes(2, lambda: rung.append(asyncio.get_running_loop().time()))


async def test_beside_another_only_a_full_one(lanes: Lanes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "SLOW_S", 60.0)
    assert lanes.free(full=False)
    first = lanes.take()
    assert not lanes.free(full=False)
    assert lanes.free(full=True)
    second = lanes.take()
    assert not lanes.free(full=True)
    lanes.give_back(second)
    assert not lanes.free(full=False)
    lanes.give_back(first)
    assert lanes.free(full=False)


async def test_whoever_was_told_to_wait_is_woken_when_the_other_is_slow(
    lanes: Lanes, rung: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes_module, "SLOW_S", 0.5)
    departed_s = lanes.take()
    assert not lanes.free(full=False)
    assert not lanes.free(full=False)
    await asyncio.sleep(1.5 * lanes_module.SLOW_S)
    assert lanes.free(full=False)
    (at_s,) = rung
    assert at_s - departed_s >= lanes_module.SLOW_S - 0.005  # uvloop counts in milliseconds.


async def test_beside_one_that_hangs_the_others_do_not_wait_for_each_other(lanes: Lanes) -> None:
    lanes.take()
    await asyncio.sleep(2 * lanes_module.SLOW_S)
    for _ in range(3):
        assert lanes.free(full=False)
        lanes.give_back(lanes.take())
