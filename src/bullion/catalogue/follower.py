"""Keeps the catalogue up to date with the store."""

import time
from collections.abc import Callable

from bullion.follower import Follower

from .catalogue import Catalogue
from .source import ExtraReads, Source


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
        self._keys: set[str] = set()
        self._accounts: set[int] = set()
        clients = catalogue.clients

        async def read() -> None:
            started_at_ns = monotonic_ns()
            extra = ExtraReads(self._keys, self._accounts, clients.fill_after)
            self._keys, self._accounts = set(), set()
            catalogue.apply(await source.changes(catalogue.version, extra), started_at_ns, extra)

        async def wait_for_change(timeout_s: float) -> None:
            if clients.fill_after is None:  # Otherwise the next page is read at once.
                await source.wait_for_change(timeout_s)

        super().__init__("catalogue", read, wait_for_change)

    async def look_up(self, key_id: str) -> None:
        """Bring memory up to date, including this key, if it exists. May raise StoreFault."""
        self._keys.add(key_id)
        await self.catch_up()

    async def look_up_account(self, account_id: int) -> None:
        self._accounts.add(account_id)
        await self.catch_up()
