"""Progress of a long command: one line on a terminal, nothing anywhere else."""

import sys
import time
from typing import Self, TextIO

_EVERY_S = 0.2


class ProgressLine:
    """Call it with the amount done and the total. As a context manager it removes the line at the end."""

    def __init__(self, label: str, unit: str, stream: TextIO | None = None) -> None:
        self._label = label
        self._unit = unit
        self._stream = stream or sys.stderr
        self._shows = self._stream.isatty()
        self._next_at = 0.0

    def __call__(self, done: int, of: int) -> None:
        if not self._shows or (done < of and time.monotonic() < self._next_at):
            return
        self._next_at = time.monotonic() + _EVERY_S
        percent = 100 * done // of if of else 100
        self._stream.write(f"\r\x1b[K{self._label}: {done:,} of {of:,} {self._unit} ({percent} %)")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shows:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
