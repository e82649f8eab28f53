"""One node in this very process. To restart it, a worker takes its place, and it watches over that."""

import asyncio
import signal

import structlog

from bullion.logs import end_logs
from bullion.serve import Ports, Serving, block_signals, run_node
from bullion.settings import Settings
from bullion.supervisor import report_reloading, report_serving, report_stopping

from .terminal import Terminal
from .watch import Workers

_log = structlog.get_logger("bullion")


class Alone:
    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._settings = settings
        self._ports = ports
        self._node_ports = ports.again()
        self._terminal = Terminal()
        self._watch = Workers(settings, ports)
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
                return self._watch.run(handed_over=True)
        finally:
            self._watch.clean_up()
        end_logs()
        return 0

    def _prepare(self) -> bool:
        block_signals()  # This thread may outlive the loop, and with it who would hear them.
        # Where the store takes one node at a time, the new one can only come after this one.
        return self._watch.start_all() if self._settings.shared else self._watch.prepare()

    async def _on_ready(self, _serving: Serving) -> None:
        self._ports.log_listening()

    def _on_stop(self) -> None:
        """Our own copies of the sockets must not keep the ports open while the node ends."""
        report_stopping()
        self._node_ports.ignore_new_connections()
        self._watch.stop(signal.SIGTERM)
        if self._handing_over is None:  # Otherwise the thread that starts a worker may still use them.
            self._ports.close()

    def _on_hangup(self, serving: Serving) -> None:
        if self._terminal.gone():
            serving.stop()
        elif serving.stopping:
            return
        elif self._handing_over is None:
            self._handing_over = asyncio.create_task(self._hand_over(serving))
        else:
            # Once more, when the worker is there: it may have read the settings before they were changed.
            self._watch.restart()

    async def _hand_over(self, serving: Serving) -> None:
        _log.info("restarting", workers=1)
        report_reloading()
        try:
            able = await asyncio.to_thread(self._prepare)  # It waits, and calls go on meanwhile.
        except asyncio.CancelledError:
            self._watch.stop(signal.SIGTERM)  # We have ended, and so does the thread.
            raise
        if serving.stopping:
            await asyncio.to_thread(self._watch.end_all)
            self._ports.close()
        elif able:
            self._handed_over = True
            self._send_signals_to_watcher()
            serving.leave()
        else:
            _log.error("restart_failed", replaced=0, workers=1)
            report_serving()
            self._handing_over = None

    def _send_signals_to_watcher(self) -> None:
        """The node leaves, and a stop must not end with it."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._watch.stop, number)
        loop.add_signal_handler(signal.SIGHUP, self._watch.hang_up)
