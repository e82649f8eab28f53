"""What the parent of the workers does while it waits for one of them."""

import math
import os
import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from bullion.workers import place_table, worker_pool
from bullion.workers.worker import Stage
from bullion.workers.worker_pool import WorkerPool

ENDED_PID = 12


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Of two workers. The second has ended without a word, and its place says that it serves."""
    monkeypatch.setattr(place_table, "SERVED_NS", 60_000_000_000)  # However busy the machine is.
    settings: Any = SimpleNamespace(workers=2, shared=True, drain_s=0.01)
    ports: Any = None
    pool = WorkerPool(settings, ports)
    pool._places.grow(2)
    pool._places.spread_over(2)
    workers: Any = [worker(os.getpid(), None), worker(ENDED_PID, -signal.SIGKILL)]
    pool._workers = workers
    for place, each in enumerate(workers):
        pool._places._table.serve(place, each.process.pid)
    yield pool
    pool._places.shrink(0)


def worker(pid: int, code: int | None) -> SimpleNamespace:
    process = SimpleNamespace(pid=pid, poll=lambda: code)
    nothing = SimpleNamespace(close=lambda: None)
    return SimpleNamespace(process=process, channel=nothing, drain=lambda: None, started_at=math.inf)


def served(pool: WorkerPool) -> list[bool]:
    return [pool._places._table.is_served(place) for place in range(2)]


def test_nothing_is_sent_to_one_that_ended_while_another_starts(pool: WorkerPool) -> None:
    seen: list[list[bool]] = []

    def stage(_within_s: float) -> Stage:
        seen.append(served(pool))
        return Stage.STARTING if len(seen) == 1 else Stage.SERVING

    starting: Any = SimpleNamespace(stage=stage)
    assert pool._wait_for(starting, Stage.SERVING)
    assert seen == [[True, True], [True, False]]


def test_nor_while_the_service_drains(pool: WorkerPool) -> None:
    pool.stop(signal.SIGTERM)
    pool._drain(pool._workers)
    assert served(pool) == [True, False]


def test_nor_during_the_pause_after_a_crash(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    crashed: Any = worker(os.getpid(), 1)
    pool._workers[0] = crashed
    seen: list[list[bool]] = []
    monkeypatch.setattr(worker_pool, "_CRASH_PAUSE_S", 0.01)

    def start(_place: int) -> SimpleNamespace:
        seen.append(served(pool))
        return worker(os.getpid(), None)

    monkeypatch.setattr(pool, "_start", start)
    pool._replace_dead()
    assert seen[0] == [False, False]
