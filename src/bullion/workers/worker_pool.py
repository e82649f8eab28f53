"""Keeps a number of workers running on the same two ports.

This process binds the ports and passes the sockets to the workers. All workers share one socket per port, and
so one accept queue: a connection that a worker has not accepted when it ends is accepted by another worker.
Each worker has a place: see `bullion.workers.place`.
"""

import contextlib
import os
import shutil
import signal
import tempfile
import time

import structlog

from bullion.logs import is_debug_forced
from bullion.serve import Ports, unblock_signals
from bullion.settings import Settings, WrongSetting, read_settings
from bullion.supervisor import report_reloading, report_serving, report_stopping
from bullion.web.metrics import SHARED_FOLDER, merge_ended_worker

from .places import Places
from .terminal import Terminal
from .worker import POLL_INTERVAL_S, Stage, Worker

_START_S = 30
_GRACE_S = 25
_CRASH_PAUSE_S = 1.0
"""A pause before a restart, so that a worker that cannot start does not keep the machine busy.

Also before the next try, if the machine had no process, memory or descriptor for a worker.
"""

_log = structlog.get_logger("bullion")


class WorkerPool:
    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._count = settings.workers
        """How many workers there should be. A reload may change it."""
        self._overlap = settings.shared
        self._drain_s = settings.drain_s
        self._ports = ports
        self._places = Places()
        self._workers: list[Worker] = []  # in the order of their places
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
        return self._start_rest([])

    def start_successors(self) -> bool:
        """Start the workers that replace a node: as many as the settings want that they read."""
        first = self._start_first()
        if first is None:
            return False
        self._in_transition = []
        first.go()
        return self._start_rest([first])

    def _start_rest(self, started: list[Worker]) -> bool:
        self._places.spread_over(self._count)
        self._workers = started
        for place in range(len(started), self._count):
            new = self._start(place)
            if new is None:
                break
            self._workers.append(new)
        else:
            if all(self._wait_for(worker, Stage.SERVING) for worker in self._workers):
                return True
        self.end_all()
        return False

    def prepare(self) -> bool:
        """Start a worker that waits until the old node has closed the store; end it if it cannot start."""
        first = self._start(0, go=False)
        if first is None:
            return False
        self._workers = [first]
        if self._wait_for(first, Stage.PREPARED):
            return True
        self.end_all()
        return False

    def clean_up(self) -> None:
        if self._metrics is not None:
            shutil.rmtree(self._metrics, ignore_errors=True)

    def _start(self, place: int, *, go: bool = True) -> Worker | None:
        """None if the machine has no process, memory or descriptor for it now: the other workers go on."""
        try:
            worker = self._start_process(place)
        except OSError as error:
            _log.error("worker_not_ready", error=repr(error))
            return None
        if self._debug:
            worker.signal(signal.SIGUSR1)
        if go:
            worker.go()
        return worker

    def _start_process(self, place: int) -> Worker:
        self._places.grow(self._count)
        if self._metrics is None or not os.path.isdir(self._metrics):  # noqa: PTH112
            # A new folder each time: otherwise counts of workers of an earlier run would be added.
            # A cleaner of temporary files may have removed it.
            self._metrics = tempfile.mkdtemp(prefix="bullion-metrics-")
        ports = [self._ports.api, self._ports.desk]
        given, inherited = self._places.give(place, self._count)
        environ = os.environ | {SHARED_FOLDER: self._metrics} | given
        return Worker.start(["worker"], ports, environ, inherited=inherited)

    def _wait_for(
        self, worker: Worker, stage: Stage, *, finish: bool = False, others_serve: bool = False
    ) -> bool:
        """False if the worker ends before, is too slow, or a stop comes; with `finish`, a second stop.

        `others_serve`: those are replaced meanwhile if they end.
        """
        give_up_at = time.monotonic() + _START_S
        while not self._stopped(finish=finish):
            reached = worker.stage(POLL_INTERVAL_S)
            self._clear_places()
            if others_serve:
                self._replace_dead()
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
            self._log_restarted()
        else:
            _log.error("restart_failed", replaced=0, workers=self._count)

    def _replace_dead(self) -> None:
        for place, worker in enumerate(self._workers):
            code = worker.process.poll()
            if code is None or self._stops:
                continue
            if worker.replace_at is None:
                _log.error("worker_ended", pid=worker.process.pid, code=code)
                worker.channel.close()
                self._forget(worker)
                if time.monotonic() - worker.started_at < _CRASH_PAUSE_S:
                    self._pause(_CRASH_PAUSE_S)
            elif time.monotonic() < worker.replace_at:
                continue
            new = self._start(place)
            if new is None:
                worker.replace_at = time.monotonic() + _CRASH_PAUSE_S
            else:
                self._workers[place] = new

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
        _log.info("restarting", workers=len(self._workers))
        report_reloading()
        replaced, complete = self._replace_all()
        if self._stops:
            return
        if complete:
            self._log_restarted()
            return
        self._count = len(self._workers)
        _log.error("restart_failed", replaced=replaced, workers=self._count)

    def _log_restarted(self) -> None:
        # The new workers could read the settings. A later version may have some that this code does not know.
        with contextlib.suppress(WrongSetting):
            self._drain_s = read_settings(os.environ).drain_s
        _log.info("restarted", workers=self._count)

    def _replace_all(self) -> tuple[int, bool]:
        """How many were replaced, and whether there are now as many as wanted, all of them new."""
        new = self._start_first()
        if new is None:
            return 0, False
        kept = min(self._count, len(self._workers))
        for place in range(kept):
            if new is None:
                new = self._start_next(place, Stage.PREPARED)
            replace = self._replace if self._overlap else self._replace_stopping_first
            if new is None or not replace(place, new):
                return place, False
            new = None
        return kept, self._add_workers() and self._remove_workers()

    def _start_first(self) -> Worker | None:
        """Start and prepare a worker for the first place. Its settings tell how many there should be."""
        first = self._start_next(0, Stage.PREPARED)
        if first is None or not self._overlap or first.count in (None, self._count):
            return first
        # It has the queues of another number of places.
        self._end([first])
        self._in_transition = []
        self._count = first.count or self._count
        return self._start_next(0, Stage.PREPARED)

    def _replace(self, place: int, new: Worker) -> bool:
        """The worker at that place leaves once a new one serves. If no new one does, the old one stays."""
        new.go()
        if not self._reached(new, Stage.SERVING):
            return False
        old, self._workers[place] = self._workers[place], new
        self._retire(old)
        return not self._stops

    def _replace_stopping_first(self, place: int, new: Worker) -> bool:
        """For a store that takes one node at a time: clients wait in the accept queue meanwhile."""
        old, self._workers[place] = self._workers[place], new
        self._retire(old, finish=True)
        if self._in_transition:  # A second stop came while the old worker was still running.
            return False
        new.go()
        return self._wait_for(new, Stage.SERVING, finish=True)

    def _add_workers(self) -> bool:
        while len(self._workers) < self._count:
            new = self._start_next(len(self._workers), Stage.SERVING)
            if new is None:
                return False
            self._workers.append(new)
            self._in_transition = []
            # From now on connections of its accounts are handed over to it.
            self._places.spread_over(len(self._workers))
        return True

    def _remove_workers(self) -> bool:
        while len(self._workers) > self._count:
            old = self._workers.pop()
            self._places.spread_over(len(self._workers))  # First, so that nothing more is sent to it.
            self._retire(old)
            if self._stops:
                return False
            self._places.shrink(len(self._workers))
        return True

    def _start_next(self, place: int, stage: Stage) -> Worker | None:
        """Start a worker for that place. None if it does not reach the stage."""
        new = self._start(place, go=stage is Stage.SERVING)
        if new is None:
            return None
        self._in_transition = [new]
        return new if self._reached(new, stage) else None

    def _reached(self, new: Worker, stage: Stage) -> bool:
        """Wait until it reaches the stage. If it does not, it is ended."""
        if self._wait_for(new, stage, others_serve=True):
            return True
        if not self._stops:
            new.stop()
            self._wait_until_ended(new)
        return False

    def _retire(self, worker: Worker, *, finish: bool = False) -> None:
        self._in_transition = [worker]
        worker.leave()
        self._wait_until_ended(worker, finish=finish)

    def _wait_until_ended(self, worker: Worker, *, finish: bool = False) -> None:
        """A stop ends the wait, with `finish` a second stop. The worker stays in transition then."""
        give_up_at = time.monotonic() + _GRACE_S
        while worker.process.poll() is None and time.monotonic() < give_up_at:
            if self._stopped(finish=finish):
                return
            time.sleep(POLL_INTERVAL_S)
            self._replace_dead()
        _wait_for(worker, give_up_at)
        self._forget(worker)
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
        self._clear_places()
        self._places.shut()
        for worker in workers:
            worker.stop()
        self._ports.close()
        self._wait_for_end(workers)
        self._workers = self._in_transition = []

    def _drain(self, workers: list[Worker]) -> None:
        if self._drain_s:
            for worker in workers:
                worker.drain()
            self._pause(self._drain_s)

    def _pause(self, duration_s: float) -> None:
        """A second stop cuts it short."""
        ends_at = time.monotonic() + duration_s
        while (left_s := ends_at - time.monotonic()) > 0 and not self._stopped(finish=True):
            time.sleep(min(POLL_INTERVAL_S, left_s))
            self._clear_places()

    def _end(self, workers: list[Worker]) -> None:
        for worker in workers:
            worker.stop()
        self._wait_for_end(workers)

    def _wait_for_end(self, workers: list[Worker]) -> None:
        give_up_at = time.monotonic() + _GRACE_S
        for worker in workers:
            _wait_for(worker, give_up_at)
            self._forget(worker)

    def _clear_places(self) -> None:
        """Let nothing be sent to workers that have ended, also while this process waits for another one."""
        for worker in (*self._workers, *self._in_transition):
            if worker.process.poll() is not None:
                self._places.forget(worker.process.pid)

    def _forget(self, worker: Worker) -> None:
        """It has ended."""
        self._places.forget(worker.process.pid)
        if self._metrics is not None:
            # Its own files stay then, and are read on.
            with contextlib.suppress(OSError):
                merge_ended_worker(self._metrics, worker.process.pid)


def _wait_for(worker: Worker, give_up_at: float) -> None:
    if not worker.wait(give_up_at):
        _log.error("worker_killed", pid=worker.process.pid)
