"""Keeps a number of workers running on the same two ports.

This process binds the ports and passes the sockets to the workers. All workers share one socket per port, and
so one accept queue: a connection that a worker has not accepted when it ends is accepted by another worker.
"""

import os
import shutil
import signal
import tempfile
import time

import structlog

from bullion.logs import is_debug_forced
from bullion.serve import Ports, unblock_signals
from bullion.settings import Settings
from bullion.supervisor import report_reloading, report_serving, report_stopping
from bullion.web.metrics import SHARED_FOLDER, merge_ended_worker

from .terminal import Terminal
from .worker import POLL_INTERVAL_S, Stage, Worker

_START_S = 30
_GRACE_S = 25
_CRASH_PAUSE_S = 1.0
"""A pause before a restart, so that a worker that cannot start does not keep the machine busy."""

_log = structlog.get_logger("bullion")


class WorkerPool:
    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._count = settings.workers
        self._overlap = settings.shared
        self._drain_s = settings.drain_s
        self._ports = ports
        self._workers: list[Worker] = []
        self._in_transition: list[Worker] = []  # being started or stopped
        self._restart_asked = False
        self._stops: list[int] = []
        self._terminal = Terminal()
        self._metrics: str | None = None
        self._debug = False
        """Whether the workers were told to log everything."""

    # Requests to stop and restart

    def stop(self, number: int, _frame: object = None) -> None:
        self._stops.append(number)

    def restart(self) -> None:
        self._restart_asked = True

    def handle_sighup(self, _number: int = signal.SIGHUP, _frame: object = None) -> None:
        if self._terminal.closed():
            self.stop(signal.SIGINT)
        else:
            self.restart()

    # The main loop

    def run(self, *, handed_over: bool = False) -> int:
        """Start the workers and restart those that end; replace all on SIGHUP; stop on SIGTERM or SIGINT.

        `handed_over`: the workers are started or prepared already, to replace a node that is leaving.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)
        signal.signal(signal.SIGHUP, self.handle_sighup)
        unblock_signals()
        try:
            if handed_over:
                self._finish_hand_over()
                report_serving()
            elif not self.start_all():
                return 0 if self._stops else 2
            else:
                self._ports.log_listening()
            while not self._stops:
                time.sleep(POLL_INTERVAL_S)
                self._replace_dead()
                self._pass_on_log_level()
                if self._restart_asked:
                    self._restart_all()
                    report_serving()
            return 0
        finally:
            self._end_service()
            self.clean_up()

    def start_all(self) -> bool:
        """Start all workers. If one does not become ready, all are ended again."""
        self._workers = [self._start() for _ in range(self._count)]
        if all(self._wait_for(worker, Stage.SERVING) for worker in self._workers):
            return True
        self.end_all()
        return False

    def prepare(self) -> bool:
        """Start a worker that waits until the old node has closed the store; end it if it cannot start."""
        self._workers = [self._start(go=False)]
        if self._wait_for(self._workers[0], Stage.PREPARED):
            return True
        self.end_all()
        return False

    def clean_up(self) -> None:
        if self._metrics is not None:
            shutil.rmtree(self._metrics, ignore_errors=True)

    def _start(self, *, go: bool = True) -> Worker:
        if self._metrics is None:
            # A new folder each time: otherwise counts of workers of an earlier run would be added.
            self._metrics = tempfile.mkdtemp(prefix="bullion-metrics-")
        ports = [self._ports.api, self._ports.desk]
        worker = Worker.start(["worker"], ports, os.environ | {SHARED_FOLDER: self._metrics})
        if self._debug:
            worker.signal(signal.SIGUSR1)
        if go:
            worker.go()
        return worker

    def _wait_for(self, worker: Worker, stage: Stage, *, finish: bool = False) -> bool:
        """False if the worker ends before, is too slow, or a stop comes; with `finish`, a second stop."""
        give_up_at = time.monotonic() + _START_S
        while not self._stopped(finish=finish):
            reached = worker.stage(POLL_INTERVAL_S)
            if reached in (stage, Stage.ENDED):
                return reached is stage
            if time.monotonic() > give_up_at:
                _log.error("worker_not_ready", pid=worker.process.pid, waited_s=_START_S)
                break
        return False

    def _stopped(self, *, finish: bool) -> bool:
        return len(self._stops) > (1 if finish else 0)

    def _finish_hand_over(self) -> None:
        for worker in self._workers:
            worker.go()
        # Clients wait in the accept queue. A first stop has to wait for the worker that will answer them.
        if all(self._wait_for(worker, Stage.SERVING, finish=True) for worker in self._workers):
            _log.info("restarted", workers=self._count)
        else:
            _log.error("restart_failed", replaced=0, workers=self._count)

    def _replace_dead(self) -> None:
        for place, worker in enumerate(self._workers):
            code = worker.process.poll()
            if code is None or self._stops:
                continue
            _log.error("worker_ended", pid=worker.process.pid, code=code)
            worker.channel.close()
            self._merge_metrics(worker)
            if time.monotonic() - worker.started_at < _CRASH_PAUSE_S:
                time.sleep(_CRASH_PAUSE_S)
            self._workers[place] = self._start()

    def _pass_on_log_level(self) -> None:
        """A signal changed the level of this process. A worker that starts meanwhile is told by `_start`."""
        if self._debug != is_debug_forced():
            self._debug = is_debug_forced()
            for worker in (*self._workers, *self._in_transition):
                worker.signal(signal.SIGUSR1 if self._debug else signal.SIGUSR2)

    # A restart, one worker at a time

    def _restart_all(self) -> None:
        # Cleared first: a request during the restart may follow settings that the new workers have not read.
        self._restart_asked = False
        _log.info("restarting", workers=self._count)
        report_reloading()
        for done in range(self._count):
            replaced = self._replace_one() if self._overlap else self._replace_stopping_first()
            if self._stops:
                return
            if not replaced:
                _log.error("restart_failed", replaced=done, workers=self._count)
                return
        _log.info("restarted", workers=self._count)

    def _replace_one(self) -> bool:
        """The oldest worker leaves once a new one serves. If no new one does, the old one stays."""
        new = self._start_next(Stage.SERVING)
        if new is None:
            return False
        old = self._workers.pop(0)
        self._workers.append(new)
        self._retire(old)
        return True

    def _replace_stopping_first(self) -> bool:
        """For a store that takes one node at a time: clients wait in the accept queue meanwhile."""
        new = self._start_next(Stage.PREPARED)
        if new is None:
            return False
        old = self._workers.pop()
        self._workers.append(new)
        self._retire(old, finish=True)
        if self._in_transition:  # A second stop came while the old worker was still running.
            return False
        new.go()
        return self._wait_for(new, Stage.SERVING, finish=True)

    def _start_next(self, stage: Stage) -> Worker | None:
        """Start a worker that will replace another. None if it does not reach the stage."""
        new = self._start(go=stage is Stage.SERVING)
        self._in_transition = [new]
        if self._wait_for(new, stage):
            return new
        if not self._stops:
            self._end([new])
            self._in_transition = []
        return None

    def _retire(self, worker: Worker, *, finish: bool = False) -> None:
        self._in_transition = [worker]
        worker.leave()
        give_up_at = time.monotonic() + _GRACE_S
        while worker.process.poll() is None and time.monotonic() < give_up_at:
            if self._stopped(finish=finish):
                return
            time.sleep(POLL_INTERVAL_S)
            self._replace_dead()
        _wait_for(worker, give_up_at)
        self._merge_metrics(worker)
        self._in_transition = []

    # Stopping

    def end_all(self) -> None:
        """End the workers. The ports stay open for another process that serves them."""
        self._end([*self._workers, *self._in_transition])
        self._workers = self._in_transition = []

    def _end_service(self) -> None:
        """Stop for good: no process will serve the ports.

        This process closes its sockets first. The workers empty the accept queues before they close theirs.
        So the kernel refuses new connections once the last worker has stopped accepting, and resets none.
        """
        report_stopping()
        workers = [*self._workers, *self._in_transition]
        if self._stops[:1] == [signal.SIGTERM]:  # Not for Ctrl+C: there is no load balancer to inform.
            self._drain(workers)
        self._ports.ignore_new_connections()
        for worker in workers:
            worker.stop()
        self._ports.close()
        self._wait_for_end(workers)
        self._workers = self._in_transition = []

    def _drain(self, workers: list[Worker]) -> None:
        ends_at = time.monotonic() + self._drain_s
        if self._drain_s:
            for worker in workers:
                worker.drain()
        while time.monotonic() < ends_at and len(self._stops) == 1:
            time.sleep(min(POLL_INTERVAL_S, max(0.0, ends_at - time.monotonic())))

    def _end(self, workers: list[Worker]) -> None:
        for worker in workers:
            worker.stop()
        self._wait_for_end(workers)

    def _wait_for_end(self, workers: list[Worker]) -> None:
        give_up_at = time.monotonic() + _GRACE_S
        for worker in workers:
            _wait_for(worker, give_up_at)
            self._merge_metrics(worker)

    def _merge_metrics(self, worker: Worker) -> None:
        if self._metrics is not None:
            merge_ended_worker(self._metrics, worker.process.pid)


def _wait_for(worker: Worker, give_up_at: float) -> None:
    if not worker.wait(give_up_at):
        _log.error("worker_killed", pid=worker.process.pid)
