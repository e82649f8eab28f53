"""Logs: one JSON object per line on standard error, or plain text at a terminal.

A separate thread writes them, so that calls never wait for a slow reader of standard error. Records that do
not fit into the queue are dropped.
"""

import atexit
import logging
import logging.handlers
import os
import queue
import sys
import time

import structlog

_WAITING_MAX = 10_000
_FLUSH_S = 2.0

_waiting: queue.Queue[logging.LogRecord] = queue.Queue(_WAITING_MAX)


class _LogQueue(logging.handlers.QueueHandler):
    """Queues a record as it is; the writing thread formats it."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """The queue is full: drop the record."""


def set_up_logs(*, for_people: bool, quiet: bool = False) -> None:
    """`quiet` is for commands: only warnings and errors are logged, without the queue."""
    shared: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.types.Processor = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=12)
        if for_people
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    written = logging.StreamHandler(sys.stderr)
    written.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    if quiet:
        root.handlers = [written]
        root.setLevel(logging.WARNING)
    else:
        logging.handlers.QueueListener(_waiting, written).start()
        atexit.register(flush_logs)
        root.handlers = [_LogQueue(_waiting)]
        root.setLevel(logging.INFO)
    # We log start and stop ourselves, once, with both ports.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


def flush_logs() -> None:
    """Wait a moment for the thread to write the rest. Give up if nobody reads standard error."""
    give_up_at = time.monotonic() + _FLUSH_S
    while not _waiting.empty() and time.monotonic() < give_up_at:
        time.sleep(0.01)
    time.sleep(0.02)  # The last record has left the queue and is being written.


def end_logs() -> None:
    """Call at the end of a serving process: Python would wait forever for a log that nobody reads."""
    flush_logs()
    if not _waiting.empty():
        os._exit(0)
