"""Keeps the catalogue as the store has it."""

import time
from collections.abc import Callable

from bullion.follower import Follower

from .catalogue import Catalogue
from .source import Source


class Keeper(Follower):
    def __init__(
        self,
        catalogue: Catalogue,
        source: Source,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        async def ask() -> None:
            asked_at_ns = monotonic_ns()
            catalogue.apply(await source.changes(catalogue.version), asked_at_ns)

        super().__init__("catalogue", ask, source.changed)
