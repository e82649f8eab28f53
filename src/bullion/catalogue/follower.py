"""Keeps the catalogue up to date with the store."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from bullion.follower import Follower

from .catalogue import Catalogue
from .source import ExtraReads, Source

T = TypeVar("T")


class CatalogueFollower(Follower):
    """Reads one at a time, so that an older result never replaces a newer one.

    Each read covers the changes, the callers that are not in memory, and the next page of accounts while
    memory is being filled.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        source: Source,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._keys: Counter[str] = Counter()
        """Those that callers wait for. Every read names them: none may evict them before they are used."""
        self._accounts: Counter[int] = Counter()
        clients = catalogue.clients

        async def read() -> None:
            started_at_ns = monotonic_ns()
            extra = ExtraReads(set(self._keys), set(self._accounts), clients.fill_after)
            catalogue.apply(await source.changes(catalogue.version, extra), started_at_ns, extra)

        async def wait_for_change(timeout_s: float) -> None:
            if clients.fill_after is None:  # Otherwise the next page is read at once.
                await source.wait_for_change(timeout_s)

        super().__init__("catalogue", read, wait_for_change)

    async def look_up(self, key_id: str) -> None:
        """Bring memory up to date, including this key, if it exists. May raise StoreFault."""
        with _waiting_for(key_id, self._keys):
            await self.catch_up()

    async def look_up_account(self, account_id: int) -> None:
        with _waiting_for(account_id, self._accounts):
            await self.catch_up()


@contextmanager
def _waiting_for(name: T, waiting: Counter[T]) -> Iterator[None]:
    waiting[name] += 1
    try:
        yield
    finally:
        waiting[name] -= 1
        if not waiting[name]:
            del waiting[name]
