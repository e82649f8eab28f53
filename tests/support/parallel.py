"""A pytest plugin that runs the tests in several workers, as `--workers` says.

The workers are forks of the process that has collected the tests. With pytest-xdist each worker is a new
interpreter that imports and collects all tests again, and sends seven messages about each test: that took a
third of the processor time of `make quick`.

A worker gets a batch of tests at a time, and the next one when it begins the last test of a batch. Tests with
the mark `one_worker` and the same name, which follow each other, are one batch.
"""

import atexit
import contextlib
import os
import random
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

_BATCH_MAX = 10
"""Tests of one file that need not share a worker."""
_WAITING_FOR_OTHERS = 2
"""Workers beyond two for each core. There are so many because tests wait for leases and pauses."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", default="0", help="how many tests run at once: a number, or auto")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    number = _number_of_workers(session.config)
    if not number or session.testsfailed or session.config.option.collectonly:
        return None
    return ParallelRun(session, number).run()


def _number_of_workers(config: pytest.Config) -> int:
    asked = config.getoption("workers")
    if asked != "auto":
        return int(asked)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 2 * cores + _WAITING_FOR_OTHERS


def group_name(item: pytest.Item) -> str | None:
    """Tests of the same group run in one worker, one after the other."""
    mark = item.get_closest_marker("one_worker")
    return None if mark is None else str(mark.args[0])


def batches(items: Sequence[pytest.Item]) -> Iterator[list[int]]:
    """Groups, and neighbours of one file: the numbers of their tests."""

    def name(number: int) -> tuple[bool, str]:
        group = group_name(items[number])
        return (True, group) if group is not None else (False, str(items[number].path))

    for (is_group, _), numbers in groupby(range(len(items)), name):
        batch = list(numbers)
        at_once = len(batch) if is_group else _BATCH_MAX
        for start in range(0, len(batch), at_once):
            yield batch[start : start + at_once]


@dataclass
class _Worker:
    """A worker, as the process that hands out the tests sees it."""

    pid: int
    failed: bool = False
    unfinished: deque[int] = field(default_factory=deque)
    """The tests that it was given, and has sent no reports of."""


class ParallelRun:
    def __init__(self, session: pytest.Session, workers: int) -> None:
        self._session = session
        self._config = session.config
        self._batches = deque(batches(session.items))
        self._wanted = min(workers, len(self._batches))
        self._workers: dict[Connection, _Worker] = {}
        self._forks = 0

    def run(self) -> bool:
        """Returns in the workers too, each of which goes on as a session of its own."""
        assert threading.active_count() == 1, "a process with threads must not fork"
        _plugin(self._config, "terminalreporter").showfspath = False
        _tmp_paths(self._config).getbasetemp()  # The folders of all workers are below it.
        try:
            while True:
                while self._batches and len(self._workers) < self._wanted:
                    link = self._fork()
                    if link is not None:
                        return _work(self._session, link, self._forks)
                if not self._workers:
                    break
                for ready in wait(list(self._workers)):
                    assert isinstance(ready, Connection)
                    self._receive(ready)
        except KeyboardInterrupt:
            self._end()
            raise
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)
        return True

    def _fork(self) -> Connection | None:
        """Start a worker. In the worker itself, the connection to this process is returned."""
        self._forks += 1
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            for link in (ours, *self._workers):
                link.close()
            self._workers.clear()
            return theirs
        theirs.close()
        self._workers[ours] = _Worker(pid)
        return None

    def _receive(self, link: Connection) -> None:
        worker = self._workers[link]
        try:
            message = link.recv()
        except (EOFError, OSError):
            self._close(link)
            return
        if message is None:
            batch = self._batches.popleft() if self._batches else []
            worker.unfinished += batch
            link.send(batch)
            return
        number, reports = message
        assert worker.unfinished.popleft() == number
        for data in reports:
            self._report(self._config.hook.pytest_report_from_serializable(config=self._config, data=data))
            worker.failed |= data["outcome"] == "failed"

    def _report(self, report: pytest.TestReport) -> None:
        self._config.hook.pytest_runtest_logreport(report=report)
        if self._session.shouldfail or self._session.shouldstop:
            self._batches.clear()

    def _close(self, link: Connection) -> None:
        """A worker has ended. If it was in the middle of a batch, another one gets the rest."""
        worker = self._workers.pop(link)
        link.close()
        status = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        expected = pytest.ExitCode.TESTS_FAILED if worker.failed else pytest.ExitCode.OK
        has_stopped = self._session.shouldfail and status == expected
        if worker.unfinished and not has_stopped:
            item = self._session.items[worker.unfinished.popleft()]
            if worker.unfinished:
                self._batches.appendleft(list(worker.unfinished))
            self._report(_of_dead_worker(item.nodeid, item.location, status))
        elif status != expected:
            self._wanted -= 1  # Another one would end the same way.
            self._report(_of_dead_worker("worker", ("worker", None, "worker"), status))

    def _end(self) -> None:
        """Wait for the tests that run now. What the workers started ends with them."""
        for link in self._workers:
            link.close()
        for worker in self._workers.values():
            os.waitpid(worker.pid, 0)


def _of_dead_worker(nodeid: str, location: tuple[str, int | None, str], status: int) -> pytest.TestReport:
    told = f"The worker that ran this ended with status {status}. What it wrote is above."
    return pytest.TestReport(nodeid, location, {}, "failed", told, "call")


def _work(session: pytest.Session, link: Connection, number: int) -> bool:
    """Run batches until there are no more."""
    config = session.config
    session.testsfailed = 0
    _become_worker(config, number)
    reports = _Reports(config)
    config.pluginmanager.register(reports)
    numbers = _given(link)
    current = next(numbers, None)
    while current is not None:
        following = next(numbers, None)
        item, next_item = session.items[current], None if following is None else session.items[following]
        config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
        with _connected():
            link.send((current, reports.take()))
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        current = following
    return True


def _given(link: Connection) -> Iterator[int]:
    while True:
        with _connected():
            link.send(None)
            batch = link.recv()
        if not batch:
            return
        yield from batch


@contextlib.contextmanager
def _connected() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise pytest.Session.Interrupted("the process that hands out the tests has ended") from error


class _Reports:
    """Collects the reports of the test that runs."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._waiting: list[Any] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._waiting.append(
            self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        )

    def take(self) -> list[Any]:
        taken, self._waiting = self._waiting, []
        return taken


def _become_worker(config: pytest.Config, number: int) -> None:
    """Share nothing with the other workers, and leave it to the first process to tell and to record."""
    atexit._clear()
    random.seed()
    config.workerinput = {}  # type: ignore[attr-defined]  # Plugins know workers by this attribute.
    config.pluginmanager.unregister(name="terminalreporter")
    # The files into which output is captured.
    capture = _plugin(config, "capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    paths = _tmp_paths(config)
    paths._basetemp = paths.getbasetemp() / f"worker{number}"
    paths._basetemp.mkdir(mode=0o700)


def _plugin(config: pytest.Config, name: str) -> Any:
    return config.pluginmanager.get_plugin(name)


def _tmp_paths(config: pytest.Config) -> pytest.TempPathFactory:
    paths: pytest.TempPathFactory = config._tmp_path_factory  # type: ignore[attr-defined]
    return paths
