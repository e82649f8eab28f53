"""Keeps the catalogue up to date with the store."""

import time
from collections.abc import Callable

from bullion.follower import Follower

from .catalogue import Catalogue
from .source import Source, Wanted


class Keeper(Follower):
    """One read at a time, so that an old answer never replaces a newer one.

    Each read asks for what changed, for callers that are not in memory, and for the next page of accounts
    while memory is being filled.
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

        async def ask() -> None:
            asked_at_ns = monotonic_ns()
            wanted = Wanted(self._keys, self._accounts, clients.fill_after)
            self._keys, self._accounts = set(), set()
            catalogue.apply(await source.changes(catalogue.version, wanted), asked_at_ns, wanted)

        async def changed(within_s: float) -> None:
            if clients.fill_after is None:  # Otherwise the next page is read at once.
                await source.changed(within_s)

        super().__init__("catalogue", ask, changed)

    async def look_up(self, key_id: str) -> None:
        """Bring memory up to date, including this key, if it exists. May raise StoreFault."""
        self._keys.add(key_id)
        await self.catch_up()

    async def look_up_account(self, account_id: int) -> None:
        self._accounts.add(account_id)
        await self.catch_up()
