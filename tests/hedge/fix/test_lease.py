"""This process's hold on a line, by a clock in the test's hand."""

import asyncio

import pytest

from bullion.faults import StoreUnavailable
from bullion.hedge.fix.lease import LineHolder, LineLease

pytestmark = pytest.mark.anyio


class Leases:
    def __init__(self) -> None:
        self.answers = True
        self.fault = False
        self.taken = 0
        self.released: list[str] = []

    async def take(self, line: str, holder: LineHolder, lease_s: float) -> bool:
        self.taken += 1
        if self.fault:
            raise StoreUnavailable("gone")
        return self.answers

    async def release(self, line: str, holder: str) -> None:
        self.released.append(holder)

    async def holder(self, line: str) -> LineHolder | None:
        return None

    async def begin_connection(self, line: str, holder: str) -> int:
        return 1


class Bench:
    def __init__(self) -> None:
        self.now = 1_000.0
        self.leases = Leases()
        self.lease = LineLease(self.leases, "gold", LineHolder("one", "", ""), 6.0, lambda: self.now)


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_it_is_held_for_half_of_its_time(bench: Bench) -> None:
    assert not bench.lease.held()
    assert await bench.lease.renew()
    bench.now += 2.9
    assert bench.lease.held()
    bench.now += 0.2
    assert not bench.lease.held()
    assert await bench.lease.renew()
    assert bench.lease.held()


async def test_its_time_counts_from_before_the_renewal_began(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(line: str, holder: LineHolder, lease_s: float) -> bool:
        bench.now += 4
        return True

    monkeypatch.setattr(bench.leases, "take", slow)
    await bench.lease.renew()
    assert not bench.lease.held()


async def test_it_is_lost_when_another_process_has_it(bench: Bench) -> None:
    await bench.lease.renew()
    bench.leases.answers = False
    assert not await bench.lease.renew()
    assert not bench.lease.held()


async def test_a_store_that_is_away_for_a_moment_costs_nothing(bench: Bench) -> None:
    await bench.lease.renew()
    bench.leases.fault = True
    bench.now += 1
    assert await bench.lease.renew()
    bench.now += 2.5
    assert not await bench.lease.renew()


async def test_it_is_released_at_the_end_and_not_held_while_it_is(bench: Bench) -> None:
    task = asyncio.ensure_future(bench.lease.run())
    async with asyncio.timeout(10):
        while not bench.lease.held():
            await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert bench.leases.released == ["one"]
    assert not bench.lease.held()


async def test_what_another_process_has_is_not_released(bench: Bench) -> None:
    bench.leases.answers = False
    task = asyncio.ensure_future(bench.lease.run())
    async with asyncio.timeout(10):
        while not bench.leases.taken:
            await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert bench.leases.released == []
