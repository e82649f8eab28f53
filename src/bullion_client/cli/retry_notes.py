"""Tells a person who waits that a call is being retried; a script is told how it ended, and nothing else."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bullion_client import BullionError
from bullion_client.cli.session import Session

_LOG = logging.getLogger("bullion_client")


class _Notes(logging.Handler):
    """Shows the first retry that the library logs, and its warnings."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._told = False

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self._session.note(record.getMessage())
            return
        reason = record.args[-1] if isinstance(record.args, tuple) and record.args else None
        if isinstance(reason, BullionError) and not self._told:
            self._told = True
            limit = f"Trying again for up to {self._session.deadline_s:g} s (--deadline)."
            self._session.note(f"{limit} So far: {reason}")


@contextmanager
def retry_notes(session: Session) -> Iterator[None]:
    """While a command runs at a terminal, show there that it retries."""
    if session.as_json or not sys.stderr.isatty():
        yield
        return
    notes, level = _Notes(session), _LOG.level
    _LOG.addHandler(notes)
    _LOG.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        _LOG.removeHandler(notes)
        _LOG.setLevel(level)
