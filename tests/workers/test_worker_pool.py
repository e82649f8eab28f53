"""What the parent of the workers does while it waits for one of them."""

import asyncio
import errno
import math
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bullion.web.metrics import SHARED_FOLDER
from bullion.workers import place_table, single_node, worker_pool
from bullion.workers.single_node import SingleNode
from bullion.workers.worker import Stage, Worker
from bullion.workers.worker_pool import WorkerPool

ENDED_PID = 12


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Of two workers. The second has ended without a word, and its place says that it serves."""
    monkeypatch.setattr(place_table, "SERVED_NS", 60_000_000_000)  # However busy the machine is.
    settings: Any = SimpleNamespace(workers=2, shared=True, drain_s=0.01)
    ports: Any = SimpleNamespace(api=None, desk=None)
    pool = WorkerPool(settings, ports)
    pool._places.grow(2)
    pool._places.spread_over(2)
    workers: Any = [worker(os.getpid(), None), worker(ENDED_PID, -signal.SIGKILL)]
    pool._workers = workers
    for place, each in enumerate(workers):
        pool._places._table.serve(place, each.process.pid)
    yield pool
    pool._places.shrink(0)
    pool.clean_up()


def worker(pid: int, code: int | None) -> SimpleNamespace:
    process = SimpleNamespace(pid=pid, poll=lambda: code)
    nothing = SimpleNamespace(close=lambda: None)
    return SimpleNamespace(
        process=process, channel=nothing, drain=lambda: None, started_at=math.inf, replace_at=None
    )


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


def test_those_that_end_while_another_hangs_at_its_start_are_replaced(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the other one is given up, and while it does not obey the order to end."""
    first, second = worker(os.getpid(), None), worker(os.getpid(), None)
    rest = [second, first]
    seen: list[Any] = []
    monkeypatch.setattr(pool, "_start", lambda _place: rest.pop())
    monkeypatch.setattr(worker_pool, "_START_S", 0.2)
    monkeypatch.setattr(worker_pool, "_GRACE_S", 0.2)
    healthy: Any = pool._workers[0]
    pool._workers[1].started_at = -math.inf

    def stage(within_s: float) -> Stage:
        time.sleep(within_s)
        return Stage.STARTING

    def kill_the_other() -> None:
        seen.append([*pool._workers])
        healthy.process.poll = lambda: -signal.SIGKILL
        healthy.started_at = -math.inf

    hanging: Any = worker(os.getpid(), None)
    hanging.stage = stage
    hanging.stop = kill_the_other
    hanging.wait = lambda _give_up_at: seen.append([*pool._workers])
    assert not pool._reached(hanging, Stage.SERVING)
    assert seen == [[healthy, first], [second, first]]


def no_process(*_: object, **__: object) -> Any:
    raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")


def no_room(*_: object, **__: object) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("of", "name", "fails"),
    [
        (Worker, "start", no_process),
        (tempfile, "mkdtemp", no_room),
    ],
)
def test_a_worker_that_cannot_be_started_leaves_the_others_alone(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch, of: Any, name: str, fails: Any
) -> None:
    healthy, ended = pool._workers
    ended.started_at = -math.inf
    new = SimpleNamespace(go=lambda: None)
    monkeypatch.setattr(Worker, "start", lambda *_, **__: new)
    monkeypatch.setattr(worker_pool, "_CRASH_PAUSE_S", 60)
    with monkeypatch.context() as patched:
        patched.setattr(of, name, fails)
        pool._replace_dead()
    assert pool._workers == [healthy, ended]
    pool._replace_dead()
    assert pool._workers == [healthy, ended]  # It is not tried at once.
    ended.replace_at = 0.0
    pool._replace_dead()
    assert pool._workers == [healthy, new]


def test_a_worker_is_replaced_although_the_disk_is_full(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    new = SimpleNamespace(go=lambda: None)
    monkeypatch.setattr(Worker, "start", lambda *_, **__: new)
    monkeypatch.setattr(worker_pool, "merge_ended_worker", no_room)
    pool._workers[1].started_at = -math.inf
    pool._metrics = str(tmp_path)
    pool._replace_dead()
    assert pool._workers[1] is new  # type: ignore[comparison-overlap]


def test_a_worker_is_given_a_folder_that_is_there(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A cleaner of temporary files may remove one in which nobody has written for long."""
    folders: list[str] = []
    pool._metrics = str(tmp_path / "removed")
    monkeypatch.setattr(Worker, "start", lambda *given, **_: folders.append(given[2][SHARED_FOLDER]))
    for _ in range(2):
        pool._start_process(0)
    assert len(set(folders)) == 1
    assert Path(folders[0]).is_dir()


def test_a_restart_without_a_new_worker_keeps_the_old_ones(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worker, "start", no_process)
    before = [*pool._workers]
    pool.restart()
    pool._restart_all()
    assert pool._workers == before
    assert pool._replace_all() == (0, False)


def test_a_service_starts_with_all_its_workers_or_with_none(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = [SimpleNamespace(go=lambda: None), None]
    ended: list[Any] = []
    monkeypatch.setattr(pool, "_start", lambda _place: started.pop(0))
    monkeypatch.setattr(pool, "_end", ended.extend)
    assert not pool.start_all()
    assert len(ended) == 1


def test_a_start_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", no_process)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with socket.socket() as lowest:
        free = lowest.fileno()
    with pytest.raises(BlockingIOError):
        Worker.start(["worker"], [], {})
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask
    with socket.socket() as lowest:
        assert lowest.fileno() == free


@pytest.mark.slow
def test_a_worker_imports_nothing_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('not this one')", "utf-8")
    monkeypatch.chdir(tmp_path)
    worker = Worker.start(["--version"], [], os.environ)
    assert worker.wait(time.monotonic() + 20)
    assert worker.process.returncode == 0


def test_a_worker_whose_channel_is_closed_has_ended() -> None:
    channel, other = socket.socketpair()
    process: Any = SimpleNamespace(poll=lambda: 0)
    channel.close()
    other.close()
    ended = Worker(process, channel)
    assert ended.stage() is Stage.ENDED
    ended.stop()


@pytest.mark.anyio
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("of", "name", "error"),
    [(Worker, "start", BlockingIOError(errno.EAGAIN, "")), (asyncio, "to_thread", RuntimeError("no thread"))],
)
async def test_a_single_node_that_cannot_start_a_worker_goes_on(
    monkeypatch: pytest.MonkeyPatch, shared: bool, of: Any, name: str, error: Exception
) -> None:
    """And the next SIGHUP is obeyed."""
    reports: list[str] = []

    def fails(*_: object, **__: object) -> Any:
        raise error

    monkeypatch.setattr(of, name, fails)
    monkeypatch.setattr(single_node, "report_reloading", lambda: reports.append("reloading"))
    monkeypatch.setattr(single_node, "report_serving", lambda: reports.append("serving"))
    settings: Any = SimpleNamespace(workers=1, shared=shared, drain_s=0)
    ports: Any = SimpleNamespace(api=None, desk=None, duplicate=lambda: None)
    serving: Any = SimpleNamespace(stopping=False)
    node = SingleNode(settings, ports)
    monkeypatch.setattr(node._terminal, "closed", lambda: False)
    for _ in range(2):
        node._on_hangup(serving)
        assert node._handing_over is not None
        await node._handing_over
        assert node._handing_over is None
    assert reports == ["reloading", "serving"] * 2
    node._pool._places.shrink(0)
    node._pool.clean_up()
