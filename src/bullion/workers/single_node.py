"""One node in this process. At a restart it hands its ports to a worker, and then supervises that worker."""

import asyncio
import signal

import structlog

from bullion.logs import end_logs
from bullion.serve import Ports, Serving, block_signals, run_node
from bullion.settings import Settings
from bullion.supervisor import report_reloading, report_serving, report_stopping

from .terminal import Terminal
from .worker_pool import WorkerPool

_log = structlog.get_logger("bullion")


class SingleNode:
    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._settings = settings
        self._ports = ports
        self._node_ports = ports.duplicate()
        self._terminal = Terminal()
        self._pool = WorkerPool(settings, ports)
        self._handing_over: asyncio.Task[None] | None = None
        self._handed_over = False

    def run(self) -> int:
        """Serve until SIGTERM or SIGINT; SIGHUP restarts it."""
        try:
            run_node(
                self._settings,
                self._node_ports,
                self._on_ready,
                may_migrate=True,
                on_hangup=self._on_hangup,
                on_stop=self._on_stop,
            )
            if self._handed_over:
                return self._pool.run(handed_over=True)
        finally:
            self._pool.clean_up()
        end_logs()
        return 0

    def _prepare(self) -> bool:
        block_signals()  # This thread may outlive the event loop, which handles the signals.
        # If the store takes one node at a time, the new node can only open it after this one has closed it.
        return self._pool.start_successors() if self._settings.shared else self._pool.prepare()

    async def _on_ready(self, _serving: Serving) -> None:
        self._ports.log_listening()

    def _on_stop(self) -> None:
        """Close this process's copies of the sockets: they would keep the ports open while the node ends."""
        report_stopping()
        self._node_ports.ignore_new_connections()
        self._pool.stop(signal.SIGTERM)
        if self._handing_over is None:  # Otherwise the thread that starts a worker may still use them.
            self._ports.close()

    def _on_hangup(self, serving: Serving) -> None:
        if self._terminal.closed():
            serving.stop()
        elif serving.stopping:
            return
        elif self._handing_over is None:
            self._handing_over = asyncio.create_task(self._hand_over(serving))
        else:
            # Restart again once the worker runs: it may have read the settings before they were changed.
            self._pool.restart()

    async def _hand_over(self, serving: Serving) -> None:
        _log.info("restarting", workers=1)
        report_reloading()
        try:
            ready = await asyncio.to_thread(self._prepare)  # In a thread: calls are served meanwhile.
        except asyncio.CancelledError:
            self._pool.stop(signal.SIGTERM)  # This process ends, so the thread has to end too.
            raise
        except (OSError, RuntimeError) as error:  # The machine has no thread, memory or descriptor for it.
            _log.error("worker_not_ready", error=repr(error))
            ready = False
        if serving.stopping:
            await asyncio.to_thread(self._pool.end_all)
            self._ports.close()
        elif ready:
            self._handed_over = True
            self._send_signals_to_pool()
            serving.leave()
        else:
            _log.error("restart_failed", replaced=0, workers=1)
            report_serving()
            self._handing_over = None

    def _send_signals_to_pool(self) -> None:
        """From now on a stop has to reach the worker, not the node that leaves."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._pool.stop, number)
        loop.add_signal_handler(signal.SIGHUP, self._pool.handle_sighup)
