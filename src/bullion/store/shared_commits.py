"""Group commit on SQLite: jobs that wait for the writer's thread share a transaction, and so a commit.

Each has a savepoint of its own: a job that fails leaves nothing, and fails no other. A job is answered only
after the commit. If the shared transaction cannot go on, the other jobs run again, each in its own.

Jobs that need not be durable share commits of their own, which do not wait for the disk. The log is written
in order: such a job is on disk as soon as anything is that was committed after it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from bullion.faults import OutcomeUnknown

if TYPE_CHECKING:
    from .sqlite import SqliteConnection

_SHARED_MAX = 16

Work = Callable[[], Any]


class _Job:
    def __init__(self, work: Work, *, patient: bool, durable: bool) -> None:
        self.work = work
        self.patient = patient
        self.durable = durable
        self.done: Future[Any] = Future()


class SharedCommits:
    def __init__(self, writer: "SqliteConnection", start: Callable[[Callable[[], None]], object]) -> None:
        """`start` runs something on the writer's thread; RuntimeError: it has ended."""
        self._writer = writer
        self._start = start
        self._waiting: deque[_Job] = deque()
        self._not_durable: deque[_Job] = deque()
        self._busy = False
        """Whether jobs are running or about to. Only the loop changes it."""

    def submit(self, work: Work, *, patient: bool = False, durable: bool = True) -> "Future[Any]":
        """Its answer, after the commit. It can be cancelled until it begins. `work` may run twice.

        `patient`: one step of several. While the loop works on the answers to the last steps it submits the
        next, so these wait for a turn of the loop: otherwise the writer would take the first of them alone.
        Called on the event loop.
        """
        job = _Job(work, patient=patient, durable=durable)
        (self._waiting if durable else self._not_durable).append(job)
        if not self._busy:
            self._busy = True
            loop = asyncio.get_running_loop()
            if patient:
                loop.call_soon(self._start_now, loop)
            else:
                self._start_now(loop)
        return job.done

    def _start_now(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            self._start(lambda: self._run(loop))
        except RuntimeError as error:
            self._busy = False
            while self._waiting or self._not_durable:
                _fail(self._take(), error)

    def _ended(self, loop: asyncio.AbstractEventLoop) -> None:
        self._busy = bool(self._waiting or self._not_durable)
        if self._busy:
            loop.call_soon(self._start_now, loop)

    # The methods below are called only on the writer's thread.

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        goes_on = True
        try:
            while goes_on:
                jobs = self._take()
                for job in self._share(jobs) if len(jobs) > 1 else jobs:
                    self._run_alone(job)
                waiting = [*tuple(self._waiting), *tuple(self._not_durable)]
                goes_on = not all(job.patient for job in waiting)
        finally:
            loop.call_soon_threadsafe(self._ended, loop)

    def _take(self) -> list[_Job]:
        jobs: list[_Job] = []
        waiting = self._not_durable or self._waiting
        while waiting and len(jobs) < _SHARED_MAX:
            job = waiting.popleft()
            if job.done.set_running_or_notify_cancel():
                jobs.append(job)
        return jobs

    def _share(self, jobs: list[_Job]) -> list[_Job]:
        """Run them in one transaction. Returns those that left nothing, and have to run alone."""
        writer = self._writer
        try:
            writer.begin(durable=jobs[0].durable)
        except BaseException as error:  # noqa: BLE001 - whoever waits for the job gets it
            return _fail(jobs, error)
        answers: dict[_Job, Any] = {}
        for place, job in enumerate(jobs):
            try:
                answers[job] = writer.in_savepoint(job.work)
            except BaseException as error:  # noqa: BLE001 - as above
                if writer.goes_on_after(error):
                    _fail([job], error)
                    continue
                writer.roll_back_failed()
                _fail([job], error)
                return [*answers, *jobs[place + 1 :]]
        try:
            writer.commit()
        except OutcomeUnknown as fault:
            writer.roll_back_failed()
            return _fail(answers, fault)
        except BaseException:  # noqa: BLE001 - nothing was committed
            writer.roll_back_failed()
            return list(answers)
        for job, answer in answers.items():
            job.done.set_result(answer)
        return []

    def _run_alone(self, job: _Job) -> None:
        try:
            self._writer.begin(durable=job.durable)
            try:
                answer = job.work()
                self._writer.commit()
            except BaseException:
                self._writer.roll_back_failed()
                raise
        except BaseException as error:  # noqa: BLE001 - as above
            job.done.set_exception(error)
        else:
            job.done.set_result(answer)


def _fail(jobs: Iterable[_Job], error: BaseException) -> list[_Job]:
    """None of them has to run again."""
    for job in jobs:
        # One for each: whoever gets it adds notes.
        job.done.set_exception(OutcomeUnknown(*error.args) if isinstance(error, OutcomeUnknown) else error)
    return []
