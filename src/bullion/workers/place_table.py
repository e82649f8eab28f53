"""Memory that the workers of a machine share: how many places there are, and which of them are served now."""

import mmap
import os
import sys
import tempfile
import time

PLACES_MAX = 256
"""As many as BULLION_WORKERS allows."""
_CELL_BYTES = 8
_SIZE = _CELL_BYTES * (1 + 2 * PLACES_MAX)
NOBODY = 0
SERVED_NS = 2_000_000_000
"""How long a worker is taken to serve after it last said so. One that hangs is not sent anything then."""


class PlaceTable:
    """Each number is written and read as a whole. Each is written by one process at a time: the worker of the
    place, or the parent once that worker has ended."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._cells = memoryview(mmap.mmap(descriptor, _SIZE)).cast("Q")

    @classmethod
    def make(cls) -> "PlaceTable":
        if sys.platform == "linux":
            descriptor = os.memfd_create("places")
        else:
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        os.truncate(descriptor, _SIZE)
        return cls(descriptor)

    @property
    def count(self) -> int:
        """The number of workers that accounts are spread over."""
        return self._cells[0]

    @count.setter
    def count(self, count: int) -> None:
        self._cells[0] = count

    def worker(self, place: int) -> int:
        """The process that serves the place, or `NOBODY`."""
        return self._cells[1 + 2 * place]

    def is_served(self, place: int) -> bool:
        return self._cells[2 + 2 * place] > time.monotonic_ns()

    def serve(self, place: int, pid: int) -> None:
        """To be repeated before `SERVED_NS` have passed."""
        self._cells[1 + 2 * place] = pid
        self._cells[2 + 2 * place] = time.monotonic_ns() + SERVED_NS

    def leave(self, place: int, pid: int) -> None:
        """No-op if another process serves the place by now."""
        if self.worker(place) == pid:
            self._cells[2 + 2 * place] = NOBODY
            self._cells[1 + 2 * place] = NOBODY
