"""SIGHUP has two meanings: somebody asks for a restart, or the terminal that it was started at is gone."""

import sys


class Terminal:
    """The one that the process was started at, if any."""

    def __init__(self) -> None:
        self._was_there = _at_terminal()

    def gone(self) -> bool:
        return self._was_there and not _at_terminal()


def _at_terminal() -> bool:
    # A terminal that has hung up is none any more.
    return any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
