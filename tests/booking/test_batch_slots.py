"""When a batch may start: at once if none runs; beside another if it is full, or if that one is slow."""

import asyncio

import pytest

from bullion.booking import batch_slots
from bullion.booking.batch_slots import BatchSlots

pytestmark = pytest.mark.anyio


@pytest.fixture
def rung() -> list[float]:
    return []


@pytest.fixture
def slots(rung: list[float]) -> BatchSlots:
    return BatchSlots(2, lambda: rung.append(asyncio.get_running_loop().time()))


async def test_beside_another_only_a_full_one(slots: BatchSlots, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_slots, "SLOW_S", 60.0)
    assert slots.free(full=False)
    first = slots.take()
    assert not slots.free(full=False)
    assert slots.free(full=True)
    second = slots.take()
    assert not slots.free(full=True)
    slots.release(second)
    assert not slots.free(full=False)
    slots.release(first)
    assert slots.free(full=False)


async def test_whoever_was_told_to_wait_is_woken_when_the_other_is_slow(
    slots: BatchSlots, rung: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_slots, "SLOW_S", 0.5)
    started_s = slots.take()
    assert not slots.free(full=False)
    assert not slots.free(full=False)
    await asyncio.sleep(1.5 * batch_slots.SLOW_S)
    assert slots.free(full=False)
    (at_s,) = rung
    assert at_s - started_s >= batch_slots.SLOW_S - 0.005  # uvloop counts in milliseconds.


async def test_beside_one_that_hangs_the_others_do_not_wait_for_each_other(slots: BatchSlots) -> None:
    slots.take()
    await asyncio.sleep(2 * batch_slots.SLOW_S)
    for _ in range(3):
        assert slots.free(full=False)
        slots.release(slots.take())
