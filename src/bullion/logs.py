"""Logs: one JSON object per line on standard error, or plain text at a terminal.

A separate thread writes them, so that calls never wait for a slow reader of standard error. Records that do
not fit into the queue are dropped.
"""

import atexit
import logging
import logging.handlers
import os
import queue
import signal
import sys
import time
from typing import IO

import structlog

from bullion.request_ids import log_fields

_WAITING_MAX = 10_000
_FLUSH_S = 2.0
_OTHERS = ("asyncio", "httpcore", "httpx", "opentelemetry", "urllib3", "uvicorn.error", "websockets")
"""Loggers of packages. Their debug lines are not for operators, and some of them contain headers."""
LEVEL_SIGNALS = (signal.SIGUSR1, signal.SIGUSR2)
"""Log everything, and log again as BULLION_LOG_LEVEL says."""
_PRIORITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6))
"""The priorities of syslog(3). 7 is debug."""

_log = structlog.get_logger("bullion")


class _LogQueue(logging.handlers.QueueHandler):
    """Queues a record as it is; the writing thread formats it."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        record.__dict__["request_ids"] = log_fields()  # The writing thread works for no call.
        return record

    def enqueue(self, record: logging.LogRecord) -> None:
        if _waiting.qsize() < _WAITING_MAX:
            _waiting.put(record)


# Unlike `Queue`, it may be used by a signal handler that interrupts another use of it.
_waiting: "queue.SimpleQueue[logging.LogRecord]" = queue.SimpleQueue()


class _JournalFormatter(structlog.stdlib.ProcessorFormatter):
    """Puts the priority before each line, as sd-daemon(3) describes."""

    def format(self, record: logging.LogRecord) -> str:
        priority = next((number for level, number in _PRIORITIES if record.levelno >= level), 7)
        return "\n".join(f"<{priority}>{line}" for line in super().format(record).split("\n"))


class _Level:
    configured = logging.INFO
    debug = False
    """Whether SIGUSR1 asked for everything."""


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
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    formatter = _JournalFormatter if _is_journal(sys.stderr) else structlog.stdlib.ProcessorFormatter
    written = logging.StreamHandler(sys.stderr)
    written.setFormatter(
        formatter(
            foreign_pre_chain=shared,
            processors=[
                _add_request_ids,
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    # We log start and stop ourselves, once, with both ports.
    for name in _OTHERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    if quiet:
        root.handlers = [written]
        root.setLevel(logging.WARNING)
        return
    logging.handlers.QueueListener(_waiting, written).start()
    atexit.register(flush_logs)
    root.handlers = [_LogQueue(_waiting)]
    root.setLevel(logging.INFO)
    for number in LEVEL_SIGNALS:
        signal.signal(number, _on_level_signal)
    # Whoever started this process may have blocked them until now, because they would have ended it.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, LEVEL_SIGNALS)


def set_log_level(name: str) -> None:
    """Log from this level on: debug, info, warning or error."""
    _Level.configured = logging.getLevelNamesMapping()[name.upper()]
    if not _Level.debug:
        logging.getLogger().setLevel(_Level.configured)


def is_debug_forced() -> bool:
    return _Level.debug


def _on_level_signal(number: int, _frame: object) -> None:
    root = logging.getLogger()
    _Level.debug = number == signal.SIGUSR1
    level = logging.DEBUG if _Level.debug else _Level.configured
    root.setLevel(logging.DEBUG)  # So that the next line is written, whatever the level is.
    _log.info("log_level_changed", to=logging.getLevelName(level).lower(), pid=os.getpid())
    root.setLevel(level)


def _is_journal(stream: IO[str]) -> bool:
    """Whether systemd connected this stream with its journal, as systemd.exec(5) describes."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):  # It has no descriptor, or is closed.
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"


def _add_request_ids(
    _logger: object, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    """Unless the line names them itself."""
    return {**event["_record"].__dict__.get("request_ids", {}), **event}


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
