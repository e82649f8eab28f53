"""Keeps a number of workers behind the same two ports.

The watcher binds the ports and hands them down. There is one socket for each port, which all of them share,
and so one queue of those who wait at it: whoever was not yet taken when a worker ends is taken by another.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import structlog

from bullion.serve import Ports, unblock_signals
from bullion.settings import Settings
from bullion.web.metrics import SHARED_FOLDER

from .terminal import Terminal
from .worker import Worker

_LOOK_EVERY_S = 0.05
_START_S = 30
_GRACE_S = 25
_CRASH_PAUSE_S = 1.0
"""So that a worker that cannot start does not keep the machine busy with starting it."""

_log = structlog.get_logger("bullion")


class Workers:
    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._count = settings.workers
        self._overlap = settings.shared
        self._drain_s = settings.drain_s
        self._ports = ports
        self._workers: list[Worker] = []
        self._passing: list[Worker] = []  # on their way in or out
        self._restart_asked = False
        self._stops: list[int] = []
        self._terminal = Terminal()
        self._metrics: str | None = None

    # What it is told

    def stop(self, number: int, _frame: object = None) -> None:
        self._stops.append(number)

    def restart(self) -> None:
        self._restart_asked = True

    def _hang_up(self, _number: int, _frame: object) -> None:
        if self._terminal.gone():
            self.stop(signal.SIGINT)
        else:
            self.restart()

    # What it does

    def run(self) -> int:
        """Start them, keep their number, replace them all on SIGHUP, stop them on SIGTERM or SIGINT."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)
        signal.signal(signal.SIGHUP, self._hang_up)
        unblock_signals()
        try:
            if not self._workers:
                if not self.start_all():
                    return 0 if self._stops else 2
                self._ports.log_listening()
            while not self._stops:
                time.sleep(_LOOK_EVERY_S)
                self._replace_dead()
                if self._restart_asked:
                    self._restart_all()
            return 0
        finally:
            self.end_all()
            self.clean_up()

    def start_all(self) -> bool:
        """Start as many as there should be. If one does not become ready, none stays."""
        self._workers = [self._start() for _ in range(self._count)]
        if all(self._wait_ready(worker) for worker in self._workers):
            return True
        self.end_all()
        return False

    def clean_up(self) -> None:
        if self._metrics is not None:
            shutil.rmtree(self._metrics, ignore_errors=True)

    def _start(self) -> Worker:
        if self._metrics is None:
            # Fresh for each watcher: counts of workers long gone would be added to those of the new ones.
            self._metrics = tempfile.mkdtemp(prefix="bullion-metrics-")
        return Worker.start(self._ports, os.environ | {SHARED_FOLDER: self._metrics})

    def _wait_ready(self, worker: Worker) -> bool:
        give_up_at = time.monotonic() + _START_S
        while not self._stops:
            ready = worker.ready(_LOOK_EVERY_S)
            if ready is not None:
                return ready
            if time.monotonic() > give_up_at:
                _log.error("worker_not_ready", pid=worker.process.pid, waited_s=_START_S)
                break
        return False

    def _replace_dead(self) -> None:
        for place, worker in enumerate(self._workers):
            code = worker.process.poll()
            if code is None or self._stops:
                continue
            _log.error("worker_ended", pid=worker.process.pid, code=code)
            worker.line.close()
            if time.monotonic() - worker.started_at < _CRASH_PAUSE_S:
                time.sleep(_CRASH_PAUSE_S)
            self._workers[place] = self._start()

    # One by one

    def _restart_all(self) -> None:
        # Cleared first: who asks while this goes on may mean settings that those before have not read.
        self._restart_asked = False
        _log.info("restarting", workers=self._count)
        for done in range(self._count):
            replaced = self._replace_one() if self._overlap else self._replace_in_turn()
            if self._stops:
                return
            if not replaced:
                _log.error("restart_given_up", replaced=done, workers=self._count)
                return
        _log.info("restarted", workers=self._count)

    def _replace_one(self) -> bool:
        """The oldest leaves once a new one answers. If that never does, the old one stays."""
        new = self._start()
        self._passing = [new]
        if not self._wait_ready(new):
            if not self._stops:
                self._end([new], signal.SIGTERM)
                self._passing = []
            return False
        old = self._workers.pop(0)
        self._workers.append(new)
        self._see_off(old)
        return True

    def _replace_in_turn(self) -> bool:
        """Where the store takes one node at a time: callers wait at the port until the new one answers."""
        if not settings_can_be_read():
            return False
        self._see_off(self._workers.pop())
        if self._stops:
            return False
        new = self._start()
        self._workers.append(new)
        return self._wait_ready(new)

    def _see_off(self, worker: Worker) -> None:
        self._passing = [worker]
        worker.leave()
        give_up_at = time.monotonic() + _GRACE_S
        while worker.process.poll() is None and time.monotonic() < give_up_at:
            if self._stops:
                return
            time.sleep(_LOOK_EVERY_S)
            self._replace_dead()
        if worker.process.poll() is None:
            _log.error("worker_killed", pid=worker.process.pid)
            worker.process.kill()
        worker.process.wait()
        worker.line.close()
        self._passing = []

    # The end

    def end_all(self) -> None:
        # As we are stopped ourselves: with a pause in which load balancers look elsewhere, or at once.
        self._end([*self._workers, *self._passing], self._stops[0] if self._stops else signal.SIGTERM)
        self._workers = self._passing = []

    def _end(self, workers: list[Worker], number: int) -> None:
        for worker in workers:
            worker.signal(number)
        hurried = len(self._stops)
        give_up_at = time.monotonic() + _GRACE_S + self._drain_s
        for worker in workers:
            while worker.process.poll() is None and time.monotonic() < give_up_at:
                time.sleep(_LOOK_EVERY_S)
                if len(self._stops) > max(1, hurried):
                    hurried = len(self._stops)
                    for each in workers:
                        each.signal(signal.SIGINT)
            if worker.process.poll() is None:
                _log.error("worker_killed", pid=worker.process.pid)
                worker.process.kill()
                worker.process.wait()
            worker.line.close()


def settings_can_be_read() -> bool:
    """By the code as it is now. What is wrong with them is told on standard error, as at a start."""
    checked = subprocess.run([sys.executable, "-m", "bullion", "check-settings"], check=False)
    return checked.returncode == 0
