"""Keeps the catalogue as the store has it."""

import time
from collections.abc import Callable

from bullion.follower import Follower

from .catalogue import Catalogue
from .source import Source, Wanted


class Keeper(Follower):
    """One question at a time, so that no answer is put into memory behind a newer one.

    Each asks for what changed, and besides for those who call and are not in memory, and for the next page of
    accounts while memory is still being filled.
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
            if clients.fill_after is None:  # Else there is more to read at once.
                await source.changed(within_s)

        super().__init__("catalogue", ask, changed)

    async def look_up(self, key_id: str) -> None:
        """Bring memory to what the store holds now, with this key, if there is one. May raise StoreFault."""
        self._keys.add(key_id)
        await self.catch_up()

    async def look_up_account(self, account_id: int) -> None:
        self._accounts.add(account_id)
        await self.catch_up()
