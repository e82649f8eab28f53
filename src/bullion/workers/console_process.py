"""The demo's console, in a process of its own, so that no page can delay orders on the node's event loop.

Only for the demo. In a deployment `bullion console` is a service of its own.
"""

import os
import threading
import time
from pathlib import Path

import structlog

from bullion.serve import Ports, Serving

from .worker import POLL_INTERVAL_S, Stage, Worker

_GRACE_S = 10
_CRASH_PAUSE_S = 1.0
"""A pause before a restart, so that a console that cannot start does not keep the machine busy."""

_log = structlog.get_logger("bullion")


class ConsoleProcess:
    """Starts the console, restarts it when it ends, and stops it with the node, in a thread.

    The port stays bound here: a request that comes while no console runs waits for the next one.
    """

    def __init__(self, ports: Ports, folder: Path) -> None:
        """`folder`: where the demo's data is."""
        if ports.console is None:
            raise ValueError("none of the ports is for a console")
        self._bound = ports.console
        self._command = ["demo-console", str(folder), ports.api_url]
        self._started = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, serving: Serving) -> None:
        """Call it once the store exists."""
        self._thread = threading.Thread(target=self._run, args=(serving,), name="console")
        self._thread.start()

    def wait_started(self, within_s: float) -> None:
        """Wait until the console serves for the first time, up to that time."""
        self._started.wait(within_s)

    def stop(self) -> None:
        """Stop the console, and return when it has ended."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self._bound.close()

    def _run(self, serving: Serving) -> None:
        while not self._must_end(serving):
            started_at = time.monotonic()
            worker = Worker.start(self._command, [self._bound], os.environ, new_session=True)
            self._wait_for_end(worker, serving)
            if self._must_end(serving):
                self._end(worker)
                return
            worker.channel.close()
            _log.error("console_ended", pid=worker.process.pid, code=worker.process.returncode)
            self._stopping.wait(max(0.0, started_at + _CRASH_PAUSE_S - time.monotonic()))

    def _wait_for_end(self, worker: Worker, serving: Serving) -> None:
        """Return when the console has ended, or must be stopped."""
        stage = Stage.STARTING
        while worker.process.poll() is None and not self._must_end(serving):
            if stage is Stage.STARTING:
                stage = worker.stage(POLL_INTERVAL_S)
                if stage is Stage.SERVING:
                    _log.info("console_started", pid=worker.process.pid)
                    self._started.set()
            else:
                self._stopping.wait(POLL_INTERVAL_S)

    def _must_end(self, serving: Serving) -> bool:
        return self._stopping.is_set() or serving.stopping

    def _end(self, worker: Worker) -> None:
        # In this order: a new request is refused, instead of waiting for a console that will not start.
        self._bound.close()
        worker.channel.close()
        if not worker.wait(time.monotonic() + _GRACE_S):
            _log.error("console_killed", pid=worker.process.pid)
