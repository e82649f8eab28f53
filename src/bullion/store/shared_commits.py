"""Group commit on SQLite: jobs that wait for the writer's thread share a transaction, and so a commit.

Each has a savepoint of its own: a job that fails leaves nothing, and fails no other. A job is answered only
after the commit. If the shared transaction cannot go on, the other jobs run again, each in its own.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, Protocol

from bullion.faults import OutcomeUnknown

_SHARED_MAX = 16

Work = Callable[[], Any]


class Writer(Protocol):
    """The connection that writes. Its methods are called only on its own thread."""

    def begin(self) -> None: ...

    def commit(self) -> None:
        """Raises OutcomeUnknown if it may have been made."""

    def roll_back_failed(self) -> None:
        """Never raises."""

    def in_savepoint(self, work: Work) -> Any:
        """Undo whatever `work` has done if it raises."""

    def goes_on_after(self, error: BaseException) -> bool:
        """Whether the transaction is as sound as before the job that raised this error."""


class _Job:
    def __init__(self, work: Work) -> None:
        self.work = work
        self.done: Future[Any] = Future()


class SharedCommits:
    def __init__(self, writer: Writer, start: Callable[[Callable[[], None]], object]) -> None:
        """`start` runs something on the writer's thread."""
        self._writer = writer
        self._start = start
        self._waiting: deque[_Job] = deque()
        self._started = False

    def submit(self, work: Work) -> "Future[Any]":
        """Its answer, after the commit. It can be cancelled until it begins. `work` may run twice."""
        job = _Job(work)
        self._waiting.append(job)
        if not self._started:
            self._started = True
            self._start(self._run)
        return job.done

    def _run(self) -> None:
        self._started = False  # Before the jobs are taken: whoever comes later starts it again.
        while jobs := self._take():
            for job in self._share(jobs) if len(jobs) > 1 else jobs:
                self._run_alone(job)

    def _take(self) -> list[_Job]:
        jobs: list[_Job] = []
        while self._waiting and len(jobs) < _SHARED_MAX:
            job = self._waiting.popleft()
            if job.done.set_running_or_notify_cancel():
                jobs.append(job)
        return jobs

    def _share(self, jobs: list[_Job]) -> list[_Job]:
        """Run them in one transaction. Returns those that left nothing, and have to run alone."""
        writer = self._writer
        try:
            writer.begin()
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
            self._writer.begin()
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
