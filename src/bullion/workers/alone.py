"""One node in this very process. To restart it, a worker takes its place, and it watches over that."""

import asyncio
import signal

import structlog

from bullion.logs import end_logs
from bullion.serve import Ports, Serving, block_signals, run_node
from bullion.settings import Settings

from .terminal import Terminal
from .watch import Workers, settings_can_be_read

_log = structlog.get_logger("bullion")


class Alone:
    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._settings = settings
        self._ports = ports
        self._terminal = Terminal()
        self._watch = Workers(settings, ports)
        self._handing_over: asyncio.Task[None] | None = None
        self._handed_over = False

    def run(self) -> int:
        """Serve until SIGTERM or SIGINT; SIGHUP restarts it."""
        try:
            run_node(self._settings, self._ports.again(), self._on_ready, self._on_hangup)
            if self._handed_over:
                return self._watch.run()
        finally:
            self._watch.clean_up()
        end_logs()
        return 0

    def _prepare(self) -> bool:
        block_signals()  # This thread may outlive the loop, and with it who would hear them.
        # Where the store takes one node at a time, the new one can only come after this one.
        return self._watch.start_all() if self._settings.shared else settings_can_be_read()

    async def _on_ready(self, _serving: Serving) -> None:
        self._ports.log_listening()

    def _on_hangup(self, serving: Serving) -> None:
        if self._terminal.gone():
            serving.stop()
        elif self._handing_over is None:
            self._handing_over = asyncio.create_task(self._hand_over(serving))
        else:
            # Once more, when the worker is there: it may have read the settings before they were changed.
            self._watch.restart()

    async def _hand_over(self, serving: Serving) -> None:
        _log.info("restarting", workers=1)
        try:
            able = await asyncio.to_thread(self._prepare)  # It waits, and calls go on meanwhile.
        except asyncio.CancelledError:
            self._watch.stop(signal.SIGTERM)  # We have ended, and so does the thread.
            raise
        if serving.stopping:
            await asyncio.to_thread(self._watch.end_all)
        elif able:
            self._handed_over = True
            serving.leave()
        else:
            _log.error("restart_given_up", replaced=0, workers=1)
            self._handing_over = None
