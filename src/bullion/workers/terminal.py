"""Tells apart the two meanings of SIGHUP: a restart is requested, or the terminal was closed."""

import sys


class Terminal:
    """The terminal that the process was started from, if any."""

    def __init__(self) -> None:
        self._started_at_terminal = _at_terminal()

    def closed(self) -> bool:
        return self._started_at_terminal and not _at_terminal()


def _at_terminal() -> bool:
    # isatty is false for a terminal that has hung up.
    return any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
