"""The console beside a node, in a process of its own: no page can keep the node's loop from its orders.

For the demo, which is one command. Elsewhere `bullion console` is started and stopped by itself.
"""

import os
import threading
import time

import structlog

from bullion.serve import Ports, Serving

from .worker import LOOK_EVERY_S, Stage, Worker

_GRACE_S = 10
_CRASH_PAUSE_S = 1.0
"""So that a console that cannot start does not keep the machine busy with starting it."""

_log = structlog.get_logger("bullion")


class ConsoleWatch:
    """Starts the console, starts it again when it ends, and stops it with the node.

    A thread does that. The port stays bound here: who asks while there is no console waits for the next one.
    """

    def __init__(self, ports: Ports) -> None:
        if ports.console is None:
            raise ValueError("none of the ports is for a console")
        self._bound = ports.console
        self._api_url = ports.api_url
        self._started = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, serving: Serving) -> None:
        """Once the store is there."""
        self._thread = threading.Thread(target=self._keep, args=(serving,), name="console")
        self._thread.start()

    def wait_started(self, within_s: float) -> None:
        """Return when the console answers for the first time, or not so soon."""
        self._started.wait(within_s)

    def stop(self) -> None:
        """Return when it has ended."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self._bound.close()

    def _keep(self, serving: Serving) -> None:
        while not self._ends(serving):
            started_at = time.monotonic()
            worker = Worker.start(["demo-console", self._api_url], [self._bound], os.environ, apart=True)
            self._watch(worker, serving)
            if self._ends(serving):
                self._end(worker)
                return
            worker.line.close()
            _log.error("console_ended", pid=worker.process.pid, code=worker.process.returncode)
            self._stopping.wait(max(0.0, started_at + _CRASH_PAUSE_S - time.monotonic()))

    def _watch(self, worker: Worker, serving: Serving) -> None:
        """Return when it has ended, or has to."""
        stage = Stage.STARTING
        while worker.process.poll() is None and not self._ends(serving):
            if stage is Stage.STARTING:
                stage = worker.stage(LOOK_EVERY_S)
                if stage is Stage.SERVING:
                    _log.info("console_started", pid=worker.process.pid)
                    self._started.set()
            else:
                self._stopping.wait(LOOK_EVERY_S)

    def _ends(self, serving: Serving) -> bool:
        return self._stopping.is_set() or serving.stopping

    def _end(self, worker: Worker) -> None:
        # In this order: whoever comes now is refused, and does not wait for a console that will not come.
        self._bound.close()
        worker.line.close()
        if not worker.wait(time.monotonic() + _GRACE_S):
            _log.error("console_killed", pid=worker.process.pid)
