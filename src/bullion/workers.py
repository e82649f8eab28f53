"""Several worker processes behind the same two ports, watched over by the process that started them.

The watcher binds the ports and hands them down, so no connection is lost when a worker ends: those who wait
in the queue of the port are taken by another.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import structlog

from bullion.serve import Ports
from bullion.settings import Settings
from bullion.web.metrics import SHARED_FOLDER

_LOOK_EVERY_S = 0.1
_START_S = 30
_GRACE_S = 25
_CRASH_PAUSE_S = 1.0
"""So that a worker that cannot start does not keep the machine busy with starting it."""

_log = structlog.get_logger("bullion")


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    ready: socket.socket
    started_at: float = field(default_factory=time.monotonic)


class Workers:
    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._count = settings.workers
        self._ports = ports
        self._workers: list[_Worker] = []
        self._stopping = False
        # Fresh for each start: counts of workers long gone would be added to those of the new ones.
        self._metrics = tempfile.mkdtemp(prefix="bullion-metrics-")

    def run(self) -> int:
        """Start them, keep their number, and stop them on SIGTERM or SIGINT."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        try:
            self._workers = [self._start() for _ in range(self._count)]
            if not all(self._wait_ready(worker) for worker in self._workers):
                return 2
            self._ports.log_listening()
            while not self._stopping:
                time.sleep(_LOOK_EVERY_S)
                self._replace_dead()
            return 0
        finally:
            self._end_all()
            shutil.rmtree(self._metrics, ignore_errors=True)

    def _stop(self, _number: int, _frame: object) -> None:
        self._stopping = True

    def _start(self) -> _Worker:
        ours, theirs = socket.socketpair()
        descriptors = [self._ports.api.fileno(), self._ports.desk.fileno(), theirs.fileno()]
        process = subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", "bullion", "worker", *map(str, descriptors)],
            pass_fds=descriptors,
            env=os.environ | {SHARED_FOLDER: self._metrics},
        )
        theirs.close()
        return _Worker(process, ours)

    def _wait_ready(self, worker: _Worker) -> bool:
        """A worker says so by one byte; the end of the line means that it ended before."""
        worker.ready.settimeout(_START_S)
        try:
            return worker.ready.recv(1) == b"r"
        except TimeoutError:
            _log.error("worker_not_ready", pid=worker.process.pid, waited_s=_START_S)
            return False

    def _replace_dead(self) -> None:
        for place, worker in enumerate(self._workers):
            code = worker.process.poll()
            if code is None or self._stopping:
                continue
            _log.error("worker_ended", pid=worker.process.pid, code=code)
            worker.ready.close()
            if time.monotonic() - worker.started_at < _CRASH_PAUSE_S:
                time.sleep(_CRASH_PAUSE_S)
            self._workers[place] = self._start()

    def _end_all(self) -> None:
        for worker in self._workers:
            if worker.process.poll() is None:
                worker.process.terminate()
        give_up_at = time.monotonic() + _GRACE_S
        for worker in self._workers:
            try:
                worker.process.wait(max(0.0, give_up_at - time.monotonic()))
            except subprocess.TimeoutExpired:
                _log.error("worker_killed", pid=worker.process.pid)
                worker.process.kill()
                worker.process.wait()
            worker.ready.close()
