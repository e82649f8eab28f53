"""Logs: one JSON object a line on standard error, or plain words for a person at a terminal.

A thread of its own writes them: whoever reads standard error may be slow or have stopped, and a call must
not wait for that. What cannot be kept for it is dropped.
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


class _Post(logging.handlers.QueueHandler):
    """Hands a record over as it is; the thread that writes it also puts it into words."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """The queue is full. There is nobody left to tell."""


def set_up_logs(*, for_people: bool, quiet: bool = False) -> None:
    """`quiet` is for commands, whose answer is what they print: only what went wrong is logged, at once."""
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
        root.handlers = [_Post(_waiting)]
        root.setLevel(logging.INFO)
    # The server's own chatter about starting and stopping: we say that ourselves, once, with both ports.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


def flush_logs() -> None:
    """Give the thread a moment to write what is left; if nobody reads it, do without."""
    give_up_at = time.monotonic() + _FLUSH_S
    while not _waiting.empty() and time.monotonic() < give_up_at:
        time.sleep(0.01)
    time.sleep(0.02)  # The last one has left the queue, and is being written.


def end_logs() -> None:
    """At the end of a serving process. With a log that nobody reads, Python would wait for it for ever."""
    flush_logs()
    if not _waiting.empty():
        os._exit(0)
