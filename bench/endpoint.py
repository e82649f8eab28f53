"""Where a server that is measured listens, and which process it is."""

from typing import NamedTuple


class Endpoint(NamedTuple):
    port: int
    pid: int
