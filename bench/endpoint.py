"""Where a server that is measured listens, and which processes it is."""

from typing import NamedTuple


class Endpoint(NamedTuple):
    port: int
    pids: tuple[int, ...]
    """Of the processes that answer: one for each worker."""
